#include "common/file/r1cs_file.h"

#include <inttypes.h>

#include "common/file/prime.h"
#include "common/file/sections.h"

enum {
    R1CS_VERSION = 1,
    SECTION_HEADER = 1,
    SECTION_CONSTRAINTS = 2,
    SECTION_LABELS = 3,
    SECTION_GATES = 4,
    SECTION_GATE_USES = 5
};

/* Bytes of the header behind the prime: nWires nPubOut nPubIn nPrvIn, nLabels, nConstraints. */
enum { HEADER_COUNTS = 4 * 4 + 8 + 4 };

static enum status parse_header(struct r1cs *r, const struct sections *sections)
{
    struct section header;
    enum status st = sections_get(sections, SECTION_HEADER, "header", 4, &header);
    if (st == ST_OK)
        st = prime_read(&r->curve, sections->path, SECTION_HEADER, header.data, header.size);
    if (st == ST_OK)
        st = sections_get_exact(sections, SECTION_HEADER, "header",
                                4 + r->curve->fr_bytes + HEADER_COUNTS, &header);
    if (st != ST_OK)
        return st;

    const uint8_t *p = header.data + 4 + r->curve->fr_bytes;
    r->n_wires = section_u32(p);
    r->n_pub_out = section_u32(p + 4);
    r->n_pub_in = section_u32(p + 8);
    r->n_prv_in = section_u32(p + 12);
    r->n_labels = section_u64(p + 16);
    r->n_constraints = section_u32(p + 24);
    /* private inputs are not all wires: circom drops those that no constraint needs */
    uint64_t named = 1 + (uint64_t)r->n_pub_out + r->n_pub_in;
    if (r->n_wires < named)
        return fail(ST_INPUT,
                    "%s: section 1 (header): %" PRIu32
                    " wires are too few for the constant, %" PRIu32 " outputs and %" PRIu32
                    " public inputs",
                    sections->path, r->n_wires, r->n_pub_out, r->n_pub_in);
    return ST_OK;
}

/* The walk over section 2; at is where the next linear combination should begin. */
struct walk {
    const struct r1cs *r1cs;
    const uint8_t *at;
    uint64_t left;
    uint64_t constraint;
    char matrix; /* A, B or C */
};

static enum status check_terms(const struct walk *w, const uint8_t *terms, uint32_t count)
{
    const struct curve *curve = w->r1cs->curve;
    for (uint32_t i = 0; i < count; i++, terms += 4 + curve->fr_bytes) {
        uint32_t wire = section_u32(terms);
        if (wire >= w->r1cs->n_wires)
            return fail(ST_INPUT,
                        "%s: section 2 (constraints): constraint %" PRIu64 ", %c, term %" PRIu32
                        ": wire %" PRIu32 " does not exist, there are %" PRIu32,
                        w->r1cs->path, w->constraint, w->matrix, i, wire, w->r1cs->n_wires);
        if (!prime_is_canonical(curve, terms + 4))
            return fail(ST_INPUT,
                        "%s: section 2 (constraints): constraint %" PRIu64 ", %c, term %" PRIu32
                        ": the coefficient is not below the group order of %s",
                        w->r1cs->path, w->constraint, w->matrix, i, curve->name);
    }
    return ST_OK;
}

static enum status check_combination(struct walk *w)
{
    uint64_t term = 4 + w->r1cs->curve->fr_bytes;
    if (w->left < 4)
        return fail(ST_INPUT,
                    "%s: section 2 (constraints): ends in constraint %" PRIu64 " of %" PRIu32
                    ", before %c",
                    w->r1cs->path, w->constraint, w->r1cs->n_constraints, w->matrix);
    uint32_t count = section_u32(w->at);
    w->left -= 4;
    if (count > w->left / term)
        return fail(ST_INPUT,
                    "%s: section 2 (constraints): constraint %" PRIu64 ", %c: %" PRIu32
                    " terms do not fit in the %" PRIu64 " bytes that are left",
                    w->r1cs->path, w->constraint, w->matrix, count, w->left);
    enum status st = check_terms(w, w->at + 4, count);
    w->at += 4 + count * term;
    w->left -= count * term;
    return st;
}

static enum status check_constraints(const struct r1cs *r)
{
    struct walk w = {.r1cs = r, .at = r->constraints, .left = r->constraints_size};
    for (w.constraint = 0; w.constraint < r->n_constraints; w.constraint++) {
        for (w.matrix = 'A'; w.matrix <= 'C'; w.matrix++) {
            enum status st = check_combination(&w);
            if (st != ST_OK)
                return st;
        }
    }
    if (w.left != 0)
        return fail(ST_INPUT,
                    "%s: section 2 (constraints): %" PRIu64 " bytes follow the last of %" PRIu32
                    " constraints",
                    r->path, w.left, r->n_constraints);
    return ST_OK;
}

/* Reads the count that a section of custom gates begins with; each of its entries takes at least
 * min_entry bytes. */
static enum status custom_count(const struct sections *sections, unsigned id, const char *what,
                                uint64_t min_entry, uint32_t *count)
{
    struct section section;
    enum status st = sections_get(sections, id, what, 4, &section);
    if (st != ST_OK)
        return st;
    *count = section_u32(section.data);
    if (*count > (section.size - 4) / min_entry || (*count == 0 && section.size != 4))
        return fail(ST_INPUT,
                    "%s: section %u (%s) has %" PRIu64 " bytes, which %" PRIu32
                    " entries do not fill",
                    sections->path, id, what, section.size, *count);
    return ST_OK;
}

/* circom writes both sections of custom gates or neither. */
static enum status parse_custom_gates(struct r1cs *r, const struct sections *sections)
{
    if (!sections->by_id[SECTION_GATES].data && !sections->by_id[SECTION_GATE_USES].data)
        return ST_OK;
    uint32_t gates, uses;
    /* an empty name, its NUL, and a parameter count; a gate and a signal count */
    enum status st = custom_count(sections, SECTION_GATES, "custom gates", 5, &gates);
    if (st == ST_OK)
        st = custom_count(sections, SECTION_GATE_USES, "uses of custom gates", 8, &uses);
    if (st == ST_OK)
        r->has_custom_gates = gates != 0 || uses != 0;
    return st;
}

enum status r1cs_parse(struct r1cs_file *out, const struct file_map *map)
{
    struct sections sections;
    struct section constraints, labels;
    struct r1cs r = {.path = map->path};
    enum status st = sections_parse(&sections, map, "r1cs", R1CS_VERSION);
    if (st == ST_OK)
        st = parse_header(&r, &sections);
    if (st == ST_OK)
        st = sections_get(&sections, SECTION_CONSTRAINTS, "constraints", 0, &constraints);
    if (st == ST_OK)
        st = sections_get_exact(&sections, SECTION_LABELS, "labels of wires",
                                (uint64_t)r.n_wires * 8, &labels);
    if (st == ST_OK)
        st = parse_custom_gates(&r, &sections);
    if (st != ST_OK)
        return st;

    r.constraints = constraints.data;
    r.constraints_size = constraints.size;
    st = check_constraints(&r);
    if (st == ST_OK)
        *out = (struct r1cs_file){*map, r};
    return st;
}

enum status r1cs_open(struct r1cs_file *out, const char *path)
{
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st != ST_OK)
        return st;
    file_map_prefetch(map.data, map.size);
    st = r1cs_parse(out, &map);
    if (st != ST_OK)
        file_unmap(&map);
    return st;
}

void r1cs_close(struct r1cs_file *r)
{
    file_unmap(&r->map);
    *r = (struct r1cs_file){0};
}
