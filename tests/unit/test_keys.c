/* The cache of keys against a backend that only counts. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpud/keys.h"
#include "tests/unit/container.h"
#include "tests/unit/scratch.h"

#define ZKEY(name) PINION_TEST_DATA "/circom/bn128/" name "/circuit.zkey"

/* Every key takes KEY_BYTES; room for `room` of them on the device. */
#define KEY_BYTES UINT64_C(1000)

struct counting {
    struct backend base;
    unsigned loads, loaded, room;
};

struct backend_key {
    int unused;
};

static uint64_t count_bytes(const struct backend *b, const struct groth16_key *key)
{
    (void)b;
    (void)key;
    return KEY_BYTES;
}

static enum status count_load(struct backend *b, struct backend_key **out,
                              const struct groth16_key *key)
{
    struct counting *c = (struct counting *)b;
    (void)key;
    if (c->loaded == c->room)
        return fail(ST_RESOURCE, "device full");
    *out = malloc(sizeof **out);
    assert_non_null(*out);
    c->loads++;
    c->loaded++;
    return ST_OK;
}

static void count_unload(struct backend *b, struct backend_key *key)
{
    ((struct counting *)b)->loaded--;
    free(key);
}

static const struct backend_ops counting_ops = {
    .key_bytes = count_bytes, .key_load = count_load, .key_unload = count_unload};

static struct counting device_with(unsigned room)
{
    return (struct counting){.base = {.ops = &counting_ops, .name = "counting"}, .room = room};
}

static struct key *acquire(struct keys *k, const char *circuit, const char *path)
{
    struct key *key = NULL;
    double ms;
    assert_int_equal(keys_acquire(k, &key, &ms, circuit, path), ST_OK);
    assert_string_equal(key->circuit, circuit);
    return key;
}

static void use(struct keys *k, const char *circuit, const char *path)
{
    keys_release(k, acquire(k, circuit, path));
}

static bool is_loaded(struct keys *k, const char *circuit)
{
    struct key_status list[8];
    size_t n = keys_list(k, list, 8);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].circuit, circuit) == 0)
            return true;
    return false;
}

static void loaded_once_and_found_again(void **state)
{
    (void)state;
    struct counting device = device_with(8);
    struct keys *k;
    assert_int_equal(keys_create(&k, &device.base, 10 * KEY_BYTES), ST_OK);
    struct key *a = acquire(k, "mul2", ZKEY("mul2")), *b = acquire(k, "mul2", ZKEY("mul2"));
    assert_ptr_equal(a, b);
    assert_int_equal(a->vk->n_public, a->key->n_public);
    assert_int_equal(device.loads, 1);
    assert_int_equal(keys_bytes(k), KEY_BYTES);
    keys_release(k, a);
    keys_release(k, b);
    keys_destroy(k);
    assert_int_equal(device.loaded, 0);
}

static void the_longest_unused_goes_first(void **state)
{
    (void)state;
    struct counting device = device_with(8);
    struct keys *k;
    assert_int_equal(keys_create(&k, &device.base, 2 * KEY_BYTES), ST_OK);
    use(k, "mul2", ZKEY("mul2"));
    use(k, "nopub", ZKEY("nopub"));
    use(k, "mul2", ZKEY("mul2")); /* now nopub is the oldest */
    use(k, "nopriv", ZKEY("nopriv"));
    assert_true(is_loaded(k, "mul2") && is_loaded(k, "nopriv") && !is_loaded(k, "nopub"));
    assert_int_equal(keys_bytes(k), 2 * KEY_BYTES);
    use(k, "nopub", ZKEY("nopub"));
    assert_true(!is_loaded(k, "mul2") && is_loaded(k, "nopriv") && is_loaded(k, "nopub"));
    assert_int_equal(device.loaded, 2);
    keys_destroy(k);
}

static void a_full_device_gives_up_idle_keys(void **state)
{
    (void)state;
    struct counting device = device_with(1);
    struct keys *k;
    double ms;
    struct key *other;
    assert_int_equal(keys_create(&k, &device.base, 10 * KEY_BYTES), ST_OK);
    use(k, "mul2", ZKEY("mul2"));
    struct key *key = acquire(k, "nopub", ZKEY("nopub"));
    assert_false(is_loaded(k, "mul2"));
    assert_int_equal(keys_acquire(k, &other, &ms, "mul2", ZKEY("mul2")), ST_RESOURCE);
    assert_string_equal(status_message(), "device full");
    status_clear();
    assert_int_equal(keys_bytes(k), KEY_BYTES);
    keys_release(k, key);
    keys_destroy(k);
}

static void too_large_for_the_budget(void **state)
{
    (void)state;
    struct counting device = device_with(8);
    struct keys *k;
    struct key *key;
    double ms;
    assert_int_equal(keys_create(&k, &device.base, KEY_BYTES - 1), ST_OK);
    assert_int_equal(keys_acquire(k, &key, &ms, "mul2", ZKEY("mul2")), ST_RESOURCE);
    assert_non_null(strstr(status_message(), "gpud.key_budget"));
    status_clear();
    assert_int_equal(keys_bytes(k), 0);
    keys_destroy(k);
}

static void broken_keys_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {"trunc_mid.zkey", "alpha_infinity.zkey", "no-such.zkey"};
    struct counting device = device_with(8);
    struct keys *k;
    struct key *key;
    double ms;
    assert_int_equal(keys_create(&k, &device.base, KEY_BYTES), ST_OK);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/bad/%s", PINION_TEST_DATA, broken[i]);
        assert_int_equal(keys_acquire(k, &key, &ms, "broken", path), ST_INPUT);
        status_clear();
    }
    assert_int_equal(device.loads, 0);
    use(k, "mul2", ZKEY("mul2")); /* what failed takes no room */
    keys_destroy(k);
}

/* ---- keys in use ---- */

struct release_later {
    struct keys *keys;
    struct key *key;
};

static void *release(void *arg)
{
    struct release_later *r = arg;
    keys_release(r->keys, r->key);
    return NULL;
}

static void keys_in_use_are_waited_for(void **state)
{
    (void)state;
    struct counting device = device_with(8);
    struct keys *k;
    pthread_t thread;
    assert_int_equal(keys_create(&k, &device.base, KEY_BYTES), ST_OK);
    struct release_later later = {k, acquire(k, "mul2", ZKEY("mul2"))};
    assert_int_equal(pthread_create(&thread, NULL, release, &later), 0);
    use(k, "nopub", ZKEY("nopub")); /* comes back only once mul2 is released */
    pthread_join(thread, NULL);
    assert_true(is_loaded(k, "nopub") && !is_loaded(k, "mul2"));
    keys_destroy(k);
}

static void *stop(void *arg)
{
    keys_stop(arg);
    return NULL;
}

static void waiting_ends_with_stop(void **state)
{
    (void)state;
    struct counting device = device_with(8);
    struct keys *k;
    struct key *other;
    pthread_t thread;
    double ms;
    assert_int_equal(keys_create(&k, &device.base, KEY_BYTES), ST_OK);
    struct key *key = acquire(k, "mul2", ZKEY("mul2"));
    assert_int_equal(pthread_create(&thread, NULL, stop, k), 0);
    assert_int_equal(keys_acquire(k, &other, &ms, "nopub", ZKEY("nopub")), ST_NO_DAEMON);
    status_clear();
    pthread_join(thread, NULL);
    assert_true(is_loaded(k, "mul2"));
    keys_release(k, key);
    keys_destroy(k);
}

static void evicted_once_idle(void **state)
{
    (void)state;
    struct counting device = device_with(8);
    struct keys *k;
    assert_int_equal(keys_create(&k, &device.base, 4 * KEY_BYTES), ST_OK);
    struct key *old = acquire(k, "mul2", ZKEY("mul2"));
    keys_evict(k, "mul2");
    keys_sweep(k);
    assert_int_equal(device.loaded, 1); /* in use */
    struct key *fresh = acquire(k, "mul2", ZKEY("mul2"));
    assert_ptr_not_equal(old, fresh);
    keys_release(k, old);
    keys_sweep(k);
    assert_int_equal(device.loaded, 1);
    keys_release(k, fresh);
    keys_destroy(k);
}

static void a_replaced_file_is_another_key(void **state)
{
    struct counting device = device_with(8);
    struct keys *k;
    char path[4096], other[4096];
    struct blob a = blob_read("circom/bn128/mul2/circuit.zkey");
    struct blob b = blob_read("circom/bn128/nopub/circuit.zkey");
    snprintf(path, sizeof path, "%s", scratch_path(state, "key.zkey"));
    snprintf(other, sizeof other, "%s", scratch_path(state, "other.zkey"));
    scratch_write(path, a.data, a.size);
    scratch_write(other, b.data, b.size);
    assert_int_equal(keys_create(&k, &device.base, 4 * KEY_BYTES), ST_OK);
    struct key *old = acquire(k, "c", path);
    uint32_t n_public = old->key->n_public;
    assert_int_equal(rename(other, path), 0);
    struct key *fresh = acquire(k, "c", path);
    assert_int_not_equal(fresh->key->n_public, n_public);
    assert_int_equal(old->key->n_public, n_public); /* the old file lives on for who uses it */
    keys_release(k, old);
    keys_release(k, fresh);
    keys_sweep(k);
    assert_int_equal(device.loaded, 1);
    keys_destroy(k);
    blob_free(&a);
    blob_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_once_and_found_again),
        cmocka_unit_test(the_longest_unused_goes_first),
        cmocka_unit_test(a_full_device_gives_up_idle_keys),
        cmocka_unit_test(too_large_for_the_budget),
        cmocka_unit_test(broken_keys_are_refused),
        cmocka_unit_test(keys_in_use_are_waited_for),
        cmocka_unit_test(waiting_ends_with_stop),
        cmocka_unit_test(evicted_once_idle),
        cmocka_unit_test(a_replaced_file_is_another_key),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
