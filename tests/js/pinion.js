// The program under test, from the environment: PINION is its path, PINION_SCRATCH a folder for
// what the tests write.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export const program = process.env.PINION;
if (!program) {
    throw new Error("set PINION to the path of the program");
}

export const scratchRoot = process.env.PINION_SCRATCH ?? os.tmpdir();
const scratch =
    (fs.mkdirSync(scratchRoot, { recursive: true }),
    fs.mkdtempSync(path.join(scratchRoot, "run-")));
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));

/** A new empty folder that goes away with this process. */
export function folder() {
    return fs.mkdtempSync(path.join(scratch, "d-"));
}

let files = 0;

/** A new file with these contents. */
export function file(suffix, contents) {
    const name = path.join(scratch, `f${files++}${suffix}`);
    fs.writeFileSync(name, contents);
    return name;
}

/** Runs the program; {status, signal, stdout, stderr, args}. */
export function pinion(...args) {
    const done = spawnSync(program, args, { encoding: "utf8", timeout: 120_000 });
    if (done.error && done.error.code !== "ETIMEDOUT") {
        throw done.error;
    }
    return {
        status: done.status,
        signal: done.signal,
        stdout: done.stdout,
        stderr: done.stderr,
        args,
    };
}

function told(run) {
    const how = run.signal ? `signal ${run.signal}` : `status ${run.status}`;
    return `pinion ${run.args.join(" ")}\n${how}\n${run.stdout}${run.stderr}`;
}

export function assertStatus(run, status) {
    assert.equal(run.status, status, told(run));
}

/** Failed as promised: the status, nothing on stdout, exactly one line on stderr. */
export function assertRefused(run, status, pattern = /./) {
    assertStatus(run, status);
    assert.equal(run.stdout, "", told(run));
    assert.match(run.stderr, /^[^\n]+\n$/, told(run));
    assert.match(run.stderr, pattern, told(run));
}

/** Proves into a new folder; the run with the paths proof, publics and the folder's name. */
export function prove(zkey, wtns, ...options) {
    const out = folder();
    const proof = path.join(out, "proof.json");
    const publics = path.join(out, "public.json");
    return { ...pinion("prove", ...options, zkey, wtns, proof, publics), out, proof, publics };
}

/** Proves and insists on success. */
export function proved(zkey, wtns, ...options) {
    const run = prove(zkey, wtns, ...options);
    assertStatus(run, 0);
    assert.deepEqual(fs.readdirSync(run.out).sort(), ["proof.json", "public.json"], told(run));
    return run;
}

/** Refused, and nothing is left where the proof would be. */
export function assertNoProof(run, status, pattern) {
    assertRefused(run, status, pattern);
    assert.deepEqual(fs.readdirSync(run.out), [], told(run));
}

export function assertVerifies(vkey, publics, proof) {
    const run = pinion("verify", vkey, publics, proof);
    assertStatus(run, 0);
    assert.equal(run.stdout, "OK\n", told(run));
}

/** A development key for the r1cs. */
export function setup(r1cs) {
    const key = path.join(folder(), "circuit.zkey");
    const run = pinion("setup", "--insecure", r1cs, key);
    assertStatus(run, 0);
    return key;
}

/** The verification key of a proving key. */
export function vkey(zkey) {
    const out = path.join(folder(), "verification_key.json");
    assertStatus(pinion("vkey", zkey, out), 0);
    return out;
}

/** `setup` refuses the circuit and leaves no key. */
export function assertNoKey(r1cs, pattern) {
    const out = folder();
    assertRefused(pinion("setup", "--insecure", r1cs, path.join(out, "k.zkey")), 3, pattern);
    assert.deepEqual(fs.readdirSync(out), []);
}
