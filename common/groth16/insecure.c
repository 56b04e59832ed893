#include <stdlib.h>

#include "common/groth16/r1cs.h"
#include "common/groth16/setup.h"

void groth16_setup_output_fini(struct groth16_setup_output *out)
{
    free(out->storage);
    *out = (struct groth16_setup_output){.storage = NULL};
}

uint64_t groth16_domain_size(uint64_t constraints, uint32_t n_public)
{
    uint64_t n = constraints + n_public;
    return n ? (uint64_t)1 << (64 - __builtin_clzll(n)) : 2;
}

void groth16_setup_known_secrets(const struct curve *curve, uint64_t domain,
                                 struct groth16_setup_secrets *out)
{
    curve->ops->known_secrets(domain, out);
}

enum status groth16_setup_insecure(const struct r1cs *r1cs, struct pool *pool,
                                   struct progress *progress, struct groth16_setup_output *out)
{
    struct groth16_setup_secrets secrets;
    groth16_setup_known_secrets(
        r1cs->curve, groth16_domain_size(r1cs->n_constraints, r1cs_n_public(r1cs)), &secrets);
    return r1cs->curve->ops->setup(r1cs, &secrets, pool, progress, out);
}
