/* The stream estimators of firmware/gauge (drift, adwin, compare, forgetting, reliability) as a C programmer would
 * write them: the measure that the node's kernels are compared with. Reads a file of the join's entries, plays it to
 * each estimator between two marks, 16 entries a call, and prints what stream_bench.py compares with raw(). */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    int32_t g, p, value, ticks, records, flags, over_g, over_p;
} entry_t;

enum { UNKNOWN = 255, LABELS = 16, BINS = 16, WINDOW = 1000, ROOM = 16 };

static void mark(void) { unlink("@"); }

/* ---- Page-Hinkley, upwards, on the raw loss */

static struct {
    int n, mean, rest, up, delta, threshold, warmup, alarms, direction;
    int64_t count, record;
    unsigned elapsed, ticks;
    int value;
} ph = {.delta = 52429, .threshold = 22 << 20, .warmup = 30};

static void page_hinkley(const entry_t *e, int entries) {
    for (; entries--; e++) {
        unsigned first = ph.elapsed;
        ph.elapsed += e->ticks;
        if (e->g == UNKNOWN)
            continue;
        int loss = (e->g != (e->p & 255)) << 20;
        for (int left = e->records; left;) {
            int k = !loss && !ph.up ? left : 1;
            if (k > 512)
                k = 512;
            left -= k;
            ph.rest += (loss - ph.mean) * k;
            ph.n += k;
            if (ph.rest < 0 || ph.rest >= ph.n) {
                int q = ph.rest / ph.n;
                if (q * ph.n > ph.rest)
                    q--;
                ph.mean += q;
                ph.rest -= q * ph.n;
            }
            if (k > 1)
                continue;
            ph.up += loss - ph.mean - ph.delta;
            if (ph.up < 0)
                ph.up = 0;
            else if (ph.up > ph.threshold && ph.n >= ph.warmup) {
                ph.alarms++;
                ph.direction = 1;
                ph.value = ph.up;
                ph.record = ph.count + e->records - 1 - left;
                ph.ticks = first + e->records - 1 - left;
                ph.n = ph.mean = ph.rest = ph.up = 0;
            }
        }
        ph.count += e->records;
    }
}

/* ---- DDM */

static struct {
    int n, p, rest, best, limit, root, best_p, level, warmup, alarms;
    int64_t count, record;
} ddm = {.best = 1 << 29, .limit = 1 << 29, .level = 1024, .warmup = 200};

static int floor_root(int v, int guess) {
    if (!v)
        return 0;
    int h = guess + (guess >> 3) + 2;
    if (h > 0x7FFF || h * h <= v)
        h = 0x8000;
    for (int next; (next = (h + v / h) >> 1) < h;)
        h = next;
    return h;
}

static void feed_ddm(const entry_t *e, int entries) {
    for (; entries--; e++) {
        if (e->g == UNKNOWN)
            continue;
        int loss = (e->g != (e->p & 255)) << 20;
        for (int left = e->records; left;) {
            int k = loss ? 1 : left > 512 ? 512 : left;
            left -= k;
            ddm.rest += loss - ddm.p * k;
            ddm.n += k;
            if (ddm.rest < 0 || ddm.rest >= ddm.n) {
                int q = ddm.rest / ddm.n;
                if (q * ddm.n > ddm.rest)
                    q--;
                ddm.p += q;
                ddm.rest -= q * ddm.n;
            }
            if (ddm.n <= ddm.warmup)
                continue;
            int h = ddm.p >> 5, v = h * (0x8000 - h), narrow = 0;
            if (ddm.n >= 0x10000)
                v = v / (ddm.n >> 8) << 2;
            else if ((v /= ddm.n) < 0x100000)
                v <<= 10;
            else
                narrow = 5;
            int d = ddm.best - ddm.p;
            h = d >> narrow;
            if (d > 0 && (h > 0x7FFF || v < h * h)) {
                h = floor_root(v, ddm.root >> narrow) << narrow;
                ddm.root = h;
                ddm.best_p = ddm.p;
                ddm.best = ddm.p + h;
                ddm.limit = ddm.p + (int)((int64_t)h * ddm.level >> 8);
            }
            d = ddm.limit - ddm.p;
            h = d >> narrow;
            if (d < 0 || (h < 0x8000 && v > h * h)) {
                ddm.alarms++;
                ddm.record = ddm.count + e->records - 1 - left;
                ddm.n = ddm.p = ddm.rest = 0;
                ddm.best = ddm.limit = 1 << 29;
            }
        }
        ddm.count += e->records;
    }
}

/* ---- ADWIN */

enum { ROWS = 9, PER_ROW = 5, GRAIN = 8 };

static struct {
    struct {
        int held, head, sum, bucket[PER_ROW];
    } row[ROWS];
    int n, s, loose, loose_s, alarms;
    unsigned turn;
    int64_t count, record;
    int logs[16];
} ad;

static int fails(int n, int s, int n0, int d, int log) {
    int k = n >= 4096 ? 3 : 8;
    d = (abs(d) << k) / n - ((log << 1) / 3 >> (12 - k));
    if (d <= 0)
        return 0;
    int v = (s << 15) / n;
    v = (v * (0x8000 - v) >> 8) * (log >> 7) >> (14 - k);
    return d * ((d << 12) / ((n0 * (n - n0) << k) / n)) > v;
}

static void bucket_complete(int x, int64_t record) {
    ad.n += GRAIN;
    ad.s += x;
    for (int r = 0; r < ROWS; r++) {
        typeof(ad.row[0]) *q = &ad.row[r];
        int i = q->head + q->held;
        if (i >= PER_ROW)
            i -= PER_ROW;
        q->sum += x;
        if (q->held < PER_ROW) {
            q->bucket[i] = x;
            q->held++;
            break;
        }
        int y = q->bucket[q->head];
        q->bucket[q->head] = x;
        if (++q->head == PER_ROW)
            q->head = 0;
        if (r + 1 < ROWS) {
            y += q->bucket[q->head];
            if (++q->head == PER_ROW)
                q->head = 0;
            q->held--;
        } else {
            ad.n -= GRAIN << r;
            ad.s -= y;
        }
        q->sum -= y;
        x = y;
    }
    int r = __builtin_ctz(++ad.turn) + 1;
    if (r >= ROWS)
        return;
    int log = ad.logs[32 - __builtin_clz(ad.n)], least = ad.n * (log / 6144), n1 = 0, s1 = 0;
    for (int i = 0; i < r; i++) {
        n1 += ad.row[i].held * (GRAIN << i);
        s1 += ad.row[i].sum;
    }
    typeof(ad.row[0]) *q = &ad.row[r];
    int d = ad.n * s1 - n1 * ad.s, step = (GRAIN << r) * ad.s;
    for (int i = 1; i <= q->held; i++) {
        int h = q->head + q->held - i;
        if (h >= PER_ROW)
            h -= PER_ROW;
        d += ad.n * q->bucket[h] - step;
        n1 += GRAIN << r;
        s1 += q->bucket[h];
        if (abs(d) > least && fails(ad.n, ad.s, ad.n - n1, d, log)) {
            q->head = h;
            q->held = i;
            q->sum = 0;
            for (int j = 0, at = h; j < i; j++, at = at + 1 == PER_ROW ? 0 : at + 1)
                q->sum += q->bucket[at];
            for (int j = r + 1; j < ROWS; j++)
                ad.row[j].held = ad.row[j].sum = 0;
            ad.n = n1;
            ad.s = s1;
            ad.alarms++;
            ad.record = record;
            return;
        }
    }
}

static void adwin(const entry_t *e, int entries) {
    for (; entries--; e++) {
        if (e->g == UNKNOWN)
            continue;
        int loss = e->g != (e->p & 255), left = e->records;
        while (ad.loose + left >= GRAIN) {
            int k = GRAIN - ad.loose;
            left -= k;
            int x = ad.loose_s + (loss ? k : 0);
            ad.loose = ad.loose_s = 0;
            bucket_complete(x, ad.count + e->records - left - 1);
        }
        ad.loose += left;
        ad.loose_s += loss ? left : 0;
        ad.count += e->records;
    }
}

/* ---- What fades with a clock */

typedef struct {
    int growth, block, shift, m, carry, place, table[17];
} clock_fade_t;

static void setup(clock_fade_t *c, int decay) {
    int64_t alpha = (1 << 30) - decay;
    __extension__ typedef unsigned long long wide;
    long double factor[17] = {1};
    for (int i = 1; i < 17; i++)
        factor[i] = factor[i - 1] * (1 << 30) / alpha;
    c->block = 16;
    int bits = 25, shift = 1;
    while (factor[c->block] > 2)
        c->block >>= 1, bits++;
    while ((wide)decay << shift < 2ULL << 30)
        shift++;
    long double total = 0;
    for (int j = 0; j <= c->block; j++) {
        c->table[j] = (int)(total * (1 << bits) + 0.5L);
        total += factor[j];
    }
    c->growth = (int)((factor[c->block] - 1) * (1 << 30) + 0.5L);
    c->shift = bits + shift - 30;
    c->m = 1 << 29;
    c->carry = c->place = 0;
}

static inline int product(int a, int b) { return (int)((int64_t)a * b >> 30); }

/* What the block's first j records add. */
static inline int upto(const clock_fade_t *c, int j) {
    return ((product(c->m, c->table[j]) >> (c->shift - 1)) + 1) >> 1;
}

static int turn(clock_fade_t *c) {
    int64_t grown = ((int64_t)c->m * c->growth >> 15) + c->carry + ((int64_t)c->m << 15);
    int halved = grown >> 45 != 0;
    grown >>= halved;
    c->m = (int)(grown >> 15);
    c->carry = grown & 0x7FFF;
    c->place = 0;
    return halved;
}

static clock_fade_t cf, ff, rl, rb;

/* ---- Two recognisers */

static struct {
    int n01, n10, loss_a, loss_b, limit, side, in01, in10, in_side, length, at;
    int64_t count, since, in_since, all01, all10;
    uint8_t ring[WINDOW];
} cp;

static void compare(const entry_t *e, int entries) {
    for (; entries--; e++) {
        if (e->g == UNKNOWN)
            continue;
        int wrong_a = e->g != (e->p & 255), wrong_b = e->g != (e->p >> 16 & 255);
        int code = wrong_a - wrong_b;
        if (code > 0)
            cp.all01 += e->records;
        else if (code)
            cp.all10 += e->records;
        for (int left = e->records; left;) {
            int j = cf.place, n = cf.block - j, side = cp.side;
            if (n > left)
                n = left;
            if (code)
                n = 1;
            else if (side) {
                int k = 0;
                while (k < n) {
                    k++;
                    int d = cf.table[j + k] - cf.table[j + k - 1];
                    if (cp.limit <= ((product(cf.m, d) >> (cf.shift - 1)) + 1) >> 1) {
                        side = 0;
                        break;
                    }
                }
                n = k;
            }
            if (wrong_a | wrong_b) {
                int c = upto(&cf, j + n) - upto(&cf, j);
                cp.loss_a += wrong_a ? c : 0;
                cp.loss_b += wrong_b ? c : 0;
                if (code) {
                    *(code > 0 ? &cp.n01 : &cp.n10) += c;
                    int d = cp.n01 - cp.n10;
                    side = d < 0 ? 2 : 1;
                    d = abs(d);
                    int s = cp.n01 + cp.n10, i = 0;
                    while (s > 0x7FFF)
                        s >>= 1, i++;
                    s = ((d >> i) << 15) / s;
                    d = (int)((int64_t)d * 8531 >> 15);
                    cp.limit = (int)((int64_t)d * s >> 15);
                    if (cp.limit <= c)
                        side = 0;
                }
            }
            if (side != cp.side) {
                cp.side = side;
                cp.since = cp.count + e->records - left + n - 1;
            }
            left -= n;
            cf.place += n;
            if (cf.place == cf.block && turn(&cf)) {
                cp.n01 = (cp.n01 + 1) >> 1;
                cp.n10 = (cp.n10 + 1) >> 1;
                cp.loss_a = (cp.loss_a + 1) >> 1;
                cp.loss_b = (cp.loss_b + 1) >> 1;
                cp.limit = (cp.limit + 1) >> 1;
            }
        }
        for (int k = 0; k < e->records; k++) {
            int now = code > 0 ? 1 : code < 0 ? 2 : 0, out = cp.ring[cp.at];
            if (now != out) {
                cp.ring[cp.at] = now;
                cp.in01 += (now == 1) - (out == 1);
                cp.in10 += (now == 2) - (out == 2);
                int d = cp.in01 - cp.in10;
                int side = d * d > (cp.in01 + cp.in10) * 3841 / 1000 ? d < 0 ? 2 : 1 : 0;
                if (side != cp.in_side) {
                    cp.in_side = side;
                    cp.in_since = cp.count + k;
                }
            }
            if (++cp.at == WINDOW)
                cp.at = 0;
        }
        cp.length += e->records;
        if (cp.length > WINDOW)
            cp.length = WINDOW;
        cp.count += e->records;
    }
}

/* ---- The matrix that forgets */

static struct {
    int halved, done;
    struct {
        int paid, cell[LABELS];
    } row[LABELS];
    int64_t count, unlabelled;
} fg;

static void forgetting(const entry_t *e, int entries) {
    for (; entries--; e++) {
        if (e->g == UNKNOWN) {
            fg.unlabelled += e->records;
            continue;
        }
        fg.count += e->records;
        typeof(fg.row[0]) *row = &fg.row[e->g];
        for (int left = e->records; left;) {
            int owed = fg.halved - row->paid;
            if (owed) {
                row->paid = fg.halved;
                if (owed > 31)
                    owed = 31;
                for (int i = 0; i < LABELS; i++)
                    row->cell[i] = ((row->cell[i] >> (owed - 1)) + 1) >> 1;
            }
            int n = ff.block - ff.place;
            if (n > left)
                n = left;
            left -= n;
            ff.place += n;
            int done = upto(&ff, ff.place);
            row->cell[e->p & 255] += done - fg.done;
            fg.done = done;
            if (ff.place == ff.block) {
                fg.done = 0;
                fg.halved += turn(&ff);
            }
        }
    }
}

/* ---- The reliability table */

static struct {
    int done[2];
    struct {
        int column[4];
    } bin[BINS];
    int64_t count[2];
} re;

static void reliability(const entry_t *e, int entries) {
    for (; entries--; e++) {
        int blind = e->g == UNKNOWN, sure = e->p >> 8 & 255;
        clock_fade_t *c = blind ? &rb : &rl;
        int *column = re.bin[sure * BINS >> 8].column;
        re.count[blind] += e->records;
        for (int left = e->records; left;) {
            int n = c->block - c->place;
            if (n > left)
                n = left;
            left -= n;
            c->place += n;
            int done = upto(c, c->place), h = done - re.done[blind];
            re.done[blind] = done;
            if (blind)
                column[3] += h;
            else {
                column[0] += h;
                if (e->g == (e->p & 255))
                    column[1] += h;
                column[2] += (int)(((int64_t)h * sure + 128) >> 8);
            }
            if (c->place == c->block) {
                re.done[blind] = 0;
                if (turn(c))
                    for (int i = 0; i < BINS; i++)
                        for (int k = blind ? 3 : 0; k < (blind ? 4 : 3); k++)
                            re.bin[i].column[k] = (re.bin[i].column[k] + 1) >> 1;
            }
        }
    }
}

/* ---- What raw() says of each, on a line */

static void say_page_hinkley(void) {
    printf("%d %lld %u %d %d\n", ph.alarms, (long long)ph.record, ph.ticks, ph.value, ph.up);
}

static void say_ddm(void) { printf("%d %lld %d %d\n", ddm.alarms, (long long)ddm.record, ddm.best, ddm.limit); }

static void say_adwin(void) { printf("%d %lld %d %d\n", ad.alarms, (long long)ad.record, ad.n, ad.s); }

static void say_compare(void) {
    printf("%d %d %d %d %d %lld %d %d %d %lld %lld %lld\n", cp.n01, cp.n10, cp.loss_a, cp.loss_b, cp.side,
           (long long)cp.since, cp.in01, cp.in10, cp.in_side, (long long)cp.in_since, (long long)cp.all01,
           (long long)cp.all10);
}

static void say_forgetting(int labels) {
    for (int i = 0; i < labels; i++) {
        int owed = fg.halved - fg.row[i].paid;
        if (owed > 31)
            owed = 31;
        for (int k = 0; k < labels; k++)
            printf("%d ", (fg.row[i].cell[k] + (1 << owed >> 1)) >> owed);
    }
    printf("\n");
}

static void say_reliability(void) {
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < BINS; i++)
            printf("%d ", re.bin[i].column[k]);
    printf("\n");
}

/* ADWIN's logarithms and the factor of what fades are given. */
static void begin(int decay, char **logs) {
    for (int i = 0; i < 16; i++)
        ad.logs[i] = atoi(logs[i]);
    setup(&cf, decay);
    ff = rl = rb = cf;
}

static void play(void (*feed)(const entry_t *, int), const entry_t *e, int entries) {
    mark();
    for (; entries > 0; e += ROOM, entries -= ROOM)
        feed(e, entries < ROOM ? entries : ROOM);
    mark();
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file || argc != 2 + 16 + 1)
        return 2;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    entry_t *e = malloc(size);
    int entries = fread(e, sizeof *e, size / sizeof *e, file);
    begin(atoi(argv[2]), argv + 3);
    play(page_hinkley, e, entries);
    say_page_hinkley();
    play(feed_ddm, e, entries);
    say_ddm();
    play(adwin, e, entries);
    say_adwin();
    play(compare, e, entries);
    say_compare();
    play(forgetting, e, entries);
    say_forgetting(LABELS);
    play(reliability, e, entries);
    say_reliability();
    return 0;
}
