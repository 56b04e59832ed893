#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/file/output.h"
#include "common/file/proof_json.h"
#include "common/groth16/groth16.h"
#include "common/groth16/ops.h"
#include "gpud/embedded.h"
#include "synth/synthesis.h"
#include "tools/pinion/command.h"
#include "tools/pinion/connected.h"
#include "tools/pinion/session.h"

enum { BACKEND_WARNING_BYTES = 512 };

struct prove_options {
    struct compute_options compute;
    const char *backend, *r1cs, *seed, *connect;
    bool check_key, json;
};

struct proving {
    const struct prove_options *options;
    const char *proof_path, *public_path;
    struct session session;
    struct synthesis synthesis;
    struct wtns wtns;
    struct groth16_proof proof;
    struct groth16_timings timings;
    double load_ms, copy_ms, total_ms;
    struct backend *backend;
    char backend_warning[BACKEND_WARNING_BYTES];
};

static enum status load(struct proving *p, const char *key, const char *witness)
{
    double start = clock_ms();
    progress_report(&p->session.line.progress, "load", 0, 0);
    enum status st = synthesis_open(&p->synthesis, key, p->options->r1cs, p->session.pool);
    if (st == ST_OK)
        st = wtns_open(&p->wtns, witness);
    if (st == ST_OK)
        st = synthesis_check(&p->synthesis, &p->wtns, p->session.pool, &p->session.line.progress);
    p->load_ms = clock_ms() - start;
    return st;
}

static void warn(struct proving *p)
{
    if (p->backend_warning[0] != '\0')
        session_warn(&p->session, "%s", p->backend_warning);
    if (p->synthesis.zkey.contributions == 0)
        session_warn(&p->session,
                     "%s: nobody has contributed to this key: its secrets are known and anyone can "
                     "forge proofs for it; for development only",
                     p->synthesis.zkey.map.path);
    if (p->options->seed)
        session_warn(&p->session, "--seed: a proof from known r and s does not hide the witness; "
                                  "for tests only");
}

/* groth16_prove on a device. */
static enum status prove_on_device(struct proving *p, const struct groth16_randomness *rs)
{
    struct embedded e = {.backend = NULL};
    struct progress *progress = &p->session.line.progress;
    progress_report(progress, "load key", 0, 0);
    enum status st = embedded_open(&e, p->backend, &p->synthesis.zkey.key);
    if (st == ST_OK) {
        progress_report(progress, "evaluate", 0, 0);
        embedded_evaluate(&e, p->wtns.values, p->session.pool, &p->timings);
        st = embedded_prove(&e, rs, progress, &p->timings, &p->copy_ms, &p->proof);
    }
    progress_report(progress, "verify", 0, 0);
    double start = clock_ms();
    if (st == ST_OK)
        st = embedded_verify(&e, &p->proof);
    p->timings.verify = clock_ms() - start;
    embedded_close(&e);
    return st;
}

/* Whether the processor has to do it: the choice was ours and the device has no room or failed, or
 * its proof is wrong, which is the device's fault if the processor's is right. */
static bool fall_back(struct proving *p, enum status st)
{
    bool failed = st == ST_RESOURCE || st == ST_INTERNAL;
    if (st != ST_INPUT && !(failed && strcmp(p->options->backend, "auto") == 0))
        return false;
    snprintf(p->backend_warning, sizeof p->backend_warning, "proved on the processor: %s",
             status_message());
    status_clear();
    backend_destroy(p->backend);
    p->backend = NULL;
    p->timings = (struct groth16_timings){0};
    return true;
}

static enum status prove(struct proving *p)
{
    const struct groth16_key *key = &p->synthesis.zkey.key;
    struct progress *progress = &p->session.line.progress;
    struct groth16_randomness rs;
    enum status st = ST_OK;
    if (p->options->check_key)
        st = key->curve->ops->key_check(key, true, p->session.pool, progress);
    if (st == ST_OK)
        st = p->options->seed ? groth16_randomness_from_hex(&rs, key->curve, p->options->seed)
                              : groth16_randomness_fresh(&rs, key->curve);
    if (st == ST_OK && backend_is_device(p->backend)) {
        st = prove_on_device(p, &rs);
        if (!fall_back(p, st))
            return st;
        st = ST_OK;
    }
    if (st == ST_OK)
        st = groth16_prove(key, p->wtns.values, &rs, p->session.pool, progress, &p->timings,
                           &p->proof);
    return st;
}

static enum status write_outputs(struct proving *p)
{
    const struct groth16_key *key = &p->synthesis.zkey.key;
    char *proof = NULL, *publics = NULL;
    enum status st = proof_json_format(&p->proof, &proof);
    if (st == ST_OK)
        st = public_json_format(key->curve, p->wtns.values + key->curve->fr_bytes, key->n_public,
                                &publics);
    if (st == ST_OK)
        st = output_write_pair(p->proof_path, proof, p->public_path, publics);
    free(proof);
    free(publics);
    return st;
}

static enum status print_json(const struct proving *p)
{
    const struct groth16_key *key = &p->synthesis.zkey.key;
    json_t *stages = session_stages_json(&p->timings);
    json_object_set_new(stages, "load", json_real(p->load_ms));
    json_object_set_new(stages, "copy", json_real(p->copy_ms));
    return session_print_json(json_pack(
        "{s:s,s:I,s:I,s:I,s:I,s:s,s:s,s:i,s:f,s:o}", "curve", key->curve->name, "domain",
        (json_int_t)key->domain, "constraints", (json_int_t)p->synthesis.zkey.constraints,
        "variables", (json_int_t)key->n_vars, "public", (json_int_t)key->n_public, "backend",
        p->backend && backend_is_device(p->backend) ? "cuda" : "cpu", "isa", key->curve->isa,
        "threads", (int)pool_threads(p->session.pool), "ms", p->total_ms, "stages", stages));
}

/* What can fail on the way out comes before the outputs: a failure leaves none behind. */
static enum status run_in_session(struct proving *p, char **operands)
{
    double start = clock_ms();
    enum status st = load(p, operands[0], operands[1]);
    if (st != ST_OK)
        return st;
    st = prove(p);
    p->total_ms = clock_ms() - start;
    progress_line_fini(&p->session.line);
    if (st == ST_OK && p->options->json)
        st = print_json(p);
    if (st == ST_OK)
        st = write_outputs(p);
    if (st == ST_OK)
        warn(p);
    return st;
}

/* What only the embedded prover does must not be asked of the daemons. */
static enum status check_connected(const struct prove_options *o)
{
    if (o->r1cs)
        return fail(ST_USAGE, "--r1cs: the daemons have the circuit's own: `pinion circuit add "
                              "--r1cs`; leave it out with --connect");
    if (o->check_key || o->json)
        return fail(ST_USAGE, "--%s: is not for --connect", o->json ? "json" : "check-key");
    return ST_OK;
}

static enum status run_connected(const struct prove_options *o, char **operands)
{
    struct progress_line line;
    const char *inputs[] = {operands[0], operands[1], NULL};
    const char *outputs[] = {operands[2], operands[3], NULL};
    enum status st = check_connected(o);
    if (st == ST_OK)
        st = session_check_outputs(inputs, outputs);
    if (st != ST_OK)
        return st;
    progress_line_init(&line, !o->compute.quiet);
    st = connected_prove(o->connect, operands[0], operands[1], operands[2], operands[3], o->seed,
                         &line.progress);
    progress_line_fini(&line);
    return st;
}

static enum status run_embedded(const void *options, char **operands)
{
    struct proving p = {.options = options, .proof_path = operands[2], .public_path = operands[3]};
    const char *inputs[] = {operands[0], operands[1], p.options->r1cs, NULL};
    const char *outputs[] = {operands[2], operands[3], NULL};
    enum status st = session_check_outputs(inputs, outputs);
    if (st == ST_OK)
        st = session_begin(&p.session, &p.options->compute);
    if (st == ST_OK)
        st = backend_create(&p.backend, p.options->backend, p.session.pool, p.backend_warning,
                            sizeof p.backend_warning);
    if (st == ST_OK)
        st = run_in_session(&p, operands);
    wtns_close(&p.wtns);
    synthesis_close(&p.synthesis);
    backend_destroy(p.backend);
    session_end(&p.session);
    return st;
}

static enum status run(const void *options, char **operands)
{
    const struct prove_options *o = options;
    return o->connect ? run_connected(o, operands) : run_embedded(o, operands);
}

static const struct prove_options defaults = {.compute = COMPUTE_DEFAULTS, .backend = "auto"};

static const struct option_spec options[] = {
    {"r1cs", "FILE",
     "check the witness against this circuit first; names the constraint that fails", OPTION_TEXT,
     offsetof(struct prove_options, r1cs), 0, 0},
    {"check-key", NULL, "check every point of the key: on its curve and in its subgroup (slow)",
     OPTION_FLAG, offsetof(struct prove_options, check_key), 0, 0},
    {"backend", "auto|cpu|cuda", "what to prove on (default: auto)", OPTION_CHOICE,
     offsetof(struct prove_options, backend), 0, 0},
    {"connect", "ADDR", "prove on running daemons: their --dir, or ipc://SOCKET", OPTION_TEXT,
     offsetof(struct prove_options, connect), 0, 0},
    {"json", NULL, "print the time of each stage as one line of JSON", OPTION_FLAG,
     offsetof(struct prove_options, json), 0, 0},
    {"seed", "HEX", "r and s, 64 hex digits each; equal ones break zero knowledge: tests only",
     OPTION_TEXT, offsetof(struct prove_options, seed), 0, 0},
    COMPUTE_OPTIONS,
    {0},
};

const struct command cmd_prove = {
    .name = "prove",
    .operands = "KEY WITNESS PROOF PUBLIC",
    .min_operands = 4,
    .max_operands = 4,
    .summary = "make a proof",
    .about =
        "Proves that WITNESS (.wtns) satisfies the circuit of KEY (.zkey). Verifies the proof, "
        "then\n"
        "writes it to PROOF and the public values to PUBLIC, both or neither, as snarkjs' JSON.\n",
    .examples = "  pinion prove circuit.zkey witness.wtns proof.json public.json\n"
                "  pinion prove --r1cs circuit.r1cs circuit.zkey witness.wtns proof.json "
                "public.json\n"
                "  pinion prove --json --threads 4 circuit.zkey witness.wtns proof.json "
                "public.json\n",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof defaults,
    .run = run,
};
