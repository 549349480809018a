/* Plays every entry of a node: a file of little-endian 32-bit words. First slice, decay, group, labels, levels,
 * window of the hierarchy, largest loss; then for every call which one, its time, a count and so many bytes, filled
 * up to a word. The calls, and those alone, lie between the second mark and the third; between the first two lies the
 * loop that reads them, without the calls. Prints what the node's raw() says. */

#include "more.h"
#include "node.h"

#include <stdio.h>
#include <unistd.h>

enum { TRUTH_BATCH = 2, PREDICT_BATCH, TRUTH_LEVEL, PREDICT_LEVEL, LEVELS_UNTIL, LOSS_OF_A_SLICE, HOLDOUT };
enum { MOST = 1 << 20 };

config_t config;
static uint32_t words[MOST];

/* What the caller does anyway: the call's arguments are at hand. Each is an instruction of its own kind, so that the
 * compiler keeps the choice between them. */
#define CALL(number, ...)                                                                                          \
    do {                                                                                                           \
        if (idle)                                                                                                  \
            __asm__ volatile("@ call " #number ::"r"(t), "r"(count), "r"(call[3]));                                \
        else                                                                                                       \
            __VA_ARGS__;                                                                                           \
    } while (0)

static inline __attribute__((always_inline)) void play(const uint32_t *call, const uint32_t *end, const bool idle) {
    for (; call < end; call += 3 + (call[2] + 3) / 4) {
        uint32_t t = call[1];
        int count = (int)call[2];
        switch (call[0]) {
        case TRUTH:
            CALL(0, node_sample(TRUTH, t, call[3]));
            break;
        case PREDICTION:
            CALL(1, node_sample(PREDICTION, t, call[3]));
            break;
        case TRUTH_BATCH:
            CALL(2, node_batch(TRUTH, t, (const uint8_t *)(call + 3), count));
            break;
        case PREDICT_BATCH:
            CALL(3, node_batch(PREDICTION, t, (const uint8_t *)(call + 3), count));
            break;
#if WITH_HIERARCHY
        case PREDICT_LEVEL:
            CALL(4, hierarchy_ends(1, call[3], t));
            break;
        case TRUTH_LEVEL:
            CALL(5, hierarchy_ends(0, call[3], t));
            break;
        case LEVELS_UNTIL:
            CALL(6, hierarchy_until(t));
            break;
#endif
#if WITH_LOSS
        case LOSS_OF_A_SLICE:
            CALL(7, loss_record(call[3]));
            break;
#endif
#if WITH_HOLDOUT
        case HOLDOUT:
            CALL(8, holdout_score((const uint8_t *)(call + 3), count));
            break;
#endif
        }
    }
}

int main(int arguments, char **argument) {
    FILE *file = arguments == 2 + 16 ? fopen(argument[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "say which recording, and ADWIN's 16 logarithms\n");
        return 2;
    }
    size_t size = fread(words, 4, MOST, file);
    fclose(file);
    if (size < 7 || size == MOST) {
        fprintf(stderr, "no recording, or one too large\n");
        return 2;
    }
    config.slice = words[0];
    config.decay = words[1];
    config.group = words[2];
    config.labels = words[3];
    join_restart();
    prequential_begin();
    more_begin(config.decay, argument + 2);
    hierarchy_begin(words[4], words[5], config.slice);
    loss_begin(config.decay, words[6]);

    const uint32_t *call = words + 7, *end = words + size;
    unlink("@");
    play(call, end, true);
    unlink("@");
    play(call, end, false);
    unlink("@");

    node_finish();
    node_print();
    more_print(config.labels);
#if WITH_HIERARCHY
    hierarchy_print();
#endif
#if WITH_LOSS
    loss_print();
#endif
#if WITH_HOLDOUT
    holdout_print();
#endif
    return 0;
}
