/* Little-endian byte integers from and to decimal text. */
#ifndef PINION_FILE_DECIMAL_H
#define PINION_FILE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

enum { DECIMAL_MAX_BYTES = 64 };

/* Parses text into the n-byte integer out; n a multiple of 8, at most DECIMAL_MAX_BYTES.
 *
 * text: decimal digits only, at least one, no sign or space; leading zeros are fine. ST_INPUT if it
 * is anything else, ST_INVALID if the integer needs more than n bytes; what names the thing in the
 * message, its file included. Linear in the length of text. */
enum status decimal_parse(const char *text, uint8_t *out, size_t n, const char *what) MUST_CHECK;

/* Longest text for n bytes, NUL included. */
#define DECIMAL_MAX(n) ((n)*5 / 2 + 2)

/* Writes the NUL-terminated decimal of the n-byte integer a; returns its length. text has
 * DECIMAL_MAX(n) bytes; n as in decimal_parse. */
size_t decimal_format(char *text, const uint8_t *a, size_t n);

#endif
