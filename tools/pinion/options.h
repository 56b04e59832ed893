/* Options of a command: described by a table, read into a struct of the command.
 *
 * GNU conventions: options may stand before or after the operands, `--name value` or
 * `--name=value`, unambiguous abbreviations, `--` ends them. */
#ifndef PINION_TOOLS_OPTIONS_H
#define PINION_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

struct command;

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_NUMBER, /* uint64_t, min <= value <= max */
    OPTION_TEXT,   /* const char *, not empty */
    OPTION_CHOICE, /* const char *, one of the words in value, which '|' separates */
};

struct option_spec {
    const char *name;  /* without the dashes */
    const char *value; /* as help shows it: "N", "FILE", "cpu|cuda|auto" */
    const char *help;  /* one line */
    enum option_kind kind;
    size_t offset; /* of its variable in the command's struct */
    uint64_t min, max;
};

/* Options of every command that computes. Must be the first member of the command's struct. */
struct compute_options {
    uint64_t threads; /* 0: as many as allowed */
    const char *cpu;
    bool quiet;
};

enum { OPTIONS_MAX_THREADS = 1024 };

#define COMPUTE_DEFAULTS                                                                           \
    {                                                                                              \
        .cpu = "auto"                                                                              \
    }

#define COMPUTE_OPTIONS                                                                            \
    {"threads",                                                                                    \
     "N",                                                                                          \
     "threads to use (default: what CPU affinity and the cgroup allow)",                           \
     OPTION_NUMBER,                                                                                \
     offsetof(struct compute_options, threads),                                                    \
     1,                                                                                            \
     OPTIONS_MAX_THREADS},                                                                         \
        {"cpu",                                                                                    \
         "auto|portable|adx",                                                                      \
         "instructions to use (default: auto, the fastest)",                                       \
         OPTION_TEXT,                                                                              \
         offsetof(struct compute_options, cpu),                                                    \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "quiet", NULL, "no progress line and no warnings", OPTION_FLAG,                            \
            offsetof(struct compute_options, quiet), 0, 0                                          \
    }

/* Parses argv[1..] into options, permuting argv; *operands points into argv. *help is set, and the
 * rest left unchecked, when --help or -h is among them. ST_USAGE names the option or operand and,
 * for an unknown option, the nearest known one. */
enum status options_parse(const struct command *command, int argc, char **argv, void *options,
                          char ***operands, bool *help) MUST_CHECK;

/* The entry of names (n strings) that word was probably meant to be; NULL if none is near. */
const char *options_nearest(const char *word, const char *const *names, size_t n);

#endif
