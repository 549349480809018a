/* The hierarchy as a node drives it: boundaries as they come, scored as far as they are told. The text of the
 * scoring is the one that hierarchy_node_bench.py measures; its own main is not called. */

#define main hierarchy_kernel_main
#include "../hierarchy.c"
#undef main

#include "more.h"

static int ticks, scored;

void hierarchy_begin(int truth_and_predicted_levels, int window_frames, int frame_ticks) {
    levels = truth_and_predicted_levels;
    window = window_frames;
    ticks = frame_ticks;
}

/* A segment ends at tick `t`; one shorter than a frame is none. */
void hierarchy_ends(int predicted, int level, uint32_t t) {
    level_t *l = predicted ? &prediction[level] : &truth[level];
    int frame = (int)(t / ticks);
    if (l->count == CAP || (l->count && l->ring[l->count - 1] >= frame))
        return;
    l->ring[l->count++] = frame;
}

void hierarchy_until(uint32_t t) {
    int end = (int)(t / ticks) - window + 1;
    if (end > scored) {
        score(scored, end);
        scored = end;
    }
}

void hierarchy_print(void) {
    printf("hierarchy %d", scored);
    for (int i = 0; i < 4; i++)
        printf(" %llu %llu %llu %llu", (unsigned long long)sums[i].queries, (unsigned long long)sums[i].concordant,
               (unsigned long long)sums[i].pairs, (unsigned long long)sums[i].share);
    printf("\n");
}
