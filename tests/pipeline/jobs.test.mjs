// Many jobs of many circuits through all processes: the proofs are those of the embedded prover,
// and the arena's books balance all the time.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { fixtures } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { chain, Daemons } from "./daemons.mjs";

const EACH = Number(process.env.PINION_JOBS ?? 5); // of every circuit
const SEED = "0".repeat(63) + "7" + "0".repeat(62) + "1b";
const proving = fixtures().filter((f) => fs.existsSync(f.zkey));

const nameOf = (f) => `${f.curve}-${f.name}`;

test("every fixture, with a seed: the bytes of the embedded prover", async () => {
    const d = await new Daemons({ config: "allow_seed = true;" }).start();
    for (const f of proving) {
        await d.addCircuit(nameOf(f), f.zkey, "--r1cs", f.r1cs);
        const embedded = p.proved(f.zkey, f.wtns, "--seed", SEED);
        const out = p.folder();
        const proof = path.join(out, "proof.json");
        const publics = path.join(out, "public.json");
        const run = p.pinion("prove", "--connect", d.dir, "--seed", SEED, f.zkey, f.wtns, proof, publics);
        p.assertStatus(run, 0);
        assert.deepEqual(fs.readFileSync(proof), fs.readFileSync(embedded.proof));
        assert.deepEqual(fs.readFileSync(publics), fs.readFileSync(f.publics));
    }
    const { arena, jobs } = await d.until((s) => s.arena.granted === 0, 10);
    assert.equal(arena.free, arena.bytes);
    assert.equal(jobs.done, proving.length);
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
});

// With 12 jobs of each circuit the two large ones alone would take 9 MiB at once.
test("more jobs than the arena holds: all verify, nothing is lost", async () => {
    const circuits = [...proving, ...chain("bn128"), ...chain("bls12381")];
    const d = await new Daemons({ synths: 4, arena: "2M" }).start();
    const waits = [];
    for (const [i, f] of circuits.entries()) {
        await d.addCircuit(nameOf(f), f.zkey);
        const folder = p.folder();
        for (let k = 0; k < EACH; k++) {
            fs.symlinkSync(f.wtns, path.join(folder, `${k}.wtns`));
        }
        const priority = ["low", "normal", "high"][i % 3];
        const options = ["--id", nameOf(f), "--priority", priority, "--wait", "--json"];
        waits.push(d.ok("submit", "--circuit", nameOf(f), "--witness", folder, ...options));
        await d.status();
    }
    for (const [i, f] of circuits.entries()) {
        const results = (await waits[i]).trim().split("\n").map((line) => JSON.parse(line));
        assert.equal(results.length, EACH);
        for (const { state, proof, public: publics } of results) {
            assert.equal(state, "done");
            const [a, b] = [proof, publics].map((x) => p.file(".json", JSON.stringify(x)));
            p.assertVerifies(f.vkey, b, a);
        }
        await d.status();
    }
    const { jobs } = await d.until((s) => s.arena.granted === 0, 10);
    assert.equal(jobs.done, EACH * circuits.length);
    assert.equal(jobs.waiting + jobs.running + jobs.failed + jobs.held, 0);
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
});
