/* Estimators that node_c has not, as a C programmer would write them around it: what instructions.py counts. */

#ifndef MORE_H
#define MORE_H

#include <stdint.h>

void more_begin(int decay, char **logs);
void more_print(int labels);

void hierarchy_begin(int truth_and_predicted_levels, int window_frames, int frame_ticks);
void hierarchy_ends(int predicted, int level, uint32_t t);
void hierarchy_until(uint32_t t);
void hierarchy_print(void);

void loss_begin(int decay, int largest);
void loss_record(int32_t x);
void loss_print(void);

void holdout_score(const uint8_t *labels, int size);
void holdout_print(void);

#endif
