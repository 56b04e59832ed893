/* One frame of `pinion top`: the coordinator's status as lines of text. */
#ifndef PINION_TOOLS_TOP_FRAME_H
#define PINION_TOOLS_TOP_FRAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* How to draw. */
struct top_style {
    const char *where; /* which instance */
    unsigned columns;  /* no line is longer */
    unsigned rows;     /* no more lines; 0: no limit */
    bool colour;       /* ANSI colours for the map's states */
    double per_second; /* proofs since the frame before; negative: not known */
};

/* Writes the frame, each line ended by `end` ("\n", or that after the code that clears the rest of a
 * line). status is the reply to the request of that name; what is missing from it is shown as "?". */
void top_frame(FILE *out, const json_t *status, const struct top_style *style, const char *end);

#endif
