/* Alignment of labelled segments (SLTSS), banded and streaming: the distance's complement is maximised, row i
 * of the matrix holds the predictions that overlap truth segment i, and a path prefix is committed as soon as
 * the back-traces from both ends of the newest row meet. Values have 26 fraction bits and wrap; neighbours
 * differ by at most 4. */

#include "node.h"

#include <inttypes.h>
#include <stdio.h>

enum { ONE = 1 << 26, TIE = 8 };
enum { BATCH = 16 }; /* rows that are computed at once */
enum { MATCH = 1, UP, LEFT };
enum { LATENCY, ONSET, OFFSET, OVERLAP, DURATION, IOU, STATISTICS };

typedef struct {
    uint32_t start, end;
    uint32_t value;       /* of a prediction: the newest row's value in its column */
    int32_t low;          /* of a truth segment: the first prediction of its band */
    uint16_t width, cell; /* and the band's cells */
    uint8_t label;
    bool matched;
    bool end_ties; /* the row's right end ties with the row above */
} segment_t;

/* Segments are counted from the start; those from `head` on are in the ring. */
typedef struct {
    segment_t ring[PENDING];
    int32_t head, judged, done, tail;
    uint32_t next; /* start of the open segment */
    int32_t unmatched;
} sequence_t;

typedef struct {
    int32_t count, min, max;
    int64_t sum;
    uint64_t squares; /* and how often they went over 64 bits */
    int32_t squares_over;
} statistic_t;

static sequence_t truth, prediction;
static sequence_t *const sequences[2] = {&truth, &prediction};
static uint8_t cells[2 * PENDING];
static uint32_t now;
static uint8_t open_label[2];
static bool in_unknown;
static uint32_t left_value, end_value; /* of the newest row: left of its band, and at its right end */
static int32_t low, high;              /* its band */
static uint32_t next_cell;
static int32_t used_cells;
static int32_t rows; /* truth segments whose row is computed */
static int32_t commit_row, commit_column;

static int32_t forced, same, early, late;
static int64_t iou_sum;
static int32_t confusion[LABELS][LABELS];
static int32_t repetitions[2][LABELS]; /* merges, splits */
static statistic_t statistics[STATISTICS];

static segment_t *segment(sequence_t *sequence, int32_t i) {
    return &sequence->ring[(uint32_t)i % PENDING];
}

static void overlap_and_union(const segment_t *t, const segment_t *p, int32_t *overlap, int32_t *all) {
    int32_t onset = since(p->start, t->start), offset = since(p->end, t->end);
    *overlap = *all = since(t->end, t->start) - config.closed;
    if (onset > 0)
        *overlap -= onset;
    else
        *all -= onset;
    if (offset > 0)
        *all += offset;
    else
        *overlap += offset;
}

/* overlap/all rounded to 26 bits; 1 for two segments of no length. */
static uint32_t ratio(uint32_t overlap, uint32_t all) {
    if (all <= overlap)
        return ONE;
    return (((uint64_t)overlap << 27) / all + 1) >> 1;
}

static uint32_t gain(const segment_t *t, const segment_t *p) {
    if (t->label == p->label) {
        int32_t overlap, all;
        overlap_and_union(t, p, &overlap, &all);
        return 3 * ONE + ratio(overlap, all);
    }
    return t->label && p->label ? 2 * ONE : 0;
}

/* Computes the row of the oldest truth segment that has none. */
static void compute_row(void) {
    segment_t *t = segment(&truth, rows);
    int32_t j = low > prediction.head ? low : prediction.head;
    uint32_t diagonal = left_value;
    while (j < prediction.tail && since(t->start, segment(&prediction, j)->end) >= 0)
        j++;
    if (j > low)
        diagonal = j <= high ? segment(&prediction, j - 1)->value : end_value;
    left_value = diagonal;
    t->low = low = j;
    t->cell = next_cell;
    uint32_t current = diagonal;
    bool straight = true; /* the way is up from every column */
    for (; j < prediction.tail; j++) {
        segment_t *p = segment(&prediction, j);
        if (since(p->start, t->end) >= 0)
            break;
        uint32_t up = j < high ? p->value : end_value;
        uint32_t best = current;
        uint8_t way = LEFT;
        if (since(up, best) >= -TIE) {
            way = UP;
            if (since(up, best) >= 0)
                best = up;
        }
        uint32_t matched = gain(t, p);
        if (matched) {
            matched += diagonal;
            if (since(matched, best) >= -TIE) {
                way = MATCH;
                if (since(matched, best) >= 0)
                    best = matched;
            }
        }
        cells[(next_cell + j - low) % (2 * PENDING)] = way;
        if (way != UP)
            straight = false;
        diagonal = up;
        current = p->value = best;
    }
    t->end_ties = since(end_value, current) >= -TIE;
    t->width = straight && t->end_ties ? 0 : j - low; /* a straight row needs no cells */
    next_cell = (next_cell + t->width) % (2 * PENDING);
    used_cells += t->width;
    end_value = current;
    high = j;
    rows++;
}

/* The way of row `t` at column `c`, which counts the predictions to its left. */
static uint8_t way_at(const segment_t *t, int32_t c) {
    if (c <= t->low + t->width)
        return cells[(uint32_t)(t->cell + c - 1 - t->low) % (2 * PENDING)];
    return t->end_ties ? UP : LEFT;
}

/* Follows the path at column `c` of row `t` to where it leaves the row, or to column `stop`. */
static int32_t follow(const segment_t *t, int32_t c, int32_t stop, bool *matched) {
    *matched = false;
    while (c > stop && c > t->low) {
        uint8_t way = way_at(t, c);
        if (way == UP)
            break;
        c--;
        if (way == MATCH) {
            *matched = true;
            break;
        }
        if (c > t->low + t->width) {
            c = t->low + t->width;
            if (c < stop)
                c = stop;
        }
    }
    return c;
}

/* Sets the cell where the back-traces from the two ends of the newest row meet; `whole`: where the path from
 * the right end enters the oldest pending row. */
static void meet(bool whole) {
    int32_t r = rows, corner = prediction.done;
    int32_t left = whole || low < corner ? corner : low;
    int32_t right = prediction.tail + 1; /* beyond all bands, as the columns to come are */
    if (r == truth.done)
        right = left;
    while (r > truth.done && right > left) {
        if (whole && r == truth.done + 1)
            break;
        const segment_t *t = segment(&truth, r - 1);
        bool matched;
        right = follow(t, right, left, &matched);
        if (!matched && right <= left) {
            commit_row = r;
            commit_column = left;
            return;
        }
        left = follow(t, left, corner, &matched);
        r--;
    }
    if (!whole) {
        right = left;
        /* Rows that every path crosses straight up are decided, wherever it crosses them. */
        if (r == truth.done)
            while (r < rows && segment(&truth, r)->end_ties && !segment(&truth, r)->width)
                r++;
    } else if (right > prediction.tail) {
        right--;
    }
    commit_row = r;
    commit_column = right;
}

static void add(statistic_t *s, int32_t x) {
    if (s->count == 0 || x < s->min)
        s->min = x;
    if (s->count == 0 || x > s->max)
        s->max = x;
    s->count++;
    s->sum += x;
    uint64_t square = (int64_t)x * x;
    s->squares += square;
    if (s->squares < square)
        s->squares_over++;
}

static void match(segment_t *t, segment_t *p) {
    t->matched = p->matched = true;
    confusion[t->label][p->label]++;
    if (t->label != p->label)
        return;
    int32_t overlap, all;
    overlap_and_union(t, p, &overlap, &all);
    uint32_t iou = ratio(overlap, all);
    iou_sum += iou;
    same++;
    if (t->label == 0)
        return;
    int32_t onset = since(p->start, t->start), offset = since(p->end, t->end);
    int32_t latency = onset + offset;
    if (latency < 0)
        early++;
    else if (latency > 0)
        late++;
    add(&statistics[LATENCY], latency);
    add(&statistics[ONSET], onset);
    add(&statistics[OFFSET], offset);
    add(&statistics[OVERLAP], overlap);
    add(&statistics[DURATION], since(p->end, p->start) - config.closed);
    add(&statistics[IOU], iou);
}

/* Books the path that ends in the cell (commit_row, commit_column). */
static void commit(void) {
    int32_t r = commit_row, c = commit_column;
    while (r > truth.done || c > prediction.done) {
        uint8_t way = LEFT;
        segment_t *t = segment(&truth, r - 1), *p = segment(&prediction, c - 1);
        if (r > truth.done) {
            way = c <= t->low || c <= prediction.done ? UP : way_at(t, c);
            if (way != LEFT) {
                used_cells -= t->width;
                r--;
            }
        }
        if (way != UP)
            c--;
        if (way == MATCH) {
            match(t, p);
        } else if (way == UP) {
            truth.unmatched++;
            if (t->label)
                confusion[t->label][0]++;
        } else {
            prediction.unmatched++;
            if (p->label)
                confusion[0][p->label]++;
        }
    }
    truth.done = commit_row;
    prediction.done = commit_column;
}

/* Start of the first segment from the i-th on. */
static uint32_t border(sequence_t *sequence, int32_t i) {
    return i < sequence->tail ? segment(sequence, i)->start : sequence->next;
}

/* An unmatched segment repeats one of the other side that it overlaps, of its label, and matched already. */
static bool repeats(const segment_t *s, sequence_t *other) {
    for (int32_t k = other->head; k < other->done; k++) {
        const segment_t *o = segment(other, k);
        if (o->label == s->label && o->matched && since(s->end, o->start) > 0 && since(o->end, s->start) > 0)
            return true;
    }
    return false;
}

/* Looks for repetitions among committed segments once all that overlap them are committed. */
static void judge(int side, bool last) {
    sequence_t *sequence = sequences[side], *other = sequences[!side];
    uint32_t edge = border(other, other->done);
    while (sequence->judged < sequence->done) {
        const segment_t *s = segment(sequence, sequence->judged);
        if (!last && since(edge, s->end) < 0)
            break;
        sequence->judged++;
        if (s->label && !s->matched && repeats(s, other))
            repetitions[side][s->label]++;
    }
}

/* Lets go of segments that no judgement needs any more. */
static void release(int side, bool last) {
    sequence_t *sequence = sequences[side], *other = sequences[!side];
    uint32_t edge = border(other, other->judged);
    while (sequence->head < sequence->judged) {
        if (!last && since(edge, segment(sequence, sequence->head)->end) < 0)
            break;
        sequence->head++;
    }
}

static void tidy(bool last) {
    judge(TRUTH, last);
    judge(PREDICTION, last);
    release(TRUTH, last);
    release(PREDICTION, last);
}

static void decide(void) {
    meet(false);
    commit();
}

static bool cells_are_short(void) {
    return used_cells + prediction.tail - low > 2 * PENDING;
}

/* Makes room for the cells of one more row: what is decided gives its cells back, and if that does not suffice,
 * more is decided than is known for sure. */
static void make_room(void) {
    if (cells_are_short())
        decide();
    while (rows > truth.done && cells_are_short()) {
        meet(true);
        commit();
        forced++;
    }
}

/* Makes room for one more segment. */
static void force(sequence_t *sequence) {
    while (sequence->done == sequence->head) {
        if (rows == truth.done && truth.tail > rows) {
            make_room();
            compute_row();
        }
        if (rows > truth.done) {
            meet(true);
        } else {
            commit_row = truth.done;
            commit_column = prediction.done + 1;
        }
        commit();
    }
    sequence->head++;
    if (sequence->judged < sequence->head)
        sequence->judged = sequence->head;
    forced++;
}

/* Computes the rows that nothing to come can change, commits what is decided. */
static void advance(void) {
    int32_t before = rows;
    while (rows < truth.tail && since(prediction.next, segment(&truth, rows)->end) >= 0) {
        make_room();
        compute_row();
    }
    if (rows > before)
        decide();
    tidy(false);
}

/* The open segment of a side ends now. */
static void end_segment(int side) {
    sequence_t *sequence = sequences[side];
    if (sequence->next == now)
        return;
    if (sequence->tail - sequence->head == PENDING)
        advance();
    if (sequence->tail - sequence->head == PENDING)
        force(sequence);
    segment_t *s = segment(sequence, sequence->tail++);
    s->start = sequence->next;
    s->end = now;
    s->label = open_label[side];
    s->matched = false;
    sequence->next = now;
}

/* A hard edge: what is open ends here, everything is decided, nothing reaches across. */
static void cut(void) {
    end_segment(TRUTH);
    end_segment(PREDICTION);
    while (rows < truth.tail) {
        make_room();
        compute_row();
    }
    commit_row = truth.tail;
    commit_column = prediction.tail;
    commit();
    tidy(true);
    left_value = end_value = 0;
    low = high = prediction.tail;
    used_cells = 0;
}

void align_feed(const piece_t *piece) {
    if (piece->truth == UNKNOWN) {
        if (piece->ticks) {
            align_finish();
            in_unknown = true;
            now += piece->ticks;
            truth.next = prediction.next = now;
        }
    } else if (piece->ticks || piece->ended) {
        in_unknown = false;
        now += piece->ticks;
        open_label[TRUTH] = piece->truth;
        open_label[PREDICTION] = piece->prediction;
        if (piece->ended & 1)
            end_segment(TRUTH);
        if (piece->ended & 2)
            end_segment(PREDICTION);
        if (truth.tail - rows >= BATCH)
            advance();
    }
}

void align_finish(void) {
    if (!in_unknown)
        cut();
}

static void print_labels(const char *name, const int32_t *row) {
    printf(",\"%s\":[", name);
    for (int l = 0; l < config.labels; l++)
        printf("%s%d", l ? "," : "", (int)row[l]);
    printf("]");
}

void align_print(void) {
    static const char *const names[STATISTICS] = {"latency", "onset", "offset", "overlap", "duration", "iou"};
    printf("\"forced\":%d,\"truth\":%d,\"prediction\":%d", (int)forced, (int)truth.done, (int)prediction.done);
    printf(",\"unmatched_truth\":%d", (int)truth.unmatched);
    printf(",\"unmatched_prediction\":%d", (int)prediction.unmatched);
    printf(",\"same\":%d,\"early\":%d,\"late\":%d", (int)same, (int)early, (int)late);
    printf(",\"iou_q26\":%" PRId64, iou_sum);
    print_labels("split", repetitions[PREDICTION]);
    print_labels("merge", repetitions[TRUTH]);
    printf(",\"confusion\":[");
    for (int g = 0; g < config.labels; g++) {
        printf("%s[", g ? "," : "");
        for (int p = 0; p < config.labels; p++)
            printf("%s%d", p ? "," : "", (int)confusion[g][p]);
        printf("]");
    }
    /* Of the squares the two words, high and low. */
    printf("],\"stats\":{");
    for (int i = 0; i < STATISTICS; i++) {
        const statistic_t *s = &statistics[i];
        printf("%s\"%s\":[%d,%" PRId64, i ? "," : "", names[i], (int)s->count, s->sum);
        printf(",[%d,%" PRIu64 "],%d,%d]", (int)s->squares_over, s->squares, (int)s->min, (int)s->max);
    }
    printf("}");
}
