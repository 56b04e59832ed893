/* The vectors of FIPS 180-4's examples, and any split of the input gives the same digest. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "common/sha256.h"

static void digest(char out[65], const void *bytes, size_t len, size_t step)
{
    struct sha256 h;
    uint8_t raw[32];
    sha256_init(&h);
    for (size_t at = 0; at < len; at += step)
        sha256_update(&h, (const uint8_t *)bytes + at, len - at < step ? len - at : step);
    sha256_final(&h, raw);
    for (size_t i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

static void gives_published_digests(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
         "klmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char got[65];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        digest(got, known[i].text, strlen(known[i].text), 1000);
        assert_string_equal(got, known[i].digest);
    }
    static char million[1000000];
    memset(million, 'a', sizeof million);
    digest(got, million, sizeof million, 4096);
    assert_string_equal(got, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void does_not_see_splits(void **state)
{
    (void)state;
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37);
    for (size_t len = 0; len <= sizeof bytes; len += 1) {
        char whole[65], split[65];
        digest(whole, bytes, len, sizeof bytes);
        for (size_t step = 1; step < 140; step += 13) {
            digest(split, bytes, len, step);
            assert_string_equal(whole, split);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_published_digests),
        cmocka_unit_test(does_not_see_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
