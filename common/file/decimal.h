/* Little-endian byte integers from and to decimal text. */
#ifndef PINION_FILE_DECIMAL_H
#define PINION_FILE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

/* Decimal digits only, at least one, no sign or space. ST_INPUT if malformed, ST_INVALID if it
 * needs more than n bytes; what: the thing's name for the message. Text longer than any value needs
 * (leading zeros apart) is ST_INVALID too. */
enum status decimal_parse(const char *text, uint8_t *out, size_t n, const char *what) MUST_CHECK;

/* Longest text for n bytes, NUL included. */
#define DECIMAL_MAX(n) ((n)*5 / 2 + 2)

/* Writes the NUL-terminated decimal of the n-byte integer a; returns its length. text has
 * DECIMAL_MAX(n) bytes. n <= 64. */
size_t decimal_format(char *text, const uint8_t *a, size_t n);

#endif
