/* Prequential error of a 0-1 loss: mean, sliding window of bits, fading sum. The fading sum goes by blocks of
 * records: within a block the losses add up with their weights at its end, taken from a table of their sums;
 * at its end the sum fades by alpha^16, and the residual is carried on. */

#include "node.h"

#include <inttypes.h>
#include <stdio.h>

enum { WORDS = (WINDOW + 31) / 32 };
enum { BLOCK = 16, FINE = 26 }; /* records, and fraction bits of their sum */

static int64_t count, sum, unlabelled;
static uint32_t bits[WORDS];
static uint32_t at;
static int32_t inside, length;

static int32_t fading_bits;
static int32_t faded, carry; /* at the end of the last whole block */
static int32_t block_decay;  /* 1 - alpha^16 */
static int32_t weights[BLOCK + 1]; /* of the block's first j records, added up */
static int32_t block_sum;
static int32_t place; /* records of the block so far */
static uint32_t block_losses; /* a bit each */

void prequential_begin(void) {
    while (fading_bits < FINE && config.decay > 2 << fading_bits)
        fading_bits++;
    uint64_t powers[BLOCK + 1] = {1ull << 60}, total = 0;
    uint32_t alpha = (1u << 30) - config.decay;
    for (int j = 0; j < BLOCK; j++)
        powers[j + 1] = (powers[j] >> 30) * alpha + ((powers[j] & 0x3FFFFFFF) * alpha >> 30);
    block_decay = ((1ull << 60) - powers[BLOCK] + (1 << 29)) >> 30;
    for (int j = 1; j <= BLOCK; j++) {
        total += powers[BLOCK - j];
        weights[j] = (total + (1ull << (59 - FINE))) >> (60 - FINE);
    }
}

/* One step of the fading sum: `gain` has FINE fraction bits, of which those beyond its own go into the carry. */
static void fade(int32_t *s, int32_t *rest, int32_t decay, int32_t gain) {
    int below = FINE - fading_bits;
    int64_t lost = ((int64_t)*s * decay >> 15) + *rest - ((gain & ((1 << below) - 1)) << 15 >> below);
    *s += (gain >> below) - (int32_t)(lost >> 15);
    *rest = lost & 0x7FFF;
}

static void enter_block(int32_t records, bool loss) {
    while (records) {
        int32_t to = records < BLOCK - place ? place + records : BLOCK;
        records -= to - place;
        if (loss) {
            block_sum += weights[to] - weights[place];
            block_losses |= (1u << to) - (1u << place);
        }
        place = to;
        if (place == BLOCK) {
            fade(&faded, &carry, block_decay, block_sum);
            place = block_sum = block_losses = 0;
        }
    }
}

/* The fading sum after the newest record. */
static int32_t present(void) {
    int32_t s = faded, rest = carry;
    for (int n = 0; n < place; n++)
        fade(&s, &rest, config.decay, (block_losses >> n & 1) << FINE);
    return s;
}

/* `records` records of one loss enter the window, as many bits at a time as a word gives. */
static void slide(int32_t records, bool loss) {
    length = records < WINDOW - length ? length + records : WINDOW;
    if (records > WINDOW)
        records = WINDOW;
    while (records) {
        uint32_t bit = at % 32;
        int32_t n = 32 - bit;
        if (n > records)
            n = records;
        if (n > (int32_t)(WINDOW - at))
            n = WINDOW - at;
        uint32_t mask = UINT32_MAX >> (32 - n) << bit;
        uint32_t *word = &bits[at / 32];
        inside -= __builtin_popcount(*word & mask);
        if (loss) {
            *word |= mask;
            inside += n;
        } else {
            *word &= ~mask;
        }
        records -= n;
        at += n;
        if (at == WINDOW)
            at = 0;
    }
}

void prequential_feed(const piece_t *piece) {
    if (!piece->records)
        return;
    if (piece->truth == UNKNOWN) {
        unlabelled += piece->records;
        return;
    }
    bool loss = piece->truth != piece->prediction;
    count += piece->records;
    if (loss)
        sum += piece->records;
    enter_block(piece->records, loss);
    slide(piece->records, loss);
}

int64_t prequential_count(void) {
    return count;
}

void prequential_print(void) {
    printf("\"n\":%" PRId64 ",\"sum\":%" PRId64 ",\"unlabelled\":%" PRId64, count, sum, unlabelled);
    printf(",\"window_n\":%d,\"window_sum\":%d", (int)length, (int)inside);
    printf(",\"fading_s\":%d,\"fading_bits\":%d", (int)present(), (int)fading_bits);
    printf(",\"alpha_q30\":%d", (int)config.decay);
}
