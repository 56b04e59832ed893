/* Setup, evaluation, proof and verification together, on circuits of every shape that has been
 * trouble elsewhere. A proof must equal the one that follows from the secrets (oracle.h): on the
 * toy curves one wrong proof in 97 would pass the pairing. */
#include "tests/unit/oracle.h"

static const struct shape shapes[] = {
    /* constraints, outputs, public inputs, wires */
    {0, 0, 0, 1},                        /* nothing at all */
    {0, 1, 1, 5},                        /* no constraints */
    {1, 0, 0, 4},                        /* one constraint, no public values */
    {1, 1, 0, 2},                        /* all public */
    {5, 2, 3, 6},                        /* all public, more constraints */
    {6, 0, 1, 9},                        /* domain of 8 exactly filled */
    {7, 1, 0, 9},                        /* and just exceeded */
    {14, 1, 0, 11},                      /* domain of 16: the limit of toy_bls */
    {27, 2, 2, 40},                      /* domain of 32: the limit of toy_bn */
    {130, 3, 5, 200}, {500, 0, 12, 700}, /* domain of 1024 */
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const bool is_toy = FR_BITS < 64;

static struct groth16_randomness random_blinding(uint64_t seed)
{
    struct groth16_randomness rs = {{0}, {0}};
    fr r = circuit_value(&seed), s = circuit_value(&seed);
    fr_store(rs.r, &r);
    fr_store(rs.s, &s);
    return rs;
}

static uint64_t domain_of(struct shape s)
{
    return groth16_domain_size(s.constraints, s.pub_out + s.pub_in);
}

static bool fits(struct shape s)
{
    return domain_of(s) <= (uint64_t)1 << FR_TWO_ADICITY;
}

/* A circuit with its key and the proof of its witness. */
struct proved {
    struct circuit circuit;
    struct groth16_setup_output setup;
    struct groth16_setup_secrets secrets;
    struct groth16_randomness rs;
    struct groth16_proof proof;
    struct groth16_vkey vk;
    struct pool *pool;
};

static struct proved prove_on_domain(struct shape s, uint64_t domain, unsigned threads)
{
    struct proved p = {.circuit = circuit_create(s, 40 + s.wires), .pool = test_pool(threads)};
    p.rs = random_blinding(s.constraints);
    groth16_setup_known_secrets(&instance_curve, domain, &p.secrets);
    assert_int_equal(
        step_setup_on_domain(&p.circuit.r1cs, domain, &p.secrets, p.pool, NULL, &p.setup), ST_OK);
    enum status st = groth16_prove(&p.setup.key, p.circuit.w, &p.rs, p.pool, NULL, NULL, &p.proof);
    if (st != ST_OK)
        print_error("%s\n", status_message());
    assert_int_equal(st, ST_OK);
    assert_int_equal(instance_curve.ops->vkey(&p.setup.key, &p.vk), ST_OK);
    return p;
}

static struct proved prove_shape(struct shape s, unsigned threads)
{
    return prove_on_domain(s, domain_of(s), threads);
}

static void proved_fini(struct proved *p)
{
    groth16_vkey_fini(&p->vk);
    groth16_setup_output_fini(&p->setup);
    circuit_destroy(&p->circuit);
    pool_destroy(p->pool);
}

static void assert_fails(enum status got, enum status expected, const char *text)
{
    assert_int_equal(got, expected);
    if (!strstr(status_message(), text))
        print_error("\"%s\" lacks \"%s\"\n", status_message(), text);
    assert_non_null(strstr(status_message(), text));
    status_clear();
}

static void assert_proofs_equal(const struct groth16_proof *p, const struct groth16_proof *q)
{
    assert_memory_equal(p->a, q->a, sizeof(g1_affine));
    assert_memory_equal(p->b, q->b, sizeof(g2_affine));
    assert_memory_equal(p->c, q->c, sizeof(g1_affine));
}

static const uint8_t *publics_of(const struct proved *p)
{
    return p->circuit.w + FR_BYTES;
}

static void check_proved(const struct proved *p)
{
    struct groth16_proof expected =
        oracle_prove(&p->circuit, p->setup.key.domain, &p->secrets, &p->rs);
    assert_proofs_equal(&p->proof, &expected);
    assert_int_equal(groth16_verify(&p->vk, publics_of(p), &p->proof), ST_OK);
    assert_int_equal(instance_curve.ops->key_check(&p->setup.key, true, p->pool, NULL), ST_OK);
}

static void every_shape_proves(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        if (!fits(shapes[i]))
            continue;
        struct proved p = prove_shape(shapes[i], 2);
        check_proved(&p);
        proved_fini(&p);
    }
}

static void smallest_domains(void **state)
{
    (void)state;
    struct proved p = prove_on_domain((struct shape){0, 0, 0, 3}, 1, 2);
    check_proved(&p);
    proved_fini(&p);
    p = prove_on_domain((struct shape){1, 0, 0, 3}, 2, 2);
    check_proved(&p);
    proved_fini(&p);
}

static void beyond_the_limit(void **state)
{
    (void)state;
    struct pool *pool = test_pool(1);
    struct groth16_setup_output out;
    struct groth16_setup_secrets secrets;
    groth16_setup_known_secrets(&instance_curve, 2, &secrets);
    struct circuit c = circuit_create((struct shape){1, 0, 0, 2}, 5);
    assert_fails(
        step_setup_on_domain(&c.r1cs, (uint64_t)2 << FR_TWO_ADICITY, &secrets, pool, NULL, &out),
        ST_INPUT, "beyond the limit");
    for (size_t i = 0; i < SHAPES; i++) {
        if (fits(shapes[i]))
            continue;
        struct circuit large = circuit_create(shapes[i], 6);
        assert_fails(groth16_setup_insecure(&large.r1cs, pool, NULL, &out), ST_INPUT,
                     "beyond the limit");
        circuit_destroy(&large);
    }
    circuit_destroy(&c);
    pool_destroy(pool);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    struct shape s = is_toy ? shapes[7] : shapes[10];
    struct proved one = prove_shape(s, 1), two = prove_shape(s, 2), five = prove_shape(s, 5);
    assert_proofs_equal(&one.proof, &two.proof);
    assert_proofs_equal(&one.proof, &five.proof);
    size_t coefs = one.setup.key.n_coefs * (GROTH16_COEF_HEADER + FR_BYTES);
    assert_memory_equal(one.setup.key.coefs, five.setup.key.coefs, coefs);
    assert_memory_equal(one.setup.key.h, five.setup.key.h,
                        one.setup.key.domain * sizeof(g1_affine));
    proved_fini(&one);
    proved_fini(&two);
    proved_fini(&five);
}

/* Coefficients that are not reduced mean the same. */
static void coefficients_beyond_the_order(void **state)
{
    (void)state;
    struct proved p = prove_shape(shapes[7], 2);
    struct groth16_key key = p.setup.key;
    size_t record = GROTH16_COEF_HEADER + FR_BYTES;
    uint8_t *coefs = malloc(key.n_coefs * record);
    assert_non_null(coefs);
    memcpy(coefs, key.coefs, key.n_coefs * record);
    for (size_t i = 0; i < key.n_coefs; i++) {
        uint8_t *value = coefs + i * record + GROTH16_COEF_HEADER;
        fr k;
        unsigned char carry = 0;
        fr_load(&k, value);
        for (int l = 0; l < FR_LIMBS; l++)
            carry = limb_add(carry, k.l[l], fr_modulus.l[l], &k.l[l]);
        assert_int_equal(carry, 0);
        fr_store(value, &k);
    }
    key.coefs = coefs;
    struct groth16_proof proof;
    assert_int_equal(groth16_prove(&key, p.circuit.w, &p.rs, p.pool, NULL, NULL, &proof), ST_OK);
    assert_proofs_equal(&proof, &p.proof);
    free(coefs);
    proved_fini(&p);
}

static void blinding_changes_the_proof(void **state)
{
    (void)state;
    if (is_toy)
        skip();
    struct proved p = prove_shape(shapes[5], 2);
    struct groth16_randomness fresh;
    struct groth16_proof proof;
    assert_int_equal(groth16_randomness_fresh(&fresh, &instance_curve), ST_OK);
    assert_int_equal(groth16_prove(&p.setup.key, p.circuit.w, &fresh, p.pool, NULL, NULL, &proof),
                     ST_OK);
    assert_memory_not_equal(proof.a, p.proof.a, sizeof(g1_affine));
    assert_memory_not_equal(proof.b, p.proof.b, sizeof(g2_affine));
    assert_memory_not_equal(proof.c, p.proof.c, sizeof(g1_affine));
    assert_int_equal(groth16_verify(&p.vk, publics_of(&p), &proof), ST_OK);
    proved_fini(&p);
}

/* Proving must fail with both suspects named, and leave out alone. */
static void assert_prove_refuses(const struct proved *p, const struct groth16_key *key,
                                 const uint8_t *w)
{
    struct groth16_proof out, before;
    memset(&before, 0x5a, sizeof before);
    out = before;
    enum status st = groth16_prove(key, w, &p->rs, p->pool, NULL, NULL, &out);
    assert_fails(st, ST_INPUT, "--r1cs");
    assert_memory_equal(&out, &before, sizeof out);
}

static void wrong_witness(void **state)
{
    (void)state;
    if (is_toy)
        skip();
    struct proved p = prove_shape(shapes[9], 2);
    fr five = {{5}};
    for (uint32_t wire = 1, refused = 0; refused < 3; wire++) {
        assert_true(wire < p.circuit.r1cs.n_wires);
        uint8_t *value = p.circuit.w + wire * sizeof(fr), before[FR_BYTES];
        memcpy(before, value, FR_BYTES);
        fr_store(value, &five);
        if (step_first_unsatisfied(&p.circuit.r1cs, p.circuit.w, p.pool) != UINT64_MAX) {
            assert_prove_refuses(&p, &p.setup.key, p.circuit.w);
            refused++;
        }
        memcpy(value, before, FR_BYTES);
    }
    proved_fini(&p);
}

static size_t first_wire_in_use(const struct proved *p, size_t from)
{
    fr w;
    do
        fr_load(&w, p->circuit.w + from++ * FR_BYTES);
    while (fr_is_zero(&w));
    return from - 1;
}

/* 2 G as a stored point */
static void put_double(uint8_t *place, bool in_g2)
{
    if (in_g2) {
        g2 p;
        g2_affine a;
        g2_from_affine(&p, &g2_generator);
        g2_double(&p, &p);
        g2_to_affine(&a, &p);
        g2_store(place, &a);
    } else {
        g1 p;
        g1_affine a;
        g1_from_affine(&p, &g1_generator);
        g1_double(&p, &p);
        g1_to_affine(&a, &p);
        g1_store(place, &a);
    }
}

/* One sound point in the place of another, in every section that a proof of this witness uses. */
static void damaged_points(void **state)
{
    (void)state;
    if (is_toy)
        skip();
    struct proved p = prove_shape(shapes[9], 2);
    const struct groth16_key *key = &p.setup.key;
    uint8_t *storage = p.setup.storage;
    size_t wire = first_wire_in_use(&p, 1), hidden = first_wire_in_use(&p, key->n_public + 1);
    const struct {
        const uint8_t *place;
        bool g2;
    } points[] = {
        {key->alpha1, false},
        {key->beta1, false},
        {key->delta1, false},
        {key->beta2, true},
        {key->gamma2, true},
        {key->delta2, true},
        {key->ic, false},
        {key->ic + first_wire_in_use(&p, 1) * sizeof(g1_affine), false},
        {key->a + wire * sizeof(g1_affine), false},
        {key->b1 + wire * sizeof(g1_affine), false},
        {key->b2 + wire * sizeof(g2_affine), true},
        {key->c + (hidden - key->n_public - 1) * sizeof(g1_affine), false},
        {key->h + (key->domain - 1) * sizeof(g1_affine), false},
    };
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        uint8_t *place = storage + (points[i].place - storage), before[sizeof(g2_affine)];
        memcpy(before, place, sizeof before);
        put_double(place, points[i].g2);
        assert_prove_refuses(&p, key, p.circuit.w);
        memcpy(place, before, sizeof before);
    }
    proved_fini(&p);
}

static void other_public_values(void **state)
{
    (void)state;
    if (is_toy)
        skip();
    struct proved p = prove_shape(shapes[9], 2);
    uint32_t n = p.setup.key.n_public;
    uint8_t *publics = malloc((size_t)n * FR_BYTES);
    assert_non_null(publics);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(publics, publics_of(&p), n * sizeof(fr));
        fr x = oracle_load(publics + i * sizeof(fr));
        fr_add(&x, &x, &fr_one);
        fr_to_canonical(&x, &x);
        fr_store(publics + i * sizeof(fr), &x);
        assert_fails(groth16_verify(&p.vk, publics, &p.proof), ST_INVALID, "pairing");
        fr_store(publics + i * sizeof(fr), &fr_modulus);
        assert_fails(groth16_verify(&p.vk, publics, &p.proof), ST_INVALID, "group order");
    }
    free(publics);
    proved_fini(&p);
}

/* The swapped or negated proof is another statement. */
static void other_proofs(void **state)
{
    (void)state;
    if (is_toy)
        skip();
    struct proved p = prove_shape(shapes[5], 2);
    struct groth16_proof bad = p.proof;
    memcpy(bad.a, p.proof.c, sizeof(g1_affine));
    assert_fails(groth16_verify(&p.vk, publics_of(&p), &bad), ST_INVALID, "pairing");
    bad = p.proof;
    memset(bad.c, 0, sizeof(g1_affine));
    assert_fails(groth16_verify(&p.vk, publics_of(&p), &bad), ST_INVALID, "pairing");
    proved_fini(&p);
}

static void memory_stays_within_eight_vectors(void **state)
{
    (void)state;
    if (is_toy)
        skip();
    struct pool *pool = test_pool(2);
    const struct groth16_key key = {
        .curve = &instance_curve, .n_vars = 1 << 18, .n_public = 2, .domain = 1 << 18};
    size_t vector = key.domain * FR_BYTES;
    assert_true(groth16_prove_memory(&key, pool) <= 8 * vector);
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_proves),
        cmocka_unit_test(smallest_domains),
        cmocka_unit_test(beyond_the_limit),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(coefficients_beyond_the_order),
        cmocka_unit_test(blinding_changes_the_proof),
        cmocka_unit_test(wrong_witness),
        cmocka_unit_test(damaged_points),
        cmocka_unit_test(other_public_values),
        cmocka_unit_test(other_proofs),
        cmocka_unit_test(memory_stays_within_eight_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
