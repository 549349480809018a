/* Two streams of runs become pieces of time in which both labels are known, handed on once and in order. */

#include "node.h"

#include <string.h>

join_t join;

static void emit(uint8_t truth, said_t prediction, uint8_t ended) {
    piece_t piece = {join.ticks, join.records, truth, (uint8_t)prediction, ended};
    if (truth != UNKNOWN)
        join.assessed += join.ticks;
    else if (join.lost_piece)
        join.unassessed += join.ticks;
    else
        join.unknown += join.ticks;
    join.ticks = 0;
    join.records = 0;
#if WITH_SLICES
    slices_feed(&piece);
#endif
#if WITH_PREQUENTIAL
    prequential_feed(&piece);
#endif
#if WITH_ALIGN
    align_feed(&piece);
#endif
#if WITH_MORE
    more_feed(truth, prediction, piece.ticks, piece.records);
#endif
}

static void emit_open(void) {
    if (join.ticks || join.records)
        emit(join.truth, join.prediction, 0);
}

static void start(void) {
    join.on = true;
    for (int side = 0; side < 2; side++) {
        side_t *s = &sides[side];
        if (s->state == UNHEARD) {
            s->state = CLOSED;
            s->first = s->end = join.pos;
            s->last = join.pos - 1;
        }
        s->lead = s->first != join.pos;
    }
}

static void go_on(int32_t ticks) {
    join.pos += ticks;
    join.ticks += ticks;
    join.phase -= ticks;
    if (join.phase < 0) {
        int32_t slices = (config.slice - 1 - join.phase) / config.slice;
        join.records += slices;
        join.phase += slices * config.slice;
    }
}

/* Walks over what was lost, as unknown time. */
static void skip_lost(void) {
    int32_t n = since(join.lost, join.pos);
    join.losing = false;
    if (n <= 0)
        return;
    if (!join.lost_piece) {
        emit_open();
        join.lost_piece = true;
        join.truth = UNKNOWN;
        join.prediction = 0;
    }
    go_on(n);
}

void join_step(void) {
    if (!join.on) {
        if ((sides[TRUTH].state == UNHEARD || sides[PREDICTION].state == UNHEARD) && !join.losing)
            return;
        start();
    }
    for (;;) {
        if (join.losing) {
            skip_lost();
            continue;
        }
        open_said_t label[2];
        int32_t n = INT32_MAX;
        bool used_up = false;
        uint8_t ended = 0;
        for (int side = 0; side < 2; side++) {
            /* The side's label from join.pos on, and how far it holds. */
            side_t *s = &sides[side];
            bool closed = true, goes_on = false;
            uint32_t until;
            if (s->lead) {
                label[side] = side == TRUTH && config.gaps_unknown ? UNKNOWN : 0;
                until = s->first;
            } else if (s->tail != s->head) {
                run_t *run = &s->ring[s->head % RUNS];
                label[side] = run->label & ~GOES_ON;
                goes_on = run->label & GOES_ON;
                until = run->end;
            } else {
                closed = false;
                label[side] = s->label;
                until = s->state == OPEN ? s->end : join.pos;
            }
            int32_t left = since(until, join.pos);
            if (left <= 0) {
                if (closed) {
                    used_up = true;
                    if (left == 0 && !goes_on)
                        ended |= 1 << side;
                    if (s->lead)
                        s->lead = false;
                    else
                        s->head++;
                }
                left = 0;
            }
            if (left < n)
                n = left;
        }
        if (used_up) {
            if (ended) {
                uint8_t truth = join.truth;
                said_t prediction = join.prediction;
                if (join.truth != UNKNOWN) {
                    if (ended & 1)
                        truth = label[TRUTH];
                    if (ended & 2)
                        prediction = label[PREDICTION];
                }
                emit(truth, prediction, ended);
            }
            continue;
        }
        if (n == 0)
            break;
        if (join.truth != label[TRUTH] || join.prediction != label[PREDICTION] || join.lost_piece) {
            emit_open();
            join.lost_piece = false;
            join.truth = label[TRUTH];
            join.prediction = label[PREDICTION];
        }
        go_on(n);
    }
    if (join.flush) {
        join.flush = false;
        emit_open();
    } else if (join.records >= config.group) {
        /* Records are handed on; the piece itself goes on. */
        int32_t ticks = join.ticks;
        join.ticks = 0;
        emit(join.truth, join.prediction, 0);
        join.ticks = ticks;
    }
}

/* The next sample starts a recording of its own; counters stay. */
void join_restart(void) {
    memset(sides, 0, sizeof sides);
    join.on = join.lost_piece = join.flush = join.losing = false;
    join.pos = join.phase = join.ticks = join.records = 0;
    join.truth = -1;
    join.prediction = 0;
}

void node_batch(int side, uint32_t t, const uint8_t *labels, int count) {
    while (count > 0) {
        int taken = scan(side, t, labels, count);
        t += taken * config.slice;
        labels += taken;
        count -= taken;
        join_step();
    }
}

void node_sample(int side, uint32_t t, said_t label) {
    cover(side, t, 1, label);
    join_step();
}

void node_finish(void) {
    if (sides[TRUTH].state == UNHEARD && sides[PREDICTION].state == UNHEARD)
        return;
    /* The side that is behind first: then the other's last runs find the ring empty. */
    int side = runs_behind();
    uint32_t to = sides[!side].end;
    runs_end(side, to);
    join_step();
    runs_end(!side, to);
    join.flush = true;
    join_step();
#if WITH_ALIGN
    align_finish();
#endif
#if WITH_SLICES
    slices_finish();
#endif
    join_restart();
}
