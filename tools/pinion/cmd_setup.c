#include <stdio.h>

#include "common/file/r1cs_file.h"
#include "common/file/zkey.h"
#include "common/groth16/setup.h"
#include "tools/pinion/command.h"
#include "tools/pinion/session.h"

struct setup_options {
    struct compute_options compute;
    bool insecure;
};

static enum status make_key(const struct r1cs *r1cs, struct session *session, const char *path)
{
    struct groth16_setup_output output = {0};
    struct progress *progress = &session->line.progress;
    enum status st = groth16_setup_insecure(r1cs, session->pool, progress, &output);
    if (st == ST_OK) {
        progress_report(progress, "write", 0, 0);
        st = zkey_write(path, &output.key);
    }
    groth16_setup_output_fini(&output);
    return st;
}

static enum status run(const void *arg, char **operands)
{
    const struct setup_options *options = arg;
    if (!options->insecure)
        return fail(ST_USAGE, "setup makes keys from secrets that everybody knows: whoever uses "
                              "them can be deceived; add --insecure if that is what you want");
    const char *inputs[] = {operands[0], NULL}, *outputs[] = {operands[1], NULL};
    struct session session = {0};
    struct r1cs_file file = {0};
    enum status st = session_check_outputs(inputs, outputs);
    if (st == ST_OK)
        st = session_begin(&session, &options->compute);
    if (st == ST_OK)
        st = r1cs_open(&file, operands[0]);
    if (st == ST_OK)
        st = make_key(&file.r1cs, &session, operands[1]);
    r1cs_close(&file);
    if (st == ST_OK)
        session_warn(&session,
                     "%s: INSECURE key: its secrets are known, so anyone can forge proofs for it; "
                     "never use it for anything but development",
                     operands[1]);
    session_end(&session);
    return st;
}

static const struct setup_options defaults = {.compute = COMPUTE_DEFAULTS};

static const struct option_spec options[] = {
    {"insecure", NULL, "required: yes, the keys are for development only", OPTION_FLAG,
     offsetof(struct setup_options, insecure), 0, 0},
    COMPUTE_OPTIONS,
    {0},
};

const struct command cmd_setup = {
    .name = "setup",
    .operands = "--insecure R1CS KEY",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "make INSECURE development keys",
    .about =
        "Makes a proving key for the circuit R1CS and writes it to KEY (.zkey), without a "
        "ceremony:\n"
        "its secrets are the same on every machine, so anyone can forge proofs for it. Keys for\n"
        "production come from a ceremony, such as snarkjs' `zkey contribute`.\n",
    .examples = "  pinion setup --insecure circuit.r1cs circuit.zkey\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
