// What the program says beside the proof: timings, warnings, hints.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";

const f = fixture("bn128", "mul2");
const fresh = fixture("bn128", "domexact_new");

test("prove --json tells where the time went, and nothing of the witness", () => {
    const run = p.proved(f.zkey, f.wtns, "--json", "--threads", "2");
    assert.match(run.stdout, /^[^\n]+\n$/);
    const report = JSON.parse(run.stdout);
    assert.equal(report.curve, "bn254");
    assert.equal(report.backend, "cpu");
    assert.equal(report.threads, 2);
    assert.match(report.isa, /^[a-z]+$/);
    const { domain, constraints, variables } = JSON.parse(
        p.pinion("inspect", "--json", f.zkey).stdout,
    );
    assert.deepEqual([report.domain, report.constraints, report.variables], [
        domain,
        constraints,
        variables,
    ]);
    const times = Object.values(report.stages);
    times.forEach((ms) => assert.ok(ms >= 0));
    const sum = times.reduce((a, b) => a + b);
    assert.ok(sum > 0 && sum <= report.ms * 1.001 + 0.01, `${sum} of ${report.ms} ms`);
    for (const stage of ["evaluate", "ntt", "msm_h", "msm_b2", "verify"]) {
        assert.ok(stage in report.stages, stage);
    }
});

test("without --json a proof says nothing", () => {
    const run = p.proved(f.zkey, f.wtns);
    assert.equal(run.stdout + run.stderr, "");
});

test("a key that nobody contributed to proves with one warning", () => {
    const run = p.proved(fresh.zkey, fresh.wtns);
    assert.match(run.stderr, /^pinion: warning: [^\n]*domexact_new[^\n]*contributed[^\n]*\n$/);
    assert.equal(p.proved(fresh.zkey, fresh.wtns, "--quiet").stderr, "");
});

test("a seed is warned of", () => {
    const seed = "1".repeat(128);
    assert.match(p.proved(f.zkey, f.wtns, "--seed", seed).stderr, /^pinion: warning: --seed/);
});

test("setup insists on --insecure, and then still warns", () => {
    const key = path.join(p.folder(), "k.zkey");
    const refused = p.pinion("setup", f.r1cs, key);
    p.assertStatus(refused, 2);
    assert.match(refused.stderr, /--insecure/);
    assert.ok(!fs.existsSync(key));
    const made = p.pinion("setup", "--insecure", f.r1cs, key);
    p.assertStatus(made, 0);
    assert.match(made.stderr, /^pinion: warning: [^\n]*INSECURE[^\n]*\n$/);
});

test("an output does not overwrite an input", () => {
    const folder = p.folder();
    const key = path.join(folder, "k.zkey");
    const link = path.join(folder, "link.zkey");
    const other = path.join(folder, "other.json");
    fs.copyFileSync(f.zkey, key);
    fs.symlinkSync(key, link);
    for (const place of [key, link]) {
        for (const args of [
            ["prove", key, f.wtns, place, other],
            ["prove", key, f.wtns, other, place],
            ["vkey", key, place],
        ]) {
            const run = p.pinion(...args);
            p.assertStatus(run, 2);
            assert.match(run.stderr, /overwrite/);
        }
    }
    p.assertStatus(p.pinion("prove", f.zkey, f.wtns, other, other), 2);
    assert.deepEqual(fs.readFileSync(key), fs.readFileSync(f.zkey));
    assert.deepEqual(fs.readdirSync(folder).sort(), ["k.zkey", "link.zkey"]);
});

test("a backend that is not there is a lack of resources", () => {
    const run = p.prove(f.zkey, f.wtns, "--backend", "cuda");
    p.assertNoProof(run, 4, /built without CUDA|no CUDA-capable device|driver|no device/);
    p.proved(f.zkey, f.wtns, "--backend", "cpu");
    p.proved(f.zkey, f.wtns, "--backend", "auto");
});

test("mistyped words get a hint", () => {
    const hints = [
        [["proof", "a", "b", "c", "d"], /did you mean prove\?/],
        [["prove", "--thread-count=2", "a", "b", "c", "d"], /unknown option --thread-count/],
        [["prove", "--jsno", "a", "b", "c", "d"], /did you mean --json\?/],
        [["verify", "a", "b"], /verify needs VKEY PUBLIC PROOF, 2 operands given/],
    ];
    for (const [args, pattern] of hints) {
        const run = p.pinion(...args);
        p.assertStatus(run, 2);
        assert.match(run.stderr, pattern);
    }
});
