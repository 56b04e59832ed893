/* Proofs on the device against the processor's, to the byte, for the circuits of tests/data (its
 * path is the first argument) from the same r and s; slices that must be refused; and many proofs
 * of alternating circuits, after which the device has as much memory as before. */
#include "tests/gpu/check.h"

#include <string.h>

#include "common/groth16/ops.h"
#include "gpud/embedded.h"
#include "synth/synthesis.h"

static const uint64_t seed = 20251202;

enum { PATH_BYTES = 512, CIRCUITS = 10, ALTERNATIONS = 1000, PAGE = 4096 };

static const char *const names[CIRCUITS] = {
    "bn128/mul2",    "bn128/nopub",    "bn128/nopriv",    "bn128/nocons",     "bn128/domexact",
    "bls12381/mul2", "bls12381/nopub", "bls12381/nopriv", "bls12381/domover", "bn128/domexact_new",
};

struct circuit {
    char key_path[PATH_BYTES], witness_path[PATH_BYTES];
    struct synthesis synthesis;
    struct wtns wtns;
    struct embedded cpu, cuda;
};

static struct pool *pool;

static bool exists(const char *path)
{
    FILE *f = fopen(path, "r");
    if (f)
        fclose(f);
    return f != NULL;
}

/* False if the circuit has no witness in the repository. */
static bool open_circuit(struct circuit *c, const char *data, const char *name, struct backend *cpu,
                         struct backend *cuda)
{
    struct groth16_timings t = {0};
    snprintf(c->key_path, PATH_BYTES, "%s/circom/%s/circuit.zkey", data, name);
    snprintf(c->witness_path, PATH_BYTES, "%s/circom/%s/witness.wtns", data, name);
    if (!exists(c->witness_path))
        return false;
    REQUIRE_OK(synthesis_open(&c->synthesis, c->key_path, NULL, pool));
    REQUIRE_OK(wtns_open(&c->wtns, c->witness_path));
    REQUIRE_OK(embedded_open(&c->cpu, cpu, &c->synthesis.zkey.key));
    REQUIRE_OK(embedded_open(&c->cuda, cuda, &c->synthesis.zkey.key));
    embedded_evaluate(&c->cpu, c->wtns.values, pool, &t);
    embedded_evaluate(&c->cuda, c->wtns.values, pool, &t);
    return true;
}

static void close_circuit(struct circuit *c)
{
    embedded_close(&c->cuda);
    embedded_close(&c->cpu);
    wtns_close(&c->wtns);
    synthesis_close(&c->synthesis);
}

static struct groth16_randomness randomness(uint64_t *rng)
{
    struct groth16_randomness rs = {{0}, {0}};
    for (int i = 0; i < 24; i++) { /* below every group order */
        rs.r[i] = (uint8_t)random_u64(rng);
        rs.s[i] = (uint8_t)random_u64(rng);
    }
    return rs;
}

static void compare(struct circuit *c, uint64_t *rng)
{
    struct groth16_timings t = {0};
    struct groth16_randomness rs = randomness(rng);
    struct groth16_proof a, b;
    double ms;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    REQUIRE_OK(embedded_prove(&c->cpu, &rs, NULL, &t, &ms, &a));
    REQUIRE_OK(embedded_prove(&c->cuda, &rs, NULL, &t, &ms, &b));
    size_t fq = a.curve->fq_bytes;
    REQUIRE(memcmp(a.a, b.a, 2 * fq) == 0);
    REQUIRE(memcmp(a.b, b.b, 4 * fq) == 0);
    REQUIRE(memcmp(a.c, b.c, 2 * fq) == 0);
    REQUIRE_OK(embedded_verify(&c->cuda, &b));
}

/* The vectors of a circuit in pieces of one page. */
static enum status copy_in_pages(struct embedded *e)
{
    uint64_t size = e->key->curve->fr_bytes, n = e->bytes / PAGE;
    struct piece *pieces = calloc(n, sizeof *pieces);
    REQUIRE(pieces);
    for (uint64_t i = 0; i < n; i++)
        pieces[i] = (struct piece){e->block + i * PAGE, i * PAGE, PAGE};
    const struct vectors v = {.w_bytes = e->key->n_vars * size,
                              .a_bytes = e->key->domain * size,
                              .b_bytes = e->key->domain * size,
                              .a_offset = e->a_offset,
                              .b_offset = e->b_offset,
                              .pieces = pieces,
                              .n_pieces = (uint32_t)n};
    enum status st = e->backend->ops->job_copy(e->backend, 0, e->loaded, &v);
    free(pieces);
    return st;
}

static void refuse(struct embedded *e, uint64_t at, const uint8_t *value, const char *message)
{
    uint8_t saved[CURVE_MAX_FR_BYTES];
    size_t size = e->key->curve->fr_bytes;
    memcpy(saved, e->block + at, size);
    memcpy(e->block + at, value, size);
    REQUIRE(copy_in_pages(e) == ST_INTERNAL);
    REQUIRE(strstr(status_message(), message));
    status_clear();
    memcpy(e->block + at, saved, size);
    REQUIRE_OK(copy_in_pages(e));
}

static void refusals(struct circuit *c)
{
    struct embedded *e = &c->cuda;
    const struct curve *curve = e->key->curve;
    const uint8_t two[CURVE_MAX_FR_BYTES] = {2};
    uint64_t last = (uint64_t)(e->key->n_vars - 1) * curve->fr_bytes;
    refuse(e, last, curve->fr_modulus, "w[");
    refuse(e, 0, two, "w[0] of the slice is not 1");
    refuse(e, e->a_offset, curve->fr_modulus, "a[0]");
    refuse(e, e->b_offset + (e->key->domain - 1) * curve->fr_bytes, curve->fr_modulus, "b[");
}

int main(int argc, char **argv)
{
    static struct circuit circuits[CIRCUITS];
    struct backend *cpu[CIRCUITS], *cuda[CIRCUITS];
    uint64_t rng = seed;
    int n = 0;
    REQUIRE(argc == 2);
    require_device();
    printf("seed %llu\n", (unsigned long long)seed);
    REQUIRE_OK(pool_create(&pool, 0));
    for (int i = 0; i < CIRCUITS; i++) {
        REQUIRE_OK(backend_cpu_create(&cpu[n], pool));
        REQUIRE_OK(backend_cuda_create(&cuda[n], 0));
        if (!open_circuit(&circuits[n], argv[1], names[i], cpu[n], cuda[n])) {
            backend_destroy(cpu[n]);
            backend_destroy(cuda[n]);
            continue;
        }
        compare(&circuits[n], &rng);
        refusals(&circuits[n]);
        compare(&circuits[n], &rng);
        printf("%s: the same proof\n", names[i]);
        n++;
    }
    REQUIRE(n > 1);
    size_t before, after, total;
    REQUIRE_CUDA(cudaMemGetInfo(&before, &total));
    for (int i = 0; i < ALTERNATIONS; i++)
        compare(&circuits[i % n], &rng);
    REQUIRE_CUDA(cudaMemGetInfo(&after, &total));
    REQUIRE(before == after);
    printf("%d proofs of %d circuits: the same, and all memory there\n", ALTERNATIONS, n);
    while (n-- > 0) {
        close_circuit(&circuits[n]);
        backend_destroy(cuda[n]);
        backend_destroy(cpu[n]);
    }
    pool_destroy(pool);
    return 0;
}
