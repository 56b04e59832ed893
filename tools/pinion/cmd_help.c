#include <stdio.h>
#include <string.h>

#include "tools/pinion/command.h"

static const struct option_spec no_options[] = {{0}};

static const char program_about[] =
    "Makes and checks Groth16 proofs of circom circuits on BN254 and BLS12-381.\n";

static const char program_examples[] =
    "  pinion prove circuit.zkey witness.wtns proof.json public.json\n"
    "  pinion verify verification_key.json public.json proof.json\n"
    "  pinion inspect circuit.zkey\n";

static const char exit_codes[] =
    "Exit codes: 0 done; 1 a negative answer; 2 wrong usage; 3 bad input, an unsatisfied\n"
    "witness included; 4 no resources or no daemon; 5 internal.\n";

static void print_program(void)
{
    printf("usage: pinion COMMAND [OPTION]... [OPERAND]...\n\n%s\nCommands:\n", program_about);
    for (size_t i = 0; command_list[i]; i++)
        printf("  %-8s %s\n", command_list[i]->name, command_list[i]->summary);
    printf("\nExamples:\n%s\n%s\n`pinion help COMMAND` and `pinion COMMAND --help` say more.\n",
           program_examples, exit_codes);
}

static void print_option(const char *name, const char *value, const char *help)
{
    char left[48];
    snprintf(left, sizeof left, "--%s%s%s", name, value ? " " : "", value ? value : "");
    if (strlen(left) > 21)
        printf("  %s\n  %-21s %s\n", left, "", help);
    else
        printf("  %-21s %s\n", left, help);
}

void command_help(const struct command *command)
{
    if (!command) {
        print_program();
        return;
    }
    printf("usage: pinion %s [OPTION]...%s%s\n\n%s\nOptions:\n", command->name,
           command->operands[0] ? " " : "", command->operands, command->about);
    for (const struct option_spec *o = command->options; o->name; o++)
        print_option(o->name, o->value, o->help);
    print_option("help", NULL, "this text");
    printf("\nExamples:\n%s", command->examples);
}

static enum status help(const void *options, char **operands)
{
    (void)options;
    const struct command *command = NULL;
    if (operands[0]) {
        command = command_find(operands[0]);
        if (!command)
            return fail(ST_USAGE, "no help on %s: there is no such command", operands[0]);
    }
    command_help(command);
    return ST_OK;
}

static enum status version(const void *options, char **operands)
{
    (void)options;
    (void)operands;
    printf("pinion %s\n", PINION_VERSION);
    return ST_OK;
}

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .summary = "what the program or a command does",
    .about = "Prints the commands, or the help of one command.\n",
    .examples = "  pinion help\n  pinion help prove\n",
    .options = no_options,
    .run = help,
};

const struct command cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "the version of the program",
    .about = "Prints the version. `pinion --version` does the same.\n",
    .examples = "  pinion version\n",
    .options = no_options,
    .run = version,
};
