/* What the node's raw() says, as JSON. */

#include "node.h"

#include <inttypes.h>
#include <stdio.h>

void node_print(void) {
    printf("{\"version\":1,\"counters\":{\"order\":%d,\"label\":%d,\"range\":0,\"overlap\":0,\"split\":%d}",
           (int)rejected.order, (int)rejected.label, (int)rejected.split);
    printf(",\"join\":{\"assessed\":%" PRId64 ",\"unknown\":%" PRId64, join.assessed, join.unknown);
    printf(",\"unassessed\":%" PRId64 "}", join.unassessed);
#if WITH_ALIGN
    printf(",\"align\":{");
    align_print();
    printf("}");
#endif
#if WITH_SLICES
    printf(",\"slices\":{");
    slices_print();
    printf("}");
#endif
#if WITH_PREQUENTIAL
    printf(",\"prequential\":{");
    prequential_print();
    printf("}");
#endif
    printf("}\n");
}
