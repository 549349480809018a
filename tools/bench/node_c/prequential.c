/* Prequential error of a 0-1 loss: mean, sliding window of bits, fading sum whose residual is carried on. */

#include "node.h"

#include <inttypes.h>
#include <stdio.h>

enum { WORDS = (WINDOW + 31) / 32 };

static int64_t count, sum, unlabelled;
static int32_t fading_bits, faded, carry;
static uint32_t bits[WORDS];
static uint32_t at;
static int32_t inside, length;

void prequential_begin(void) {
    while (config.decay > 2 << fading_bits)
        fading_bits++;
}

static void fade(int32_t records, int32_t gain) {
    int32_t s = faded, c = carry;
    while (records--) {
        int64_t lost = ((int64_t)s * config.decay >> 15) + c;
        s += gain - (int32_t)(lost >> 15);
        c = lost & 0x7FFF;
    }
    faded = s;
    carry = c;
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
    fade(piece->records, loss ? 1 << fading_bits : 0);
    slide(piece->records, loss);
}

void prequential_print(void) {
    printf("\"n\":%" PRId64 ",\"sum\":%" PRId64 ",\"unlabelled\":%" PRId64, count, sum, unlabelled);
    printf(",\"window_n\":%d,\"window_sum\":%d", (int)length, (int)inside);
    printf(",\"fading_s\":%d,\"fading_bits\":%d", (int)faded, (int)fading_bits);
    printf(",\"alpha_q30\":%d", (int)config.decay);
}
