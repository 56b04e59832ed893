// SIGKILL at random moments, to all three kinds of processes: every accepted job ends with a proof
// that verifies, no work is done twice, and every byte of the arena is free again. PINION_KILLS multiplies the length,
// PINION_SEED chooses other moments.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { chain, Daemons, random } from "./daemons.mjs";

const SCALE = Number(process.env.PINION_KILLS ?? 1);
const seed = Number(process.env.PINION_SEED ?? 20260301);
const KILLS = { "pinion-synth": 10 * SCALE, "pinion-gpud": 3 * SCALE, "pinion-coord": 3 * SCALE };
const circuits = [
    fixture("bn128", "domexact"),
    fixture("bls12381", "domover"),
    fixture("bn128", "mul2"),
    ...chain("bls12381"),
];

/** Whether a synthesis process has its slice mapped, so is at writing it. */
function writes(pid) {
    try {
        return /pinion-[0-9a-f]+-arena/.test(fs.readFileSync(`/proc/${pid}/maps`, "utf8"));
    } catch {
        return false; // gone
    }
}

/** A synthesis process that is stopped in the midst of writing; none if that does not happen soon. */
async function catchWriting(d) {
    const synths = d.processes("pinion-synth"); // killed by nobody else meanwhile
    for (let i = 0; i < 300; i++) {
        for (const synth of synths) {
            process.kill(synth.pid, "SIGSTOP");
            if (writes(synth.pid)) {
                return [synth];
            }
            process.kill(synth.pid, "SIGCONT");
        }
        await pause(1);
    }
    return [];
}

/** Kills each so often, in random order, at random moments; half of synthesis while it writes. */
async function killAll(d, pick) {
    let caught = 0;
    const order = Object.entries(KILLS).flatMap(([name, n]) => Array(n).fill(name));
    while (order.length > 0) {
        await pause(20 + pick(250));
        const [name] = order.splice(pick(order.length), 1);
        let victims = d.processes(name);
        if (name === "pinion-synth" && pick(2)) {
            const writing = await catchWriting(d);
            caught += writing.length;
            victims = writing.length > 0 ? writing : victims;
        }
        if (victims.length === 0) {
            order.push(name); // not up again yet
        } else {
            process.kill(victims[pick(victims.length)].pid, "SIGKILL");
        }
    }
    console.log(`${caught} killed while writing`);
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
        if (run.status === 4) { // the coordinator is not up again yet
            assert.match(run.stderr, /no coordinator answers/, d.logText());
            continue;
        }
        assert.equal(run.status, 1, `${run.stderr}\n${d.logText()}`);
        assert.match(run.stderr, /held/, d.logText());
        await d.ok("retry", id);
    }
    p.assertVerifies(f.vkey, publics, proof);
}

/** No slice that was submitted is synthesized again, but for one lost while lean, or of a job that
 * was held, according to the coordinator's log. */
function assertNothingTwice(log) {
    const events = log.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const jobOf = new Map(); // slot and generation -> job
    const submitted = new Set();
    let grants = 0;
    for (const e of events.filter((x) => x.component === "coord")) {
        const slice = `${e.slot}/${e.generation}`;
        if (e.event === "slice granted") {
            assert.ok(!submitted.has(e.job), `${e.job} is synthesized again\n${log}`);
            jobOf.set(slice, e.job);
            grants++;
        } else if (e.event === "slice submitted") {
            submitted.add(jobOf.get(slice));
        } else if (e.event === "lean slice lost") {
            submitted.delete(jobOf.get(slice));
        } else if (e.event === "job held") {
            submitted.delete(e.job);
        }
    }
    assert.ok(grants > 0 && submitted.size > 0, "the log tells of grants and submissions");
    console.log(`${grants} grants`);
}

test("killed at random, nothing is lost", async () => {
    console.log(`seed ${seed}`);
    const d = await new Daemons({ synths: 3, config: 'log = { format = "json"; };' }).start();
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
    assertNothingTwice(d.logText());
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
});
