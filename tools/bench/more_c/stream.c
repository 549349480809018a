/* The stream estimators, fed by the join of node_c with each of its pieces. Their text is the one that
 * stream_bench.py measures; its own main is not called. */

#undef WINDOW /* the kernels' own has the same size */
#define main stream_kernels_main
#include "../stream_kernels.c"
#undef main

#include "more.h"

void more_feed(int truth, uint32_t said, int ticks, int records);

void more_begin(int decay, char **logs) { begin(decay, logs); }

void more_feed(int truth, uint32_t said, int ticks, int records) {
    if (!records)
        return;
    const entry_t e = {.g = truth, .p = (int32_t)said, .ticks = ticks, .records = records};
#if WITH_PAGE_HINKLEY
    page_hinkley(&e, 1);
#endif
#if WITH_DDM
    feed_ddm(&e, 1);
#endif
#if WITH_ADWIN
    adwin(&e, 1);
#endif
#if WITH_COMPARE
    compare(&e, 1);
#endif
#if WITH_FORGETTING
    forgetting(&e, 1);
#endif
#if WITH_RELIABILITY
    reliability(&e, 1);
#endif
    (void)e;
}

void more_print(int labels) {
#if WITH_PAGE_HINKLEY
    printf("page_hinkley ");
    say_page_hinkley();
#endif
#if WITH_DDM
    printf("ddm ");
    say_ddm();
#endif
#if WITH_ADWIN
    printf("adwin ");
    say_adwin();
#endif
#if WITH_COMPARE
    printf("compare ");
    say_compare();
#endif
#if WITH_FORGETTING
    printf("forgetting ");
    say_forgetting(labels);
#endif
#if WITH_RELIABILITY
    printf("reliability ");
    say_reliability();
#endif
    (void)labels;
}
