/* Plays a recording: a file of little-endian 32-bit words. First slice, decay, group, labels, closed and
 * gaps_unknown; then for every call side, time, count, and so many labels in bytes, filled up to a word.
 * The calls, and those alone, lie between the second mark and the third. Prints what the node's raw() says, as JSON. */

#include "node.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST = 4 << 20 };

config_t config;
static uint32_t words[MOST];

int main(int arguments, char **argument) {
    FILE *file = arguments == 2 ? fopen(argument[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "say which recording\n");
        return 2;
    }
    size_t size = fread(words, 4, MOST, file);
    fclose(file);
    if (size < 6 || size == MOST) {
        fprintf(stderr, "no recording, or one too large\n");
        return 2;
    }
    config.slice = words[0];
    config.decay = words[1];
    config.group = words[2];
    config.labels = words[3];
    config.closed = words[4];
    config.gaps_unknown = words[5];
    join_restart();
    prequential_begin();

    const uint32_t *call = words + 6, *end = words + size;
    unlink("@");
    unlink("@");
    while (call < end) {
        const uint8_t *labels = (const uint8_t *)(call + 3);
        int count = call[2];
        if (count == 1)
            node_sample(call[0], call[1], labels[0]);
        else
            node_batch(call[0], call[1], labels, count);
        call += 3 + (count + 3) / 4;
    }
    unlink("@");

    node_finish();
    node_print();
    return 0;
}
