/* The circuit store: what is added, what is refused, what survives. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sha256.h"
#include "shm/store.h"
#include "tests/unit/scratch.h"

/* A key of the tests begins with "key"; one that begins with "slow" is checked for ever. */
static sem_t slow;

static enum status inspect(struct circuit_shape *out, const char *key, const char *r1cs)
{
    char text[8] = "", folder[512];
    struct stat info;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(key, '/') - key), key);
    CHECK(stat(folder, &info) == 0);
    if ((info.st_mode & 077) != 0) /* it may be any file of this user's, until it is looked at */
        return fail(ST_INTERNAL, "%s: is open to others already", folder);
    FILE *f = fopen(key, "r");
    size_t n = f ? fread(text, 1, 4, f) : 0;
    if (f)
        (void)fclose(f);
    if (n == 4 && strcmp(text, "slow") == 0)
        (void)sem_wait(&slow);
    if (strncmp(text, "key", 3) != 0 && strcmp(text, "slow") != 0)
        return fail(ST_INPUT, "%s: is no key", key);
    *out = (struct circuit_shape){.curve = "bn254",
                                  .variables = 7,
                                  .publics = 2,
                                  .constraints = 5,
                                  .domain = 8,
                                  .w_bytes = 224,
                                  .a_bytes = 256,
                                  .b_bytes = 256,
                                  .memory = r1cs ? 2000 : 1000};
    return ST_OK;
}

static sem_t woken;

static void wake(void *arg)
{
    (void)arg;
    (void)sem_post(&woken);
}

struct fixture {
    void *dir;
    struct store *store;
    char store_dir[256], key[256], other[256], bad[256];
};

static void reopen(struct fixture *f)
{
    store_close(f->store);
    assert_int_equal(store_open(&f->store, f->store_dir, inspect, wake, NULL), ST_OK);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    log_set_level(LEVEL_ERROR);
    assert_int_equal(sem_init(&woken, 0, 0) | sem_init(&slow, 0, 0), 0);
    assert_int_equal(scratch_setup(&f->dir), 0);
    snprintf(f->store_dir, sizeof f->store_dir, "%s", scratch_path(&f->dir, "circuits"));
    snprintf(f->key, sizeof f->key, "%s", scratch_path(&f->dir, "a.key"));
    snprintf(f->other, sizeof f->other, "%s", scratch_path(&f->dir, "b.key"));
    snprintf(f->bad, sizeof f->bad, "%s", scratch_path(&f->dir, "bad.key"));
    scratch_write(f->key, "key one", 7);
    scratch_write(f->other, "key two!", 8);
    scratch_write(f->bad, "nonsense", 8);
    reopen(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    void *dir = f->dir;
    store_close(f->store);
    free(f);
    return scratch_teardown(&dir);
}

/* Repeats the addition, as clients do, until it ends. */
static enum status add(struct fixture *f, const char *name, const char *key, const char *r1cs)
{
    enum store_progress progress = STORE_ADDING;
    enum status st = store_add(f->store, &progress, name, key, r1cs);
    while (st == ST_OK && progress == STORE_ADDING) {
        (void)sem_wait(&woken);
        st = store_add(f->store, &progress, name, key, r1cs);
    }
    return st;
}

static void refused(enum status st, const char *text)
{
    assert_int_equal(st, ST_INPUT);
    assert_non_null(strstr(status_message(), text));
    status_clear();
}

static void keeps_a_copy(void **state)
{
    struct fixture *f = *state;
    char path[512];
    uint8_t digest[32];
    struct sha256 h;
    struct stat info;
    assert_int_equal(add(f, "one", f->key, f->other), ST_OK);
    scratch_write(f->key, "key changed", 11); /* the store does not care */
    for (int i = 0; i < 2; i++) {
        const struct circuit *c = store_find(f->store, "one");
        assert_non_null(c);
        assert_string_equal(c->shape.curve, "bn254");
        assert_int_equal(c->shape.variables, 7);
        assert_int_equal(c->shape.publics, 2);
        assert_int_equal(c->shape.w_bytes, 224);
        assert_int_equal(c->shape.memory, 2000);
        assert_int_equal(c->key_bytes, 7);
        assert_true(c->has_r1cs);
        sha256_init(&h);
        sha256_update(&h, "key one", 7);
        sha256_final(&h, digest);
        assert_memory_equal(c->sha256, digest, sizeof digest);
        assert_memory_equal(&c->tag, digest, sizeof c->tag);
        assert_int_equal(store_key_path(f->store, path, sizeof path, "one"), ST_OK);
        assert_true(scratch_holds(path, "key one"));
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0444);
        assert_int_equal(store_r1cs_path(f->store, path, sizeof path, "one"), ST_OK);
        assert_true(scratch_holds(path, "key two!"));
        reopen(f);
    }
    assert_null(store_at(f->store, 1));
}

static void adding_again(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(add(f, "one", f->key, NULL), ST_OK);
    assert_int_equal(add(f, "one", f->key, NULL), ST_OK); /* the same request, repeated */
    reopen(f);
    assert_int_equal(add(f, "one", f->key, NULL), ST_OK);
    refused(add(f, "one", f->other, NULL), "another key");
    assert_int_equal(add(f, "two", f->other, NULL), ST_OK);
    assert_string_equal(store_at(f->store, 0)->name, "one");
    assert_string_equal(store_at(f->store, 1)->name, "two");
    assert_int_equal(store_remove(f->store, "one"), ST_OK);
    refused(store_remove(f->store, "one"), "none of this name");
    assert_int_equal(add(f, "one", f->other, NULL), ST_OK);
    assert_int_equal(store_find(f->store, "one")->key_bytes, 8);
}

static void refuses(void **state)
{
    struct fixture *f = *state;
    char pipe[256];
    snprintf(pipe, sizeof pipe, "%s", scratch_path(&f->dir, "pipe"));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    refused(add(f, "bad", f->bad, NULL), "is no key");
    assert_null(store_find(f->store, "bad"));
    refused(add(f, "bad", f->bad, NULL), "is no key"); /* tried again, told again */
    refused(add(f, "a/b", f->key, NULL), "circuit name");
    refused(add(f, ".hidden", f->key, NULL), "circuit name");
    refused(add(f, "x", "relative", NULL), "absolute");
    refused(add(f, "x", f->key, "relative"), "absolute");
    refused(add(f, "x", "/does/not/exist", NULL), "/does/not/exist");
    refused(add(f, "x", pipe, NULL), "regular file");
    refused(add(f, "x", (const char *)f->dir, NULL), "regular file");
    refused(add(f, "x", f->key, f->store_dir), "regular file");
    assert_null(store_at(f->store, 0));
    reopen(f); /* and nothing is left behind */
    assert_int_equal(scratch_count((void *const *)&(void *){f->store_dir}), 0);
}

static void one_at_a_time(void **state)
{
    struct fixture *f = *state;
    enum store_progress progress = STORE_READY;
    scratch_write(f->bad, "slow", 4);
    assert_int_equal(store_add(f->store, &progress, "slow", f->bad, NULL), ST_OK);
    assert_int_equal(progress, STORE_ADDING);
    assert_int_equal(store_add(f->store, &progress, "one", f->key, NULL), ST_OK);
    assert_int_equal(progress, STORE_ADDING);
    assert_null(store_find(f->store, "slow"));
    (void)sem_post(&slow);
    assert_int_equal(add(f, "slow", f->bad, NULL), ST_OK);
    assert_int_equal(add(f, "one", f->key, NULL), ST_OK);
}

static void sweeps_at_start(void **state)
{
    struct fixture *f = *state;
    char path[512];
    assert_int_equal(add(f, "one", f->key, NULL), ST_OK);
    assert_int_equal(add(f, "two", f->other, NULL), ST_OK);
    snprintf(path, sizeof path, "%s/.half~", f->store_dir);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/.half~/key.zkey", f->store_dir);
    scratch_write(path, "key", 3);
    snprintf(path, sizeof path, "%s/two/meta.json", f->store_dir);
    assert_int_equal(unlink(path), 0);
    scratch_write(path, "{\"version\":1,\"name\":\"two\"}", 26);
    reopen(f);
    assert_non_null(store_find(f->store, "one"));
    assert_null(store_find(f->store, "two")); /* damaged: left out, not trusted */
    snprintf(path, sizeof path, "%s/.half~", f->store_dir);
    assert_int_equal(access(path, F_OK), -1);
}

/* Half of a removal leaves nothing under the name, and does not stop the next start. */
static void removes_in_one_step(void **state)
{
    struct fixture *f = *state;
    char path[512];
    struct stat info;
    assert_int_equal(add(f, "one", f->key, NULL), ST_OK);
    snprintf(path, sizeof path, "%s/one", f->store_dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0755);
    snprintf(path, sizeof path, "%s/one/folder", f->store_dir); /* which is not removed */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(store_remove(f->store, "one"), ST_OK);
    assert_null(store_find(f->store, "one"));
    reopen(f);
    assert_null(store_find(f->store, "one"));
    snprintf(path, sizeof path, "%s/.one~/folder", f->store_dir);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(add(f, "one", f->other, NULL), ST_OK);
    assert_int_equal(store_find(f->store, "one")->key_bytes, 8);
}

int main(void)
{
#define STORE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        STORE_TEST(keeps_a_copy),  STORE_TEST(adding_again),    STORE_TEST(refuses),
        STORE_TEST(one_at_a_time), STORE_TEST(sweeps_at_start), STORE_TEST(removes_in_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
