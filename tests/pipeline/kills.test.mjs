// SIGKILL at random moments, to all three kinds of processes: every accepted job ends with a proof
// that verifies, and every byte of the arena is free again. PINION_KILLS multiplies the length,
// PINION_SEED chooses other moments.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { Daemons, random } from "./daemons.mjs";

const SCALE = Number(process.env.PINION_KILLS ?? 1);
const seed = Number(process.env.PINION_SEED ?? 20260301);
const KILLS = { "pinion-synth": 10 * SCALE, "pinion-gpud": 3 * SCALE, "pinion-coord": 3 * SCALE };
const circuits = [
    fixture("bn128", "domexact"),
    fixture("bls12381", "domover"),
    fixture("bn128", "mul2"),
];

/** Kills each so often, in random order, at random moments. */
async function killAll(d, pick) {
    const order = Object.entries(KILLS).flatMap(([name, n]) => Array(n).fill(name));
    while (order.length > 0) {
        await pause(20 + pick(250));
        const [name] = order.splice(pick(order.length), 1);
        const victims = d.processes(name);
        if (victims.length === 0) {
            order.push(name); // not up again yet
        } else {
            process.kill(victims[pick(victims.length)].pid, "SIGKILL");
        }
    }
}

/** Submits job after job until told to stop; a coordinator that is down is asked again. */
async function submitAll(d, control) {
    const jobs = [];
    while (!control.stop) {
        const f = circuits[jobs.length % circuits.length];
        const id = `job-${jobs.length}`;
        let run;
        do {
            run = await d.run("submit", "--circuit", f.name, "--witness", f.wtns, "--id", id);
            assert.ok(run.status === 0 || run.status === 4, run.stderr);
        } while (run.status !== 0);
        jobs.push({ id, f });
    }
    return jobs;
}

/** Its proof; a job that is held because so much was killed under it is let go on. */
async function collect(d, { id, f }) {
    const out = p.folder();
    const proof = path.join(out, "proof.json");
    const publics = path.join(out, "public.json");
    for (;;) {
        const run = await d.run("wait", id, "--timeout", "60", "--proof", proof, "--public", publics);
        if (run.status === 0) {
            break;
        }
        assert.equal(run.status, 1, `${run.stderr}\n${d.logText()}`);
        assert.match(run.stderr, /held/, d.logText());
        await d.ok("retry", id);
    }
    assert.deepEqual(fs.readFileSync(publics), fs.readFileSync(f.publics));
    p.assertVerifies(f.vkey, publics, proof);
}

test("killed at random, nothing is lost", async () => {
    console.log(`seed ${seed}`);
    const d = await new Daemons({ synths: 3 }).start();
    for (const f of circuits) {
        await d.addCircuit(f.name, f.zkey);
    }
    const control = { stop: false };
    const [, jobs] = await Promise.all([
        killAll(d, random(seed)).finally(() => (control.stop = true)),
        submitAll(d, control),
    ]);
    console.log(`${jobs.length} jobs`);
    for (const job of jobs) {
        await collect(d, job);
    }
    const s = await d.until((now) => now.arena.granted === 0, 20);
    assert.equal(s.jobs.done, jobs.length);
    assert.equal(s.jobs.waiting + s.jobs.running + s.jobs.failed + s.jobs.held, 0);
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
});
