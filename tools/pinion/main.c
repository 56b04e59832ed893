/* The `pinion` program: finds the command, reads its options, runs it, and is the one place that
 * reports a failure. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file/map.h"
#include "common/file/output.h"
#include "tools/pinion/command.h"

const struct command *const command_list[] = {
    &cmd_prove,  &cmd_verify, &cmd_inspect, &cmd_vkey,    &cmd_setup,  &cmd_up,    &cmd_circuit,
    &cmd_submit, &cmd_wait,   &cmd_status,  &cmd_top,     &cmd_cancel, &cmd_retry, &cmd_drain,
    &cmd_keys,   &cmd_bench,  &cmd_help,    &cmd_version, NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_list[i]; i++)
        if (strcmp(command_list[i]->name, name) == 0)
            return command_list[i];
    return NULL;
}

static enum status unknown_command(const char *name)
{
    const char *names[32];
    size_t n = 0;
    for (; command_list[n]; n++)
        names[n] = command_list[n]->name;
    const char *nearest = options_nearest(name, names, n);
    if (nearest)
        return fail(ST_USAGE, "unknown command %s; did you mean %s?", name, nearest);
    return fail(ST_USAGE, "unknown command %s", name);
}

/* Parses the options of the command and runs it. argv[0] is its name. */
static enum status run_command(const struct command *command, int argc, char **argv)
{
    void *options = malloc(command->options_size + 1);
    if (!options)
        return fail(ST_RESOURCE, "no memory");
    if (command->options_size > 0)
        memcpy(options, command->defaults, command->options_size);
    char **operands = NULL;
    bool help = false;
    enum status st = options_parse(command, argc, argv, options, &operands, &help);
    if (st == ST_OK && help)
        command_help(command);
    else if (st == ST_OK)
        st = command->run(options, operands);
    free(options);
    return st;
}

static enum status dispatch(int argc, char **argv, const struct command **command)
{
    if (argc < 2)
        return fail(ST_USAGE, "no command given");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        *command = &cmd_help;
    else if (strcmp(argv[1], "--version") == 0)
        *command = &cmd_version;
    else
        *command = command_find(argv[1]);
    if (!*command)
        return unknown_command(argv[1]);
    return run_command(*command, argc - 1, argv + 1);
}

static void report(enum status st, const struct command *command)
{
    fprintf(stderr, "pinion: %s\n", status_message());
    if (st != ST_USAGE)
        return;
    if (command)
        fprintf(stderr, "usage: pinion %s [OPTION]...%s%s (more: pinion help %s)\n", command->name,
                command->operands[0] ? " " : "", command->operands, command->name);
    else
        fprintf(stderr, "usage: pinion COMMAND [OPTION]... [OPERAND]... (more: pinion help)\n");
}

int main(int argc, char **argv)
{
    /* a reader that goes away is an error to clean up after, not a death */
    signal(SIGPIPE, SIG_IGN);
    file_map_guard();
    output_guard();

    const struct command *command = NULL;
    enum status st = dispatch(argc, argv, &command);
    if ((fflush(stdout) != 0 || ferror(stdout)) && st == ST_OK)
        st = fail(ST_RESOURCE, "cannot write to standard output: %m");
    if (st != ST_OK)
        report(st, command);
    return status_exit_code(st);
}
