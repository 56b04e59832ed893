/* Proofs of a circuit made in memory: a chain x[i+1] = x[i]^2 + 5, whose witness has full width,
 * or, for a witness like that of a hash, 63 bits b = b^2 between any two links. */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/groth16/groth16.h"
#include "common/groth16/setup.h"
#include "gpud/embedded.h"
#include "tools/pinion/bench.h"

/* Wire 0 is one, wire 1 the public end of the chain, wire 2 its start; every other constraint has
 * one wire of its own. */
enum { COMPARE_MAX_LOG2 = 18 }; /* a device's proofs are compared with the processor's up to here */
enum { WIRE_ONE, WIRE_END, WIRE_START, FIRST_FREE_WIRE, STEP = 5, LINK_EVERY = 64 };

/* Appends a term to a linear combination. */
static uint8_t *put_term(const struct curve *curve, uint8_t *p, uint32_t wire, const uint8_t *value)
{
    memcpy(p, &wire, sizeof wire);
    memcpy(p + sizeof wire, value, curve->fr_bytes);
    return p + sizeof wire + curve->fr_bytes;
}

static uint8_t *put_count(uint8_t *p, uint32_t count)
{
    memcpy(p, &count, sizeof count);
    return p + sizeof count;
}

/* in * in = out + constant; constant NULL for none. */
static uint8_t *put_product(const struct curve *curve, uint8_t *p, uint32_t in, uint32_t out,
                            const uint8_t *constant)
{
    const uint8_t one[CURVE_MAX_FR_BYTES] = {1};
    for (int side = 0; side < 2; side++) {
        p = put_count(p, 1);
        p = put_term(curve, p, in, one);
    }
    p = put_count(p, constant ? 2 : 1);
    if (constant)
        p = put_term(curve, p, WIRE_ONE, constant);
    return put_term(curve, p, out, one);
}

/* The constant -5. */
static void minus_step(const struct curve *curve, uint8_t *out)
{
    memcpy(out, curve->fr_modulus, curve->fr_bytes);
    for (int i = 0; i < STEP; i++) {
        uint8_t *p = out;
        while ((*p)-- == 0) /* borrow */
            p++;
    }
}

static bool is_link(const struct bench_job *job, uint32_t constraint)
{
    return !job->witness || constraint % LINK_EVERY == 0;
}

static uint32_t last_link(const struct bench_job *job, uint32_t n_constraints)
{
    uint32_t last = n_constraints - 1;
    return job->witness ? last / LINK_EVERY * LINK_EVERY : last;
}

/* Fills in constraints and witness side by side. */
static void fill(const struct bench_job *job, struct bench_circuit *c)
{
    const struct curve *curve = job->curve;
    const size_t size = curve->fr_bytes;
    const uint8_t step[CURVE_MAX_FR_BYTES] = {STEP};
    uint8_t negative[CURVE_MAX_FR_BYTES], *p = c->constraints;
    uint64_t state = 1;
    uint32_t x = WIRE_START, next = FIRST_FREE_WIRE;
    uint32_t end = last_link(job, c->r1cs.n_constraints);
    minus_step(curve, negative);
    c->witness[WIRE_ONE] = 1;
    bench_scalar(curve, &state, c->witness + x * size);
    for (uint32_t i = 0; i < c->r1cs.n_constraints; i++) {
        uint32_t wire = i == end ? WIRE_END : next++;
        uint8_t *value = c->witness + wire * size;
        if (!is_link(job, i)) {
            p = put_product(curve, p, wire, wire, NULL);
            value[0] = (state += 0x9e3779b97f4a7c15) >> 63;
            continue;
        }
        p = put_product(curve, p, x, wire, negative);
        bench_mul(curve, value, c->witness + x * size, c->witness + x * size);
        bench_add(curve, value, value, step);
        x = wire;
    }
    c->r1cs.constraints_size = (size_t)(p - c->constraints);
}

enum status bench_circuit_make(const struct bench_job *job, struct bench_circuit *c)
{
    uint32_t n = (UINT32_C(1) << job->log2) - 2; /* with one public value: a full domain */
    size_t term = sizeof(uint32_t) + job->curve->fr_bytes;
    void *constraints = NULL, *witness = NULL;
    enum status st = bench_alloc(&constraints, n, 3 * sizeof(uint32_t) + 4 * term);
    if (st == ST_OK)
        st = bench_alloc(&witness, (size_t)n + 2, job->curve->fr_bytes);
    *c = (struct bench_circuit){
        .r1cs = {.curve = job->curve,
                 .path = "bench circuit",
                 .n_wires = n + 2,
                 .n_pub_out = 1,
                 .n_prv_in = 1,
                 .n_constraints = n,
                 .n_labels = (uint64_t)n + 2,
                 .constraints = constraints},
        .constraints = constraints,
        .witness = witness,
    };
    if (st != ST_OK)
        return st;
    progress_report(&job->session->line.progress, "prepare circuit", 0, 0);
    fill(job, c);
    if (job->curve->ops->first_unsatisfied(&c->r1cs, c->witness, job->session->pool) != UINT64_MAX)
        return fail(ST_INTERNAL, "bench circuit: not satisfied by its own witness");
    return ST_OK;
}

void bench_circuit_free(struct bench_circuit *c)
{
    free(c->constraints);
    free(c->witness);
}

static enum status measure(const struct bench_job *job, const struct groth16_key *key,
                           const uint8_t *witness, struct bench_result *out)
{
    struct groth16_vkey vk = {0};
    struct groth16_timings timings = {0};
    enum status st = job->curve->ops->vkey(key, &vk);
    out->correct = true;
    for (unsigned i = 0; st == ST_OK && i < job->repeat; i++) {
        struct groth16_randomness rs;
        struct groth16_proof proof;
        st = groth16_randomness_fresh(&rs, job->curve);
        double start = clock_ms();
        if (st == ST_OK)
            st = groth16_prove(key, witness, &rs, job->session->pool, &job->session->line.progress,
                               &timings, &proof);
        out->ms[i] = clock_ms() - start;
        if (st != ST_OK)
            break;
        out->correct &= groth16_verify(&vk, witness + job->curve->fr_bytes, &proof) == ST_OK;
    }
    if (st == ST_OK)
        out->stages = session_stages_json(&timings);
    groth16_vkey_fini(&vk);
    return st;
}

static bool same_proof(const struct groth16_proof *a, const struct groth16_proof *b)
{
    size_t fq = a->curve->fq_bytes;
    return memcmp(a->a, b->a, 2 * fq) == 0 && memcmp(a->b, b->b, 4 * fq) == 0 &&
           memcmp(a->c, b->c, 2 * fq) == 0;
}

/* Verifies, and for small circuits makes the proof again on the processor from the same r and s. */
static enum status check_device_proof(const struct bench_job *job, const struct embedded *e,
                                      const uint8_t *witness, const struct groth16_randomness *rs,
                                      const struct groth16_proof *proof, bool *correct)
{
    struct groth16_proof again;
    *correct &= embedded_verify(e, proof) == ST_OK;
    if (job->log2 > COMPARE_MAX_LOG2)
        return ST_OK;
    enum status st = groth16_prove(e->key, witness, rs, job->session->pool, NULL, NULL, &again);
    *correct &= st == ST_OK && same_proof(proof, &again);
    return st;
}

/* The key is resident and the vectors are in pinned memory: what is timed begins with their copy
 * and ends with the proof on the host. */
static enum status measure_device(const struct bench_job *job, const struct groth16_key *key,
                                  const uint8_t *witness, struct bench_result *out)
{
    struct embedded e = {.backend = NULL};
    struct groth16_timings timings = {0};
    double copy_ms = 0;
    enum status st = embedded_open(&e, job->backend, key);
    if (st == ST_OK)
        embedded_evaluate(&e, witness, job->session->pool, &timings);
    out->correct = true;
    for (unsigned i = 0; st == ST_OK && i < job->repeat + 1; i++) { /* the first one warms up */
        struct groth16_randomness rs;
        struct groth16_proof proof;
        timings = (struct groth16_timings){0};
        st = groth16_randomness_fresh(&rs, job->curve);
        double start = clock_ms();
        if (st == ST_OK)
            st = embedded_prove(&e, &rs, &job->session->line.progress, &timings, &copy_ms, &proof);
        out->ms[i > 0 ? i - 1 : 0] = clock_ms() - start;
        if (st == ST_OK)
            st = check_device_proof(job, &e, witness, &rs, &proof, &out->correct);
    }
    if (st == ST_OK) {
        out->stages = session_stages_json(&timings);
        json_object_set_new(out->stages, "copy", json_real(copy_ms));
    }
    embedded_close(&e);
    return st;
}

enum status bench_prove(const struct bench_job *job, struct bench_result *out)
{
    struct bench_circuit circuit;
    struct groth16_setup_output setup = {0};
    enum status st = bench_circuit_make(job, &circuit);
    if (st == ST_OK)
        st = groth16_setup_insecure(&circuit.r1cs, job->session->pool, &job->session->line.progress,
                                    &setup);
    if (st == ST_OK)
        st = backend_is_device(job->backend) ? measure_device(job, &setup.key, circuit.witness, out)
                                             : measure(job, &setup.key, circuit.witness, out);
    groth16_setup_output_fini(&setup);
    bench_circuit_free(&circuit);
    return st;
}
