#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/proof_json.h"
#include "common/file/r1cs_file.h"
#include "common/file/wtns.h"
#include "common/file/zkey.h"
#include "common/groth16/setup.h"
#include "tools/pinion/command.h"
#include "tools/pinion/session.h"

struct inspect_options {
    struct compute_options compute;
    bool json;
};

/* What there is to say: members of a JSON object, in order. The first six are the same for every
 * type; what a type does not have is null. */
struct facts {
    json_t *object; /* owned */
};

static void say_text(struct facts *f, const char *name, const char *value)
{
    json_object_set_new(f->object, name, json_string(value));
}

static void say_number(struct facts *f, const char *name, uint64_t value)
{
    json_object_set_new(f->object, name, json_integer((json_int_t)value));
}

static void begin(struct facts *f, const char *type, const struct curve *curve)
{
    static const char *const rest[] = {"constraints", "variables", "public", "domain"};
    say_text(f, "type", type);
    say_text(f, "curve", curve->name);
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        json_object_set_new(f->object, rest[i], json_null());
}

static enum status inspect_zkey(struct facts *f, const char *path, struct pool *pool)
{
    struct zkey z = {0};
    enum status st = zkey_open(&z, path, pool);
    if (st == ST_OK) {
        begin(f, "zkey", z.key.curve);
        say_number(f, "constraints", z.constraints);
        say_number(f, "variables", z.key.n_vars);
        say_number(f, "public", z.key.n_public);
        say_number(f, "domain", z.key.domain);
        say_number(f, "coefficients", z.key.n_coefs);
        say_number(f, "contributions", z.contributions);
        say_number(f, "bytes", z.map.size);
    }
    zkey_close(&z);
    return st;
}

static enum status inspect_wtns(struct facts *f, const char *path, struct pool *pool)
{
    (void)pool;
    struct wtns w = {0};
    enum status st = wtns_open(&w, path);
    if (st == ST_OK) {
        begin(f, "wtns", w.curve);
        say_number(f, "variables", w.n);
        say_number(f, "bytes", w.map.size);
    }
    wtns_close(&w);
    return st;
}

static enum status inspect_r1cs(struct facts *f, const char *path, struct pool *pool)
{
    (void)pool;
    struct r1cs_file file = {0};
    enum status st = r1cs_open(&file, path);
    if (st == ST_OK) {
        const struct r1cs *r = &file.r1cs;
        begin(f, "r1cs", r->curve);
        say_number(f, "constraints", r->n_constraints);
        say_number(f, "variables", r->n_wires);
        say_number(f, "public", r1cs_n_public(r));
        say_number(f, "domain", groth16_domain_size(r->n_constraints, r1cs_n_public(r)));
        say_number(f, "outputs", r->n_pub_out);
        say_number(f, "public_inputs", r->n_pub_in);
        say_number(f, "private_inputs", r->n_prv_in);
        say_number(f, "labels", r->n_labels);
        json_object_set_new(f->object, "custom_gates", json_boolean(r->has_custom_gates));
        say_number(f, "bytes", file.map.size);
    }
    r1cs_close(&file);
    return st;
}

static enum status inspect_vkey(struct facts *f, const char *path)
{
    struct groth16_vkey vk = {0};
    enum status st = vkey_json_read(path, &vk);
    if (st == ST_OK) {
        begin(f, "vkey", vk.curve);
        say_number(f, "public", vk.n_public);
    }
    groth16_vkey_fini(&vk);
    return st;
}

static enum status inspect_proof(struct facts *f, const char *path, const json_t *json)
{
    const char *name = json_string_value(json_object_get(json, "curve"));
    const struct curve *curve = curve_by_name(name ? name : "");
    if (!curve)
        return fail(ST_INPUT, "%s: the proof names %s%s", path, name ? "an unknown curve: " : "no ",
                    name ? name : "curve");
    struct groth16_proof proof;
    enum status st = proof_json_read(path, curve, &proof);
    if (st == ST_OK)
        begin(f, "proof", curve);
    return st;
}

static enum status inspect_json(struct facts *f, const char *path)
{
    json_t *json = NULL;
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st != ST_OK)
        return st;
    st = json_parse(&map, JSON_MAX_SIZE, &json);
    file_unmap(&map);
    if (st != ST_OK)
        return st;
    if (json_object_get(json, "vk_alpha_1"))
        st = inspect_vkey(f, path);
    else if (json_object_get(json, "pi_a"))
        st = inspect_proof(f, path, json);
    else
        st = fail(ST_INPUT, "%s: JSON, but neither a verification key nor a proof", path);
    json_decref(json);
    return st;
}

static const struct {
    const char *start;
    enum status (*inspect)(struct facts *f, const char *path, struct pool *pool);
} types[] = {
    {"zkey", inspect_zkey},
    {"wtns", inspect_wtns},
    {"r1cs", inspect_r1cs},
};

/* What a JSON object can start with. */
static bool starts_json(char first)
{
    static const char firsts[] = {'{', ' ', '\t', '\r', '\n'};
    return memchr(firsts, first, sizeof firsts) != NULL;
}

static enum status inspect(struct facts *f, const char *path, struct pool *pool)
{
    char start[5] = "";
    struct file_map map;
    enum status st = file_map(&map, path);
    if (st != ST_OK)
        return st;
    memcpy(start, map.data, map.size < 4 ? map.size : 4);
    file_unmap(&map);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strncmp(start, types[i].start, strlen(types[i].start)) == 0)
            return types[i].inspect(f, path, pool);
    if (starts_json(start[0]))
        return inspect_json(f, path);
    return fail(ST_INPUT, "%s: neither .zkey, .wtns, .r1cs nor snarkjs' JSON", path);
}

static void print_text(const struct facts *f)
{
    const char *name;
    json_t *value;
    json_object_foreach(f->object, name, value)
    {
        if (json_is_null(value))
            continue;
        printf("%-15s ", name);
        if (json_is_integer(value))
            printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
        else if (json_is_string(value))
            printf("%s\n", json_string_value(value));
        else
            printf("%s\n", json_is_true(value) ? "yes" : "no");
    }
}

static enum status run(const void *arg, char **operands)
{
    const struct inspect_options *options = arg;
    struct session session = {0};
    enum status st = session_begin(&session, &options->compute);
    struct facts facts = {json_object()};
    if (st == ST_OK)
        st = inspect(&facts, operands[0], session.pool);
    session_end(&session);
    if (st == ST_OK && options->json)
        return session_print_json(facts.object);
    if (st == ST_OK)
        print_text(&facts);
    json_decref(facts.object);
    return st;
}

static const struct inspect_options defaults = {.compute = COMPUTE_DEFAULTS};

static const struct option_spec options[] = {
    {"json", NULL, "one line of JSON instead of text; null stands for what a type does not have",
     OPTION_FLAG, offsetof(struct inspect_options, json), 0, 0},
    COMPUTE_OPTIONS,
    {0},
};

const struct command cmd_inspect = {
    .name = "inspect",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "say what is in a file",
    .about =
        "Checks the structure of FILE and says what is in it: a proving key (.zkey), a witness\n"
        "(.wtns; its values are never shown), a circuit (.r1cs), a verification key or a proof\n"
        "(snarkjs' JSON).\n",
    .examples = "  pinion inspect circuit.zkey\n  pinion inspect --json circuit.r1cs\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
