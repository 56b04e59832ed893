/* The commands of the program: one struct each, defined in cmd_*.c, listed in main.c. */
#ifndef PINION_TOOLS_COMMAND_H
#define PINION_TOOLS_COMMAND_H

#include "common/status.h"
#include "tools/pinion/options.h"

struct command {
    const char *name;
    const char *operands; /* as usage shows them: "KEY WITNESS PROOF PUBLIC" */
    unsigned min_operands, max_operands;
    const char *summary;               /* half a line, for the list of commands */
    const char *about;                 /* paragraphs of --help, each line ended */
    const char *examples;              /* the same */
    const struct option_spec *options; /* ended by a NULL name */
    /* Where the options go: a struct of options_size bytes that starts as a copy of defaults. */
    const void *defaults;
    size_t options_size;
    /* operands: NULL-terminated, as many as min_operands to max_operands. */
    enum status (*run)(const void *options, char **operands) MUST_CHECK;
};

/* All of them, ended by NULL, in the order of the help. */
extern const struct command *const command_list[];

extern const struct command cmd_prove, cmd_verify, cmd_inspect, cmd_vkey, cmd_setup, cmd_bench,
    cmd_help, cmd_version, cmd_up, cmd_circuit, cmd_submit, cmd_wait, cmd_status, cmd_top,
    cmd_cancel, cmd_retry, cmd_drain, cmd_keys;

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* Prints the help of one command, or with NULL of the program, to standard output. */
void command_help(const struct command *command);

#endif
