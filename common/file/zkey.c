#include "common/file/zkey.h"

#include <inttypes.h>

#include "common/file/prime.h"
#include "common/file/sections.h"
#include "common/file/zkey_format.h"

static enum status parse_protocol(const struct sections *sections)
{
    struct section section;
    enum status st = sections_get_exact(sections, ZKEY_PROTOCOL, "protocol", 4, &section);
    if (st != ST_OK)
        return st;
    uint32_t id = section_u32(section.data);
    if (id == ZKEY_GROTH16)
        return ST_OK;
    const char *name = id == ZKEY_PLONK ? "PLONK" : id == ZKEY_FFLONK ? "FFLONK" : "unknown";
    return fail(ST_INPUT,
                "%s: section 1: protocol %" PRIu32 " (%s): only Groth16 keys are supported",
                sections->path, id, name);
}

/* Whose base field the n-byte prime q is, "no known curve" if nobody's. */
static const char *owner_of_q(const uint8_t *q, uint32_t n)
{
    static const char *const names[] = {"bn254", "bls12_381"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct curve *curve = curve_by_name(names[i]);
        if (curve && curve->fq_bytes == n && memcmp(q, curve->fq_modulus, n) == 0)
            return curve->name;
    }
    return "no known curve";
}

/* Both primes must be of the same curve. */
static enum status parse_primes(const struct curve **out, const char *path,
                                const struct section *header)
{
    uint32_t n = section_u32(header->data);
    if (n == 0 || n > CURVE_MAX_FQ_BYTES)
        return fail(ST_INPUT,
                    "%s: section 2 (header): the base field prime q has %" PRIu32
                    " bytes, no known curve has that",
                    path, n);
    if (header->size - 4 < n)
        return fail(ST_INPUT, "%s: section 2 (header): ends inside the base field prime q", path);
    const uint8_t *q = header->data + 4;
    const struct curve *curve;
    enum status st = prime_read(&curve, path, ZKEY_HEADER, q + n, header->size - 4 - n);
    if (st != ST_OK)
        return st;
    if (n != curve->fq_bytes || memcmp(q, curve->fq_modulus, n) != 0)
        return fail(ST_INPUT,
                    "%s: section 2 (header): r is the group order of %s, but q belongs to %s", path,
                    curve->name, owner_of_q(q, n));
    *out = curve;
    return ST_OK;
}

static enum status check_counts(const struct groth16_key *key)
{
    if (key->n_public >= key->n_vars)
        return fail(ST_INPUT,
                    "%s: section 2 (header): %" PRIu32
                    " public signals and the constant do not fit "
                    "in %" PRIu32 " variables",
                    key->path, key->n_public, key->n_vars);
    if (key->domain == 0 || (key->domain & (key->domain - 1)) != 0)
        return fail(ST_INPUT,
                    "%s: section 2 (header): the domain size %" PRIu64 " is not a power of two",
                    key->path, key->domain);
    if (key->domain >> key->curve->two_adicity > 1)
        return fail(ST_INPUT,
                    "%s: section 2 (header): the domain size %" PRIu64
                    " is beyond the limit of %s, 2^%u",
                    key->path, key->domain, key->curve->name, key->curve->two_adicity);
    if (key->n_public >= key->domain)
        return fail(ST_INPUT,
                    "%s: section 2 (header): %" PRIu32
                    " public signals and the constant do not fit in a domain of size %" PRIu64,
                    key->path, key->n_public, key->domain);
    return ST_OK;
}

static enum status parse_header(struct groth16_key *key, const struct sections *sections)
{
    struct section header;
    enum status st = sections_get(sections, ZKEY_HEADER, "header", 4, &header);
    if (st == ST_OK)
        st = parse_primes(&key->curve, sections->path, &header);
    if (st != ST_OK)
        return st;
    size_t q = key->curve->fq_bytes, r = key->curve->fr_bytes;
    st = sections_get_exact(sections, ZKEY_HEADER, "header", ZKEY_HEADER_SIZE(q, r), &header);
    if (st != ST_OK)
        return st;

    const uint8_t *p = header.data + 4 + q + 4 + r;
    key->n_vars = section_u32(p);
    key->n_public = section_u32(p + 4);
    key->domain = section_u32(p + 8);
    key->alpha1 = p + 12;
    key->beta1 = key->alpha1 + 2 * q;
    key->beta2 = key->beta1 + 2 * q;
    key->gamma2 = key->beta2 + 4 * q;
    key->delta1 = key->gamma2 + 4 * q;
    key->delta2 = key->delta1 + 2 * q;
    return check_counts(key);
}

static enum status parse_points(struct groth16_key *key, const struct sections *sections)
{
    uint64_t g1 = 2 * key->curve->fq_bytes, vars = key->n_vars, public = key->n_public;
    const struct {
        enum zkey_section id;
        const char *what;
        const uint8_t **points;
        uint64_t size;
    } arrays[] = {
        {ZKEY_IC, "IC points", &key->ic, (public + 1) * g1},
        {ZKEY_A, "A points", &key->a, vars * g1},
        {ZKEY_B1, "B1 points", &key->b1, vars * g1},
        {ZKEY_B2, "B2 points", &key->b2, vars * 2 * g1},
        {ZKEY_C, "C points", &key->c, (vars - public - 1) * g1},
        {ZKEY_H, "H points", &key->h, key->domain * g1},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        struct section section;
        enum status st =
            sections_get_exact(sections, arrays[i].id, arrays[i].what, arrays[i].size, &section);
        if (st != ST_OK)
            return st;
        *arrays[i].points = section.data;
    }
    return ST_OK;
}

/* The pass over section 4, in parallel: each task looks at one chunk of records. */
enum { COEF_CHUNKS = 64 };

struct coef_scan {
    const struct groth16_key *key;
    size_t record; /* bytes */
    struct {
        uint64_t bad;      /* the first wrong record, UINT64_MAX if none */
        uint64_t last_row; /* of matrix A, plus one */
    } chunks[COEF_CHUNKS];
};

static void scan_chunk(void *arg, size_t chunk, unsigned thread)
{
    (void)thread;
    struct coef_scan *scan = arg;
    const struct groth16_key *key = scan->key;
    size_t i, end;
    pool_chunk(key->n_coefs, chunk, COEF_CHUNKS, &i, &end);
    uint64_t last_row = 0, bad = UINT64_MAX;
    for (const uint8_t *p = key->coefs + i * scan->record; i < end; i++, p += scan->record) {
        uint32_t matrix = section_u32(p), constraint = section_u32(p + 4);
        if (matrix > 1 || constraint >= key->domain || section_u32(p + 8) >= key->n_vars) {
            bad = i;
            break;
        }
        if (matrix == 0 && constraint >= last_row)
            last_row = (uint64_t)constraint + 1;
    }
    scan->chunks[chunk].bad = bad;
    scan->chunks[chunk].last_row = last_row;
}

static enum status fail_coef(const struct groth16_key *key, uint64_t index, const uint8_t *record)
{
    uint32_t matrix = section_u32(record), constraint = section_u32(record + 4);
    if (matrix > 1)
        return fail(ST_INPUT,
                    "%s: section 4 (coefficients): record %" PRIu64 ": matrix %" PRIu32
                    " does not exist, 0 is A and 1 is B",
                    key->path, index, matrix);
    if (constraint >= key->domain)
        return fail(ST_INPUT,
                    "%s: section 4 (coefficients): record %" PRIu64 ": constraint %" PRIu32
                    " is outside the domain of size %" PRIu64,
                    key->path, index, constraint, key->domain);
    return fail(ST_INPUT,
                "%s: section 4 (coefficients): record %" PRIu64 ": signal %" PRIu32
                " does not exist, there are %" PRIu32 " variables",
                key->path, index, section_u32(record + 8), key->n_vars);
}

/* Checks all records and derives the number of constraints: behind them, matrix A has a row for the
 * constant and each public signal. */
static enum status scan_coefs(struct zkey *z, struct pool *pool)
{
    const struct groth16_key *key = &z->key;
    struct coef_scan scan = {.key = key, .record = GROTH16_COEF_HEADER + key->curve->fr_bytes};
    if (pool)
        pool_run(pool, COEF_CHUNKS, scan_chunk, &scan);
    else
        for (size_t i = 0; i < COEF_CHUNKS; i++)
            scan_chunk(&scan, i, 0);

    uint64_t rows = 0;
    for (size_t i = 0; i < COEF_CHUNKS; i++) {
        uint64_t bad = scan.chunks[i].bad;
        if (bad != UINT64_MAX)
            return fail_coef(key, bad, key->coefs + bad * scan.record);
        if (scan.chunks[i].last_row > rows)
            rows = scan.chunks[i].last_row;
    }
    if (rows <= key->n_public)
        return fail(ST_INPUT,
                    "%s: section 4 (coefficients): matrix A ends at row %" PRIu64
                    ": the rows of %" PRIu32 " public signals are missing",
                    key->path, rows, key->n_public);
    z->constraints = (uint32_t)(rows - key->n_public - 1);
    return ST_OK;
}

static enum status parse_coefs(struct zkey *z, const struct sections *sections, struct pool *pool)
{
    struct section section;
    enum status st = sections_get(sections, ZKEY_COEFS, "coefficients", 4, &section);
    if (st != ST_OK)
        return st;
    uint32_t count = section_u32(section.data);
    uint64_t record = GROTH16_COEF_HEADER + z->key.curve->fr_bytes;
    if (section.size - 4 != count * record)
        return fail(ST_INPUT,
                    "%s: section 4 (coefficients): its count is %" PRIu32 " but its %" PRIu64
                    " bytes hold %" PRIu64,
                    sections->path, count, section.size, (section.size - 4) / record);
    file_map_prefetch(section.data, section.size);
    z->key.coefs = section.data + 4;
    z->key.n_coefs = count;
    return scan_coefs(z, pool);
}

/* Section 10: the hash of the circuit, a count, and per contribution delta and the proof that it is
 * known (three points of G1, one of G2), the hash of what came before, a type, and parameters with
 * their length. Only walked, never used. */
static enum status parse_contributions(struct zkey *z, const struct sections *sections)
{
    struct section section;
    enum status st = sections_get(sections, ZKEY_CONTRIBUTIONS, "contributions",
                                  ZKEY_CIRCUIT_HASH + 4, &section);
    if (st != ST_OK)
        return st;
    const uint8_t *p = section.data + ZKEY_CIRCUIT_HASH;
    z->contributions = section_u32(p);
    uint64_t left = section.size - ZKEY_CIRCUIT_HASH - 4;
    uint64_t fixed = (3 * 2 + 4) * z->key.curve->fq_bytes + 64 + 4 + 4;
    p += 4;
    for (uint32_t i = 0; i < z->contributions; i++) {
        uint64_t params = left < fixed ? 0 : section_u32(p + fixed - 4);
        if (left < fixed || left - fixed < params)
            return fail(ST_INPUT,
                        "%s: section 10 (contributions): ends in contribution %" PRIu32
                        " of %" PRIu32,
                        sections->path, i + 1, z->contributions);
        p += fixed + params;
        left -= fixed + params;
    }
    if (left != 0)
        return fail(ST_INPUT,
                    "%s: section 10 (contributions): %" PRIu64 " bytes follow the last of %" PRIu32,
                    sections->path, left, z->contributions);
    return ST_OK;
}

enum status zkey_parse(struct zkey *out, const struct file_map *map, struct pool *pool)
{
    struct sections sections;
    struct zkey z = {.map = *map, .key.path = map->path};
    enum status st = sections_parse(&sections, map, "zkey", ZKEY_VERSION);
    if (st == ST_OK)
        st = parse_protocol(&sections);
    if (st == ST_OK)
        st = parse_header(&z.key, &sections);
    if (st == ST_OK)
        st = parse_points(&z.key, &sections);
    if (st == ST_OK)
        st = parse_contributions(&z, &sections);
    if (st == ST_OK)
        st = parse_coefs(&z, &sections, pool);
    if (st == ST_OK)
        *out = z;
    return st;
}

enum status zkey_open(struct zkey *out, const char *path, struct pool *pool)
{
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st != ST_OK)
        return st;
    st = zkey_parse(out, &map, pool);
    if (st != ST_OK)
        file_unmap(&map);
    return st;
}

void zkey_close(struct zkey *z)
{
    file_unmap(&z->map);
    *z = (struct zkey){0};
}
