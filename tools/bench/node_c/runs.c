/* Labels of one side become runs that follow each other without a gap. */

#include "node.h"

enum { FAR = 0x1C000000 }; /* a side may be known at most that far ahead of the join */

side_t sides[2];
rejected_t rejected;

/* A full ring gives up its oldest runs: the time up to their end will be unassessed. */
static void lose(side_t *s, uint32_t end) {
    uint32_t pos = join.losing ? join.lost : join.pos;
    while (s->tail != s->head) {
        if (s->tail - s->head < RUNS && since(end, pos) <= FAR)
            break;
        pos = s->ring[s->head++ % RUNS].end;
        join.lost = pos;
        join.losing = true;
    }
}

static void push(side_t *s, said_t label, uint32_t end) {
    if (s->tail - s->head == RUNS || since(end, join.pos) > FAR)
        lose(s, end);
    run_t *run = &s->ring[s->tail++ % RUNS];
    run->label = label;
    run->end = end;
}

static void split(side_t *s) {
    while (s->end - s->start > LONGEST) {
        s->start += LONGEST;
        rejected.split++;
        push(s, s->label, s->start);
    }
}

static void close_run(side_t *s) {
    if (s->state == OPEN) {
        s->state = CLOSED;
        push(s, s->label, s->end);
    }
}

static void gap(int side, uint32_t to) {
    side_t *s = &sides[side];
    close_run(s);
    s->state = OPEN;
    s->label = side == TRUTH && config.gaps_unknown ? UNKNOWN : 0;
    s->start = s->end;
    s->end = to;
    split(s);
    close_run(s);
}

/* The first time a side is heard of. The recording starts with the earliest side. */
void runs_begin(int side, uint32_t t) {
    side_t *s = &sides[side];
    if (!join.on && (sides[!side].state == UNHEARD || since(t, join.pos) < 0))
        join.pos = t;
    s->state = CLOSED;
    s->first = s->end = t;
    s->last = t - 1;
    s->lead = !join.on;
    if (join.on && since(t, join.pos) >= 0)
        s->end = join.pos; /* the other side went on alone */
}

static bool known(int side, uint8_t label) {
    return label < config.labels || (label == UNKNOWN && side == TRUTH);
}

/* How many slices from `t` on begin no later than the last sample, or end before what is known. */
static int known_already(const side_t *s, uint32_t t) {
    int ended = since(s->end, t) / config.slice;
    int32_t ahead = since(s->last, t);
    int begun = ahead < 0 ? 0 : ahead / config.slice + 1;
    return ended > begun ? ended : begun;
}

/* `label` holds for the `slices` slices from `t`. */
void cover(int side, uint32_t t, int slices, said_t label) {
    side_t *s = &sides[side];
    uint32_t end = t + slices * config.slice;
    if (!known(side, label)) {
        rejected.label += slices;
        return;
    }
    if (s->state == UNHEARD)
        runs_begin(side, t);
    if (t != s->end) {
        int32_t ahead = since(t, s->end);
        if (ahead > 0) {
            /* A hole shorter than a slice is bridged by the label before it. */
            if (ahead < config.slice && s->state == OPEN)
                s->end = t;
            else
                gap(side, t);
        } else {
            int late = known_already(s, t);
            if (late >= slices) {
                rejected.order += slices;
                return;
            }
            rejected.order += late;
        }
    }
    if (s->state != OPEN || s->label != label) {
        bool same_segment = WITH_BESIDE && s->state == OPEN && (uint8_t)s->label == (uint8_t)label;
        if (s->state == OPEN)
            push(s, same_segment ? s->label | GOES_ON : s->label, s->end);
        s->state = OPEN;
        s->label = label;
        if (!same_segment)
            s->start = s->end;
    }
    s->end = end;
    s->last = end - config.slice;
    split(s);
}

/* One label a slice from time `t` on, until the ring has no room. Returns how many were taken. */
int scan(int side, uint32_t t, const uint8_t *labels, int count) {
    side_t *s = &sides[side];
    int longest = LONGEST / config.slice;
    int i = 0;
    while (i < count) {
        int first = i;
        int stop = count - i > longest ? i + longest : count;
        uint8_t label = labels[i++];
        while (i < stop && labels[i] == label)
            i++;
        cover(side, t, i - first, label);
        t += (i - first) * config.slice;
        if (s->tail - s->head > RUNS - 4)
            break;
    }
    return i;
}

/* The side that is known less far. */
int runs_behind(void) {
    if (sides[TRUTH].state != UNHEARD && sides[PREDICTION].state != UNHEARD)
        return since(sides[TRUTH].end, sides[PREDICTION].end) < 0 ? TRUTH : PREDICTION;
    return sides[TRUTH].state != UNHEARD ? PREDICTION : TRUTH;
}

/* The recording ends: the side is filled up to `to` and closed. */
void runs_end(int side, uint32_t to) {
    if (sides[side].state == UNHEARD)
        runs_begin(side, join.pos);
    if (since(to, sides[side].end) > 0)
        gap(side, to);
    close_run(&sides[side]);
}
