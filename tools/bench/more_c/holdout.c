/* Holdout: a labelled set, scored now and then, and the scores beside the count of records at the time. */

#include "more.h"
#include "node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 100, KEPT = 16 };

static uint8_t set[SIZE]; /* the true labels: NULL, all of them */
static struct {
    int64_t records;
    int32_t right;
} history[KEPT];
static uint32_t scored;

void holdout_score(const uint8_t *labels, int size) {
    if (size != SIZE)
        return;
    /* The records that wait to be handed on in a group count too. */
    join.flush = true;
    join_step();
    int right = 0;
    for (int i = 0; i < SIZE; i++)
        right += labels[i] == set[i];
    history[scored % KEPT].records = prequential_count();
    history[scored % KEPT].right = right;
    scored++;
}

void holdout_print(void) {
    printf("holdout %u", (unsigned)scored);
    for (uint32_t i = scored > KEPT ? scored - KEPT : 0; i < scored; i++)
        printf(" %" PRId64 " %d", history[i % KEPT].records, (int)history[i % KEPT].right);
    printf("\n");
}
