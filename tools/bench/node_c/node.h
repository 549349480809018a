/* The node's work (firmware/gauge) as a C programmer would write it for a microcontroller. It exists to be
 * compared with: the same algorithms, the same whole numbers, and nothing that the node does not do.
 * Left out is what label arrays cannot ask for: segments of one side that overlap each other. */

#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <stdint.h>

#ifndef RUNS
#define RUNS 64 /* closed runs a side that wait for the other side */
#endif
#ifndef PENDING
#define PENDING 64 /* segments a side that the alignment has not decided, a power of two */
#endif
#ifndef WINDOW
#define WINDOW 1000
#endif
#ifndef WITH_ALIGN
#define WITH_ALIGN 1
#endif
#ifndef WITH_SLICES
#define WITH_SLICES 1
#endif
#ifndef WITH_PREQUENTIAL
#define WITH_PREQUENTIAL 1
#endif
#ifndef WITH_MORE
#define WITH_MORE 0 /* estimators of ../more_c */
#endif
#ifndef WITH_BESIDE
#define WITH_BESIDE 0 /* a confidence and a second recogniser's label go with a predicted label */
#endif

enum { TRUTH, PREDICTION };
enum { LABELS = 32, UNKNOWN = 255 };
enum { LONGEST = 0x10000000 }; /* ticks of a run */

#if WITH_BESIDE
typedef uint32_t said_t;     /* label, confidence << 8, second label << 16 */
typedef int32_t open_said_t; /* -1: none */
enum { GOES_ON = 1 << 24 };  /* the segment does not end with the run */
#else
typedef uint8_t said_t;
typedef int16_t open_said_t;
enum { GOES_ON = 0 };
#endif

typedef struct {
    int32_t slice; /* ticks */
    int32_t decay; /* (1 - alpha) * 2^30 */
    int32_t group; /* records that are handed on together */
    uint8_t labels;
    bool closed; /* ends are inclusive: lengths are one less */
    bool gaps_unknown;
} config_t;

/* A stretch of time in which truth and prediction do not change. */
typedef struct {
    int32_t ticks;
    int32_t records; /* slices that begin in it */
    uint8_t truth, prediction;
    uint8_t ended; /* bit 0: the truth segment ends here, bit 1: the predicted one */
} piece_t;

typedef struct {
    said_t label;
    uint32_t end;
} run_t;

typedef struct {
    enum { UNHEARD, CLOSED, OPEN } state;
    bool lead;     /* the gap before the side's first time is still to be joined */
    said_t label;  /* of the open run */
    uint32_t start, end;
    uint32_t last;  /* time of the last sample */
    uint32_t first; /* where the side begins */
    uint32_t head, tail;
    run_t ring[RUNS];
} side_t;

typedef struct {
    bool on;      /* both sides were heard of */
    uint32_t pos; /* everything before is joined */
    int32_t phase; /* ticks from there to the start of the next slice */
    open_said_t truth, prediction; /* of the open piece */
    bool lost_piece;
    int32_t ticks, records;
    bool flush;
    bool losing; /* a ring overflowed: up to `lost` nothing can be assessed */
    uint32_t lost;
    int64_t assessed, unknown, unassessed;
} join_t;

typedef struct {
    int32_t order, label, split;
} rejected_t;

extern config_t config;
extern side_t sides[2];
extern join_t join;
extern rejected_t rejected;

/* Times are ticks modulo 2^32; this is the signed distance between two of them. */
static inline int32_t since(uint32_t later, uint32_t earlier) {
    return (int32_t)(later - earlier);
}

void node_batch(int side, uint32_t t, const uint8_t *labels, int count);
void node_sample(int side, uint32_t t, said_t label);
void node_finish(void);
void node_print(void);

int runs_behind(void);
void runs_end(int side, uint32_t to);
void runs_begin(int side, uint32_t t);
void cover(int side, uint32_t t, int slices, said_t label);
int scan(int side, uint32_t t, const uint8_t *labels, int count);

void join_step(void);
void join_restart(void);

void slices_feed(const piece_t *piece);
void slices_finish(void);
void slices_print(void);

void prequential_begin(void);
void prequential_feed(const piece_t *piece);
void prequential_print(void);
int64_t prequential_count(void);

void align_feed(const piece_t *piece);
void align_finish(void);
void align_print(void);

void more_feed(int truth, uint32_t said, int ticks, int records);

#endif
