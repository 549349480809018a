/* Losses of the program's own: mean, window and fading sum. */

#include "more.h"

#include <inttypes.h>
#include <stdio.h>

static int32_t decay, bits, largest; /* of the fading sum: 1 - alpha, fraction bits */
static int64_t count, sum, inside;
static int32_t faded, carry;
static uint16_t ring[WINDOW];
static int32_t length, at, rejected;

void loss_begin(int given_decay, int given_largest) {
    decay = given_decay;
    largest = given_largest;
    while (decay / largest > 2 << bits)
        bits++;
}

void loss_record(int32_t x) {
    if (x < 0 || x > largest) {
        rejected++;
        return;
    }
    count++;
    sum += x;
    int64_t lost = ((int64_t)faded * decay >> 15) + carry;
    faded += (x << bits) - (int32_t)(lost >> 15);
    carry = lost & 0x7FFF;
    if (length == WINDOW)
        inside -= ring[at];
    else
        length++;
    ring[at] = x;
    inside += x;
    if (++at == WINDOW)
        at = 0;
}

void loss_print(void) {
    printf("loss %" PRId64 " %" PRId64 " %d %d %" PRId64 " %d %d\n", count, sum, (int)rejected, (int)length, inside,
           (int)faded, (int)bits);
}
