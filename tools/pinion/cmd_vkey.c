#include <stdlib.h>

#include "common/file/output.h"
#include "common/file/proof_json.h"
#include "common/file/zkey.h"
#include "common/groth16/ops.h"
#include "tools/pinion/command.h"
#include "tools/pinion/session.h"

static enum status convert(const struct groth16_key *key, struct session *session, const char *out)
{
    const struct curve_ops *ops = key->curve->ops;
    struct groth16_vkey vk = {0};
    char *text = NULL;
    enum status st = ops->key_check(key, false, session->pool, &session->line.progress);
    if (st == ST_OK)
        st = ops->vkey(key, &vk);
    if (st == ST_OK)
        st = vkey_json_format(&vk, &text);
    if (st == ST_OK)
        st = output_write(out, text);
    free(text);
    groth16_vkey_fini(&vk);
    return st;
}

static enum status run(const void *options, char **operands)
{
    const char *inputs[] = {operands[0], NULL}, *outputs[] = {operands[1], NULL};
    struct session session = {0};
    struct zkey zkey = {0};
    enum status st = session_check_outputs(inputs, outputs);
    if (st == ST_OK)
        st = session_begin(&session, options);
    if (st == ST_OK)
        st = zkey_open(&zkey, operands[0], session.pool);
    if (st == ST_OK)
        st = convert(&zkey.key, &session, operands[1]);
    zkey_close(&zkey);
    session_end(&session);
    return st;
}

static const struct compute_options defaults = COMPUTE_DEFAULTS;

static const struct option_spec options[] = {COMPUTE_OPTIONS, {0}};

const struct command cmd_vkey = {
    .name = "vkey",
    .operands = "KEY OUT",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "extract the verification key of a proving key",
    .about = "Writes the verification key of KEY (.zkey) to OUT, as snarkjs'\n"
             "verification_key.json.\n",
    .examples = "  pinion vkey circuit.zkey verification_key.json\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
