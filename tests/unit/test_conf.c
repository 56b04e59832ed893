/* The default file and the table agree; whatever is wrong is refused with file, line and key. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libconfig.h>

#include "conf/conf.h"

#ifndef PINION_DEFAULT_CONF
#define PINION_DEFAULT_CONF "conf/pinion.cfg" /* from the root */
#endif

static void expect(enum status got, enum status st, const char *part)
{
    assert_int_equal(got, st);
    if (strstr(status_message(), part) == NULL)
        print_error("message: %s\n", status_message());
    assert_non_null(strstr(status_message(), part));
    status_clear();
}

static void refuse(const char *text, const char *part)
{
    struct conf c, before;
    conf_init(&c);
    before = c;
    expect(conf_parse(&c, "f.cfg", text), ST_INPUT, part);
    assert_memory_equal(&c, &before, sizeof c);
}

/* Counts the values in the file's tree. */
static size_t count_leaves(const config_setting_t *s)
{
    size_t count = 0;
    if (!config_setting_is_group(s))
        return 1;
    for (int i = 0; i < config_setting_length(s); i++)
        count += count_leaves(config_setting_get_elem(s, (unsigned)i));
    return count;
}

/* The value of a key as the table writes defaults. */
static void print_value(char *out, size_t cap, const config_setting_t *s)
{
    if (s == NULL)
        snprintf(out, cap, "not in the file");
    else if (config_setting_type(s) == CONFIG_TYPE_STRING)
        snprintf(out, cap, "\"%s\"", config_setting_get_string(s));
    else if (config_setting_type(s) == CONFIG_TYPE_BOOL)
        snprintf(out, cap, "%s", config_setting_get_bool(s) ? "true" : "false");
    else
        snprintf(out, cap, "%d", config_setting_get_int(s));
}

static void file_and_table_agree(void **state)
{
    (void)state;
    config_t file;
    struct conf loaded, defaults;
    config_init(&file);
    assert_int_equal(config_read_file(&file, PINION_DEFAULT_CONF), CONFIG_TRUE);
    for (size_t i = 0; i < conf_key_count; i++) {
        char value[300];
        const config_setting_t *s = config_lookup(&file, conf_keys[i].name);
        print_value(value, sizeof value, s);
        assert_string_equal(value, conf_keys[i].fallback);
    }
    assert_int_equal(count_leaves(config_root_setting(&file)), conf_key_count);
    config_destroy(&file);
    assert_int_equal(conf_load(&loaded, PINION_DEFAULT_CONF), ST_OK);
    conf_init(&defaults);
    assert_memory_equal(&loaded, &defaults, sizeof loaded);
}

/* Every key has a comment of its own in the file. */
static void every_key_is_documented(void **state)
{
    (void)state;
    static char text[1 << 16];
    FILE *f = fopen(PINION_DEFAULT_CONF, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    size_t documented = 0;
    char previous[256] = "", line[256];
    for (char *at = text; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)len, at);
        const char *trimmed = line + strspn(line, " ");
        if (strchr("abcdefghijklmnopqrstuvwxyz", trimmed[0]) != NULL && trimmed[0] != '\0' &&
            strchr(trimmed, ';') != NULL) {
            assert_int_equal(strncmp(previous, "//", 2), 0);
            documented++;
        }
        snprintf(previous, sizeof previous, "%s", trimmed);
        at += len + (at[len] == '\n');
    }
    assert_int_equal(documented, conf_key_count);
}

static void values_arrive(void **state)
{
    (void)state;
    struct conf c;
    static const char text[] = "arena = { size = \"16G\"; kind = \"hugetlb\"; chunk = 2097152; };\n"
                               "arena_x = 1;";
    refuse(text, "arena_x");
    static const char good[] =
        "arena: { size = \"16 GiB\", kind = \"hugetlb\", chunk = 2097152, huge_mount = \"/h\" }\n"
        "slots = 7; allow_seed = true; admin_group = \"\";\n"
        "budget = { host_memory = 549755813888L; }\n"
        "gpud = { backend = \"cuda\"; devices = \"0,1\"; key_budget = \"48G\"; }\n"
        "log = { level = \"debug\"; format = \"json\"; }";
    assert_int_equal(conf_parse(&c, "f", good), ST_OK);
    assert_true(c.arena.size == 16ULL << 30 && c.arena.kind == CONF_ARENA_HUGETLB);
    assert_true(c.arena.chunk == 2 << 20 && c.slots == 7 && c.allow_seed);
    assert_string_equal(c.arena.huge_mount, "/h");
    assert_string_equal(c.admin_group, "");
    assert_true(c.budget.host_memory == 512ULL << 30 && c.gpud.key_budget == 48ULL << 30);
    assert_true(c.gpud.backend == CONF_BACKEND_CUDA && c.log.level == 3 && c.log.format == 1);
    assert_true(c.clients == 64 && c.queue.ageing_seconds == 60);
    static const char quiet[] = "# @include { 99999999999\n// [ \"\n/* ( \n 99999999999 */\n"
                                "gpud = { devices = \"\\\"@{99999999999\"; }; slots = 5;";
    assert_int_equal(conf_parse(&c, "f", quiet), ST_OK);
    assert_string_equal(c.gpud.devices, "\"@{99999999999");
    assert_int_equal(conf_parse(&c, "f", ""), ST_OK);
    assert_true(c.budget.host_memory == 0 && !c.allow_seed);
}

static void unknown_keys_name_the_nearest(void **state)
{
    (void)state;
    refuse("\n\narena = { siez = 1; };",
           "f.cfg:3: arena.siez: unknown key; the nearest known one is arena.size");
    refuse("slot = 3;", "f.cfg:1: slot: unknown key; the nearest known one is slots");
    refuse("areana = { size = 1; };", "nearest known one is arena.");
    refuse("log = { file = \"x\"; };", "f.cfg:1: log.file: unknown key");
    refuse("allow_sed = true;", "allow_seed");
    char longest[400];
    memset(longest, 'k', sizeof longest);
    memcpy(longest + sizeof longest - 6, " = 1;", 6);
    refuse(longest, "unknown key");
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    refuse("slots = 0;", "f.cfg:1: slots: is 0, must be 1 to 65536");
    refuse("slots = 65537;", "must be 1 to 65536");
    refuse("slots = -1;", "slots: is -1");
    refuse("slots = 99999999999L;", "slots: is 99999999999");
    refuse("\nslots = 4294967297;", "f.cfg:2: 4294967297: too large a number");
    refuse("slots = -0x100000001;", "-0x100000001: too large a number");
    refuse("slots = 99999999999999999999999;", "too large a number");
    refuse("slots = \"7\";", "slots: must be an integer");
    refuse("slots = 1.5;", "slots: must be an integer");
    refuse("slots = { x = 1; };", "slots: must be an integer");
    refuse("slots = [1, 2];", "slots: must be an integer");
    refuse("allow_seed = 1;", "allow_seed: must be true or false");
    refuse("arena = 5;", "arena: must be a group");
    refuse("arena = { kind = \"huge\"; };", "one of \"auto\", \"hugetlb\", \"shm\"");
    refuse("arena = { kind = 1; };", "one of \"auto\"");
    refuse("arena = { size = \"16X\"; };", "arena.size: \"16X\" is not a size");
    refuse("arena = { size = \"auto\"; };", "arena.size: \"auto\" is not a size");
    refuse("arena = { size = \"1M\"; };", "arena.size: is 1048576 bytes, must be 2097152 to");
    refuse("arena = { size = -5; };", "arena.size: is 0 bytes");
    refuse("arena = { size = true; };", "arena.size: must be a size");
    refuse("arena = { huge_mount = \"\"; };", "arena.huge_mount: has 0 bytes");
    refuse("admin_group = 5;", "admin_group: must be a string");
    refuse("slots = 1;\nslots = 2;", "f.cfg:2");
    refuse("slots = ;", "f.cfg:1: syntax error");
    refuse("@include \"/etc/passwd\"\n", "f.cfg:1: @include is not supported");
    char deep[200];
    memset(deep, '(', sizeof deep);
    memcpy(deep, "x = ", 4);
    deep[sizeof deep - 1] = '\0';
    refuse(deep, "brackets");
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"1K", 1024},
                {"3 M", 3 << 20},
                {"16GiB", 16ULL << 30},
                {"2TB", 2ULL << 40},
                {"16777215T", 16777215ULL << 40},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "G",
                                      "-1",
                                      " 1",
                                      "1GG",
                                      "1Gi",
                                      "1g",
                                      "1.5G",
                                      "0x10",
                                      "1 G x",
                                      "18446744073709551616",
                                      "16777216T",
                                      "1P",
                                      "auto"};
    uint64_t v;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(conf_size_parse(&v, good[i].text), ST_OK);
        assert_true(v == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(conf_size_parse(&v, bad[i]), ST_INPUT, "size");
}

static void unreadable_files_are_named(void **state)
{
    (void)state;
    struct conf c;
    expect(conf_load(&c, "/nonexistent/pinion.cfg"), ST_INPUT, "/nonexistent/pinion.cfg");
    expect(conf_load(&c, "/"), ST_INPUT, "cannot be read");
    expect(conf_load(&c, "/dev/zero"), ST_INPUT, "larger");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_and_table_agree),
        cmocka_unit_test(every_key_is_documented),
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(unknown_keys_name_the_nearest),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(sizes),
        cmocka_unit_test(unreadable_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
