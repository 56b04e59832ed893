/* circom's r1cs file, memory-mapped. */
#ifndef PINION_FILE_R1CS_FILE_H
#define PINION_FILE_R1CS_FILE_H

#include "common/file/map.h"
#include "common/groth16/r1cs.h"

struct r1cs_file {
    struct file_map map;
    struct r1cs r1cs; /* borrows from map */
};

/* Walks every constraint once: what r1cs_next finds later is sound. ST_INPUT names path, section,
 * constraint and reason: among others a wire that does not exist and a coefficient that is not
 * below the group order. Constraints are numbered from 0. A circuit with custom gates opens
 * (has_custom_gates); setup refuses it. */
enum status r1cs_open(struct r1cs_file *out, const char *path) MUST_CHECK;
void r1cs_close(struct r1cs_file *r);

/* r1cs_open for bytes that are in memory already. Borrows them: no r1cs_close. */
enum status r1cs_parse(struct r1cs_file *out, const struct file_map *map) MUST_CHECK;

#endif
