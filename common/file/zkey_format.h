/* The zkey format, for its reader and its writer. */
#ifndef PINION_FILE_ZKEY_FORMAT_H
#define PINION_FILE_ZKEY_FORMAT_H

enum { ZKEY_VERSION = 1, ZKEY_GROTH16 = 1, ZKEY_PLONK = 2, ZKEY_FFLONK = 10 };

enum zkey_section {
    ZKEY_PROTOCOL = 1,
    ZKEY_HEADER,
    ZKEY_IC,
    ZKEY_COEFS,
    ZKEY_A,
    ZKEY_B1,
    ZKEY_B2,
    ZKEY_C,
    ZKEY_H,
    ZKEY_CONTRIBUTIONS,
    ZKEY_SECTIONS = ZKEY_CONTRIBUTIONS /* all of them, always */
};

enum { ZKEY_CIRCUIT_HASH = 64 };

/* Bytes of the header for field sizes q and r: the two primes with their sizes, three counts, and
 * alpha1 beta1 delta1 in G1, beta2 gamma2 delta2 in G2. */
#define ZKEY_HEADER_SIZE(q, r) (4 + (q) + 4 + (r) + 12 + (size_t)3 * (2 + 4) * (q))

#endif
