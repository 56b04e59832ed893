#include <stdlib.h>

#include "common/ec/msm.h"
#include "common/groth16/fixed_base.h"
#include "common/groth16/steps.h"
#include "common/poly/ntt.h"

static void *allocate(size_t n)
{
    return aligned_alloc(64, (n + 64) / 64 * 64);
}

enum status step_bench_msm(enum msm_group group, const uint8_t *bases, const uint8_t *scalars,
                           size_t n, struct pool *pool, uint8_t *r)
{
    if (n > MSM_MAX_TERMS)
        return fail(ST_INPUT, "a sum of %zu points: at most %zu are supported", n, MSM_MAX_TERMS);
    size_t size = group == MSM_G1 ? msm_g1_scratch(n, pool) : msm_g2_scratch(n, pool);
    void *scratch = allocate(size);
    if (!scratch)
        return fail(ST_RESOURCE, "no memory for a sum of %zu points", n);
    if (group == MSM_G1) {
        g1 sum;
        g1_affine p;
        msm_g1(&sum, bases, scalars, n, scratch, pool);
        g1_to_affine(&p, &sum);
        g1_store(r, &p);
    } else {
        g2 sum;
        g2_affine p;
        msm_g2(&sum, bases, scalars, n, scratch, pool);
        g2_to_affine(&p, &sum);
        g2_store(r, &p);
    }
    free(scratch);
    return ST_OK;
}

enum status step_bench_points(enum msm_group group, size_t n, struct pool *pool, uint8_t *out)
{
    fr *k = allocate(n * sizeof *k);
    void *table =
        allocate(group == MSM_G1 ? sizeof(struct fixed_base_g1) : sizeof(struct fixed_base_g2));
    enum status st = k && table ? ST_OK : fail(ST_RESOURCE, "no memory for %zu points", n);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        fr_from_u64(&k[i], i + 1);
    if (st == ST_OK && group == MSM_G1) {
        fixed_base_g1_init(table, pool);
        fixed_base_g1_multiples(table, out, k, n, pool);
    } else if (st == ST_OK) {
        fixed_base_g2_init(table, pool);
        fixed_base_g2_multiples(table, out, k, n, pool);
    }
    free(table);
    free(k);
    return st;
}

enum status step_bench_ntt(void *elements, unsigned log2n, bool inverse, struct pool *pool)
{
    if (log2n > FR_TWO_ADICITY)
        return fail(ST_INPUT, "2^%u is beyond the field's limit of 2^%d", log2n, FR_TWO_ADICITY);
    struct ntt_domain d;
    fr *table = allocate(ntt_table_elements(log2n) * sizeof *table);
    if (!table)
        return fail(ST_RESOURCE, "no memory for a transform of 2^%u", log2n);
    enum status st = ntt_domain_init(&d, log2n, NTT_ROOT_SNARKJS, table, pool);
    if (st == ST_OK && inverse)
        ntt_inverse(&d, elements, pool);
    else if (st == ST_OK)
        ntt_forward(&d, elements, pool);
    free(table);
    return st;
}
