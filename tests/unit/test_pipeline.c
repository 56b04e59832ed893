/* The pipeline with the processor as device, behind a wrapper that spoils proofs on demand. */
#include "tests/unit/test.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpud/pipeline.h"
#include "tests/unit/container.h"
#include "tests/unit/prove_fixture.h"
#include "tests/unit/scratch.h"

#define MUL2_ZKEY FIXTURE_FILE("bn128", "mul2", "circuit.zkey")
#define MUL2_WTNS FIXTURE_FILE("bn128", "mul2", "witness.wtns")
#define BLS_ZKEY FIXTURE_FILE("bls12381", "domover", "circuit.zkey")
#define BLS_WTNS FIXTURE_FILE("bls12381", "domover", "witness.wtns")
#define SEED                                                                                       \
    "0000000000000000000000000000000000000000000000000000000000000005"                             \
    "0000000000000000000000000000000000000000000000000000000000000007"

enum { WAIT_MS = 10000 };

/* ---- a device that lies ---- */

struct lying {
    struct backend base;
    struct backend *real;
    unsigned lies; /* how many of the next proofs are wrong */
    unsigned proofs;
    uint8_t lie; /* what is put into the proof's first byte */
    sem_t *gate; /* a proof waits for it; NULL: none */
};

static struct backend *real_of(const struct backend *b)
{
    return ((const struct lying *)b)->real;
}

static uint64_t lying_bytes(const struct backend *b, const struct groth16_key *key)
{
    return real_of(b)->ops->key_bytes(real_of(b), key);
}

static enum status lying_load(struct backend *b, struct backend_key **out,
                              const struct groth16_key *key)
{
    return real_of(b)->ops->key_load(real_of(b), out, key);
}

static void lying_unload(struct backend *b, struct backend_key *key)
{
    real_of(b)->ops->key_unload(real_of(b), key);
}

static enum status lying_reserve(struct backend *b, unsigned lane, const struct backend_key *key)
{
    return real_of(b)->ops->lane_reserve(real_of(b), lane, key);
}

static enum status lying_copy(struct backend *b, unsigned lane, const struct backend_key *key,
                              const struct vectors *v)
{
    return real_of(b)->ops->job_copy(real_of(b), lane, key, v);
}

static enum status lying_prove(struct backend *b, unsigned lane, const struct backend_key *key,
                               const struct groth16_randomness *rs, struct progress *progress,
                               struct groth16_timings *timings, struct groth16_proof *out,
                               uint8_t *publics)
{
    struct lying *l = (struct lying *)b;
    if (l->gate)
        sem_wait(l->gate);
    enum status st =
        l->real->ops->job_prove(l->real, lane, key, rs, progress, timings, out, publics);
    l->proofs++;
    if (l->lies > 0) {
        l->lies--;
        out->c[0] ^= l->lie;
    }
    return st;
}

static const struct backend_ops lying_ops = {
    .key_bytes = lying_bytes,
    .key_load = lying_load,
    .key_unload = lying_unload,
    .lane_reserve = lying_reserve,
    .job_copy = lying_copy,
    .job_prove = lying_prove,
};

struct rig {
    struct prove_fixture f;
    struct pool *pools[3];
    struct backend *real[2];
    struct lying device, second;
    struct keys *keys;
    struct pipeline *pipeline;
};

static void rig_init(struct rig *r, unsigned lies, unsigned second_lies)
{
    prove_fixture_init(&r->f);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pool_create(&r->pools[i], 1), ST_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(backend_cpu_create(&r->real[i], r->pools[i]), ST_OK);
    r->device = (struct lying){
        .base = {.ops = &lying_ops, .name = "lying"}, .real = r->real[0], .lies = lies, .lie = 1};
    r->second = (struct lying){.base = {.ops = &lying_ops, .name = "second"},
                               .real = r->real[1],
                               .lies = second_lies,
                               .lie = 2};
    assert_int_equal(keys_create(&r->keys, &r->device.base, 1 << 30), ST_OK);
    const struct pipeline_parts parts = {&r->device.base, &r->second.base, r->keys, r->pools[2]};
    assert_int_equal(pipeline_create(&r->pipeline, &parts), ST_OK);
}

static void rig_fini(struct rig *r)
{
    pipeline_destroy(r->pipeline);
    keys_destroy(r->keys);
    for (int i = 0; i < 2; i++)
        backend_destroy(r->real[i]);
    for (int i = 0; i < 3; i++)
        pool_destroy(r->pools[i]);
    prove_fixture_fini(&r->f);
}

static void add(struct rig *r, const char *circuit, const char *zkey, struct slice_record *record,
                uint32_t slot)
{
    const struct pipeline_job job = {.handle = {slot, record->generation},
                                     .id = circuit,
                                     .circuit = circuit,
                                     .key_path = zkey,
                                     .seed = SEED,
                                     .record = record,
                                     .base = r->f.map.base};
    assert_int_equal(pipeline_add(r->pipeline, &job), ST_OK);
}

/* The next event; fails the test when none comes. */
static struct pipeline_event next_event(struct rig *r)
{
    struct pipeline_event e;
    if (!pipeline_event(r->pipeline, &e)) {
        pipeline_wait(r->pipeline, WAIT_MS);
        assert_true(pipeline_event(r->pipeline, &e));
    }
    return e;
}

static struct pipeline_event ended(struct rig *r)
{
    struct pipeline_event e = next_event(r);
    while (e.kind != PIPELINE_ENDED)
        e = next_event(r);
    return e;
}

/* One job of mul2 through a device and a second backend that lie so often. */
static struct pipeline_event run_mul2(struct rig *r, struct slice_record *record)
{
    prove_fixture_slice(&r->f, record, MUL2_ZKEY, MUL2_WTNS, 1);
    add(r, "mul2", MUL2_ZKEY, record, 0);
    return ended(r);
}

/* ---- tests ---- */

static void jobs_of_both_curves_are_proved(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record a, b;
    unsigned copied = 0, proved = 0;
    rig_init(&r, 0, 0);
    prove_fixture_slice(&r.f, &a, MUL2_ZKEY, MUL2_WTNS, 1);
    prove_fixture_slice(&r.f, &b, BLS_ZKEY, BLS_WTNS, 1);
    add(&r, "mul2", MUL2_ZKEY, &a, 0);
    add(&r, "domover", BLS_ZKEY, &b, 1);
    add(&r, "mul2", MUL2_ZKEY, &a, 2);
    add(&r, "domover", BLS_ZKEY, &b, 3);
    assert_int_equal(pipeline_room(r.pipeline), 0);
    while (proved < PIPELINE_JOBS) {
        struct pipeline_event e = next_event(&r);
        copied += e.kind == PIPELINE_COPIED;
        if (e.kind != PIPELINE_ENDED)
            continue;
        bool bls = e.handle.slot % 2;
        assert_int_equal(e.outcome, PIPELINE_PROVED);
        assert_false(e.device_fault);
        assert_true(prove_fixture_verifies(bls ? BLS_ZKEY : MUL2_ZKEY, e.proof, e.publics));
        pipeline_forget(r.pipeline, e.handle);
        proved++;
    }
    assert_int_equal(copied, PIPELINE_JOBS);
    assert_int_equal(pipeline_room(r.pipeline), PIPELINE_JOBS);
    assert_int_equal(r.second.proofs, 0);
    rig_fini(&r);
}

static void one_wrong_proof_is_made_again(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 1, 0);
    struct pipeline_event e = run_mul2(&r, &record);
    assert_int_equal(e.outcome, PIPELINE_PROVED);
    assert_true(e.device_fault);
    assert_true(prove_fixture_verifies(MUL2_ZKEY, e.proof, e.publics));
    assert_int_equal(r.second.proofs, 1);
    assert_int_equal(pipeline_totals(r.pipeline).device_faults, 1);
    rig_fini(&r);
}

/* r and s are the job's: the second proof has the bytes that the first should have had. */
static void made_again_with_the_same_randomness(void **state)
{
    (void)state;
    char *texts[2];
    for (unsigned lies = 0; lies < 2; lies++) {
        struct rig r;
        struct slice_record record;
        rig_init(&r, lies, 0);
        struct pipeline_event e = run_mul2(&r, &record);
        texts[lies] = strdup(e.proof);
        rig_fini(&r);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

static void the_same_wrong_proof_twice_is_bad_input(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 0, 0);
    prove_fixture_slice(&r.f, &record, MUL2_ZKEY, MUL2_WTNS, 1);
    prove_fixture_spoil(&r.f, &record, 32); /* w[1], a public value: satisfies nothing now */
    add(&r, "mul2", MUL2_ZKEY, &record, 0);
    struct pipeline_event e = ended(&r);
    assert_int_equal(e.outcome, PIPELINE_INPUT);
    assert_false(e.device_fault);
    assert_null(e.proof);
    assert_non_null(strstr(e.message, "witness"));
    assert_int_equal(r.second.proofs, 1);
    rig_fini(&r);
}

static void different_wrong_proofs_are_a_device_fault(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 1, 1);
    struct pipeline_event e = run_mul2(&r, &record);
    assert_int_equal(e.outcome, PIPELINE_DEVICE);
    assert_true(e.device_fault);
    assert_null(e.proof);
    assert_non_null(strstr(e.message, "lying gave a wrong proof"));
    rig_fini(&r);
}

/* Out-of-range values in the slice never reach the arithmetic. */
static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 0, 0);
    prove_fixture_slice(&r.f, &record, MUL2_ZKEY, MUL2_WTNS, 1);
    struct arena_map map;
    assert_int_equal(arena_map_slice(&map, r.f.arena, record.extent, record.w_extents, ARENA_WRITE),
                     ST_OK);
    memset((uint8_t *)map.base + 64, 0xff, 32);
    arena_unmap(&map);
    add(&r, "mul2", MUL2_ZKEY, &record, 0);
    struct pipeline_event e = ended(&r);
    assert_int_equal(e.outcome, PIPELINE_INTERNAL);
    assert_non_null(strstr(e.message, "w[2]"));
    rig_fini(&r);
}

static void sizes_of_another_circuit_are_refused(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 0, 0);
    prove_fixture_slice(&r.f, &record, BLS_ZKEY, BLS_WTNS, 1);
    add(&r, "mul2", MUL2_ZKEY, &record, 0);
    struct pipeline_event e = ended(&r);
    assert_int_equal(e.outcome, PIPELINE_INTERNAL);
    assert_non_null(strstr(e.message, "other sizes"));
    rig_fini(&r);
}

static void a_missing_key_fails_its_job_alone(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 0, 0);
    prove_fixture_slice(&r.f, &record, MUL2_ZKEY, MUL2_WTNS, 1);
    add(&r, "gone", "/no/such.zkey", &record, 0);
    struct pipeline_event e = ended(&r);
    assert_int_equal(e.outcome, PIPELINE_INPUT);
    assert_non_null(strstr(e.message, "/no/such.zkey"));
    pipeline_forget(r.pipeline, e.handle);
    add(&r, "mul2", MUL2_ZKEY, &record, 1);
    assert_int_equal(ended(&r).outcome, PIPELINE_PROVED);
    rig_fini(&r);
}

/* Given back means: not read again. The proof made again comes from w then, whatever a and b are.
 */
static void lean_jobs_are_made_again_from_the_witness(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    struct arena_map map;
    sem_t gate;
    sem_init(&gate, 0, 0);
    rig_init(&r, 1, 0);
    r.device.gate = &gate;
    prove_fixture_slice(&r.f, &record, BLS_ZKEY, BLS_WTNS, 1);
    add(&r, "domover", BLS_ZKEY, &record, 0);
    struct pipeline_event e = next_event(&r);
    assert_int_equal(e.kind, PIPELINE_COPIED);
    assert_true(pipeline_give_back(r.pipeline, e.handle));
    assert_int_equal(arena_map_slice(&map, r.f.arena, record.extent + record.w_extents,
                                     record.abc_extents, ARENA_WRITE),
                     ST_OK);
    memset(map.base, 0xee, map.bytes);
    arena_unmap(&map);
    sem_post(&gate);
    e = ended(&r);
    assert_int_equal(e.outcome, PIPELINE_PROVED);
    assert_true(e.device_fault);
    assert_true(prove_fixture_verifies(BLS_ZKEY, e.proof, e.publics));
    rig_fini(&r);
    sem_destroy(&gate);
}

static void only_copied_slices_are_given_back(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 0, 0);
    assert_false(pipeline_give_back(r.pipeline, (struct handle){7, 1}));
    struct pipeline_event e = run_mul2(&r, &record);
    assert_false(pipeline_give_back(r.pipeline, e.handle)); /* ended: all of it is free soon */
    pipeline_forget(r.pipeline, e.handle);
    rig_fini(&r);
}

static void a_draining_pipeline_starts_nothing(void **state)
{
    (void)state;
    struct rig r;
    struct slice_record record;
    rig_init(&r, 0, 0);
    prove_fixture_slice(&r.f, &record, MUL2_ZKEY, MUL2_WTNS, 1);
    pipeline_drain(r.pipeline);
    add(&r, "mul2", MUL2_ZKEY, &record, 0);
    add(&r, "mul2", MUL2_ZKEY, &record, 0); /* told twice: the same job */
    assert_int_equal(pipeline_room(r.pipeline), PIPELINE_JOBS - 1);
    assert_false(pipeline_busy(r.pipeline));
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_of_both_curves_are_proved),
        cmocka_unit_test(one_wrong_proof_is_made_again),
        cmocka_unit_test(made_again_with_the_same_randomness),
        cmocka_unit_test(the_same_wrong_proof_twice_is_bad_input),
        cmocka_unit_test(different_wrong_proofs_are_a_device_fault),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(sizes_of_another_circuit_are_refused),
        cmocka_unit_test(a_missing_key_fails_its_job_alone),
        cmocka_unit_test(lean_jobs_are_made_again_from_the_witness),
        cmocka_unit_test(only_copied_slices_are_given_back),
        cmocka_unit_test(a_draining_pipeline_starts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
