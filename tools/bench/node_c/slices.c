/* Slices (van Kasteren): every tick is correct, S, D, I, U, O, F or M. NULL ticks inside a run wait until its
 * next hit or its end tells what they are. */

#include "node.h"

#include <inttypes.h>
#include <stdio.h>

/* D U F of the truth and I O M of the prediction follow each other: before the first hit of a run that
 * ends without one, at its edge, between two hits. */
enum { CORRECT, S_GROUND, S_INFERRED, D, U, F, I, O, M, CATEGORIES };

typedef struct {
    int16_t label; /* of the open run; -1 none */
    bool hit;
    int64_t pending; /* NULL ticks of the other side since the last hit */
} open_t;

static int64_t ticks[CATEGORIES][LABELS];
static open_t open_runs[2] = {{.label = -1}, {.label = -1}};

static void settle(int side, int category) {
    open_t *run = &open_runs[side];
    if (run->pending) {
        ticks[category + 3 * side][run->label] += run->pending;
        run->pending = 0;
    }
}

static void enter(int side, int16_t label) {
    open_t *run = &open_runs[side];
    if (run->label != label) {
        settle(side, run->hit ? U : D);
        run->label = label;
        run->hit = false;
    }
}

static void hit(int side) {
    settle(side, open_runs[side].hit ? F : U);
    open_runs[side].hit = true;
}

void slices_feed(const piece_t *piece) {
    if (!piece->ticks)
        return;
    bool unknown = piece->truth == UNKNOWN; /* a hard edge */
    int16_t g = unknown ? -1 : piece->truth;
    int16_t p = unknown ? -1 : piece->prediction;
    enter(TRUTH, g);
    enter(PREDICTION, p);
    if (unknown)
        return;
    if (g == p) {
        if (g) {
            hit(TRUTH);
            hit(PREDICTION);
        }
        ticks[CORRECT][g] += piece->ticks;
    } else if (g == 0) {
        open_runs[PREDICTION].pending += piece->ticks;
    } else if (p == 0) {
        open_runs[TRUTH].pending += piece->ticks;
    } else {
        ticks[S_GROUND][g] += piece->ticks;
        ticks[S_INFERRED][p] += piece->ticks;
    }
}

void slices_finish(void) {
    enter(TRUTH, -1);
    enter(PREDICTION, -1);
}

void slices_print(void) {
    static const char names[CATEGORIES][3] = {"tp", "sg", "si", "d", "u", "f", "i", "o", "m"};
    for (int c = 0; c < CATEGORIES; c++) {
        printf("%s\"%s\":[", c ? "," : "", names[c]);
        for (int l = 0; l < config.labels; l++)
            printf("%s%" PRId64, l ? "," : "", ticks[c][l]);
        printf("]");
    }
}
