/* The configuration: one file in libconfig's syntax, checked against one table of keys.
 *
 * Only mains read it and hand the values down. Every key has a default, so no file is needed;
 * conf/pinion.cfg is the commented default file. A file with an unknown key, a wrong type, a value
 * out of range, a doubled key or an @include is refused (ST_INPUT), naming file, line and key, and
 * for an unknown key the nearest known one. Sizes are integers or strings with a binary suffix:
 * "16G". */
#ifndef PINION_CONF_CONF_H
#define PINION_CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

enum { CONF_STRING_MAX = 255 };

enum conf_arena_kind { CONF_ARENA_AUTO, CONF_ARENA_HUGETLB, CONF_ARENA_SHM };
enum conf_backend { CONF_BACKEND_AUTO, CONF_BACKEND_CPU, CONF_BACKEND_CUDA };

struct conf {
    struct {
        uint64_t size;  /* bytes */
        uint64_t chunk; /* bytes of a registration chunk */
        int64_t kind;   /* enum conf_arena_kind */
        char huge_mount[CONF_STRING_MAX + 1];
    } arena;
    int64_t slots, clients;
    struct {
        uint64_t host_memory; /* bytes; 0 for auto */
    } budget;
    struct {
        int64_t ageing_seconds;
    } queue;
    struct {
        int64_t seconds, term_seconds, kill_seconds;
    } lease;
    struct {
        int64_t backend; /* enum conf_backend */
        char devices[CONF_STRING_MAX + 1];
        uint64_t key_budget; /* bytes; 0 for auto */
        int64_t threads;     /* 0 for as many as allowed */
    } gpud;
    struct {
        int64_t threads; /* 0 for as many as allowed */
    } synth;
    struct {
        int64_t format; /* enum log_format */
        int64_t level;  /* enum log_level */
    } log;
    bool allow_seed;
    char admin_group[CONF_STRING_MAX + 1];
    struct {
        int64_t keep, keep_days;
    } journal;
    struct {
        uint64_t max_bytes;
        int64_t idle_seconds;
    } upload;
    struct {
        int64_t stuck_factor, stuck_seconds;
    } timeouts;
};

enum conf_type { CONF_BOOL, CONF_INT, CONF_SIZE, CONF_SIZE_AUTO, CONF_CHOICE, CONF_STRING };

/* A key: where its value lives, what it may be, and its default as the file would have it. */
struct conf_key {
    const char *name; /* "arena.size" */
    enum conf_type type;
    size_t offset; /* in struct conf: bool, int64_t, uint64_t, uint64_t, int64_t, char[] by type */
    uint64_t min, max;          /* of integers and sizes; of a string's length */
    const char *const *choices; /* by value, NULL-terminated */
    const char *fallback;
};

extern const struct conf_key conf_keys[];
extern const size_t conf_key_count;

void conf_init(struct conf *out); /* the defaults */

/* The defaults overlaid with the file's values. *out is untouched on failure. ST_INPUT when the
 * file cannot be read or is larger than 1 MiB. */
enum status conf_load(struct conf *out, const char *path) MUST_CHECK;

/* The same from text; name stands in messages for the file. */
enum status conf_parse(struct conf *out, const char *name, const char *text) MUST_CHECK;

/* "4096", "16G", "512 MiB": decimal digits, then nothing or K, M, G or T (powers of 1024), which
 * may be followed by "iB" or "B". ST_INPUT names the text. For the command line too. */
enum status conf_size_parse(uint64_t *out, const char *text) MUST_CHECK;

#endif
