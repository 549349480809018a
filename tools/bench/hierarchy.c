/* The windowed T-measure of firmware/gauge/hierarchy.py as a C programmer would write it: the measure that the
 * node's kernel is compared with. Reads "levels window frames", plays the pattern of hierarchy_node_bench.py,
 * marks the run over all frames, and prints what the node's raw() says. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 5, CAP = 1024 };

typedef struct {
    int left, right, head, count;
    int ring[CAP];
} level_t;

typedef struct {
    uint64_t queries, concordant, pairs, share;
} sum_t;

static level_t truth[4], prediction[4];
static sum_t sums[4];
static int levels, window;

static void add(sum_t *sum, unsigned concordant, unsigned pairs) {
    if (!pairs)
        return;
    sum->queries++;
    sum->concordant += concordant;
    sum->pairs += pairs;
    unsigned share = 0;
    for (int i = 0; i < 2; i++) {
        concordant <<= 10;
        unsigned digit = concordant / pairs;
        concordant -= digit * pairs;
        share = share << 10 | digit;
    }
    sum->share += share;
}

static void query(int left0, int right0) {
    int pl[DEPTH], pr[DEPTH], p0[DEPTH], above_c[DEPTH] = {0}, above_n[DEPTH] = {0};
    int total = left0 + right0 - 1, left = 0, right = 0, deeper = 0, next = 0;
    unsigned full_p = 0, reduced_p = 0, full_t = 0, reduced_t = 0, full = 0, recall = 0, precision = 0;
    for (int b = levels; b; b--) {
        level_t *p = &prediction[b - 1];
        if (p->left > left) left = p->left;
        if (p->right > right) right = p->right;
        int c = left + right - 1, n = c - deeper;
        pl[b] = left, pr[b] = right, p0[b] = c;
        full_p += n * (total - c);
        reduced_p += next * n;
        next = n, deeper = c;
    }
    reduced_p += next * (total - deeper);
    left = right = deeper = next = 0;
    for (int a = levels; a >= 0; a--) {
        if (a) {
            level_t *t = &truth[a - 1];
            if (t->left > left) left = t->left;
            if (t->right > right) right = t->right;
        } else {
            left = left0, right = right0;
        }
        int c = left + right - 1, at = c - deeper, above = total - c;
        full_t += at * above;
        reduced_t += next * at;
        next = at, deeper = c;
        int next_d = 0, next_f = 0, n = 0;
        for (int b = levels; b; b--) {
            int l = pl[b] < left ? pl[b] : left, r = pr[b] < right ? pr[b] : right;
            int joint = l + r - 1, d = joint - above_c[b], f = p0[b] - joint;
            above_c[b] = joint;
            recall += above_n[b] * (at - d);
            precision += n * (f - next_f);
            n = d - next_d;
            above_n[b] = n;
            full += n * (above - f);
            next_d = d, next_f = f;
        }
        precision += n * (above - next_f);
    }
    add(&sums[0], recall, reduced_t);
    add(&sums[1], precision, reduced_p);
    add(&sums[2], full, full_t);
    add(&sums[3], full, full_p);
}

static int look(level_t *level, int q, int left0, int right0) {
    int right = right0;
    while (level->head < level->count && level->ring[level->head] == q) {
        level->left = 0;
        level->head++;
    }
    if (level->head < level->count && level->ring[level->head] - q < right)
        right = level->ring[level->head] - q;
    level->right = right;
    return level->left < left0 || right < right0;
}

static void step(level_t *level) {
    if (level->left < window)
        level->left++;
}

static void score(int begin, int end) {
    for (int q = begin; q < end; q++) {
        int left0 = q < window ? q : window, busy = 0;
        for (int i = 0; i < levels; i++) {
            busy |= look(&truth[i], q, left0, window);
            busy |= look(&prediction[i], q, left0, window);
        }
        if (busy)
            query(left0, window);
        for (int i = 0; i < levels; i++) {
            step(&truth[i]);
            step(&prediction[i]);
        }
    }
}

int main(int count, char **argument) {
    if (count != 4)
        return 2;
    levels = atoi(argument[1]);
    window = atoi(argument[2]);
    int frames = atoi(argument[3]);
    for (int t = 1; t < frames + window; t++)
        for (int i = 0; i < levels; i++) {
            int every = 7 << (levels - 1 - i);
            if (t % every == 0)
                truth[i].ring[truth[i].count++] = t;
            if (t % every == 2)
                prediction[i].ring[prediction[i].count++] = t;
        }
    unlink("@");
    score(0, frames);
    unlink("@");
    for (int i = 0; i < 4; i++)
        printf("%llu %llu %llu %llu\n", (unsigned long long)sums[i].queries,
               (unsigned long long)sums[i].concordant, (unsigned long long)sums[i].pairs,
               (unsigned long long)sums[i].share);
    return 0;
}
