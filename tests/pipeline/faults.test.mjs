// At every fault point that the life of two jobs passes, a process dies or an operation fails: both jobs
// end with proofs that verify, once, and every byte of the arena is free. The points are found by tracing a
// run without faults. PINION_FAULTS=all takes every pass of every point instead of the first.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { Daemons } from "./daemons.mjs";

const ALL = process.env.PINION_FAULTS === "all";
const SIDE_BY_SIDE = 2;
const jobs = [fixture("bn128", "mul2"), fixture("bls12381", "mul2")];
const FAIL = ["journal.commit", "spool.sync", "spool.write", "synth.unmapped", "gpud.copy", "gpud.prove", "gpud.verify"];

/** A command until it succeeds: what fails once, or a coordinator that is down, passes. */
async function persist(d, ...args) {
    for (let i = 0; i < 100; i++) {
        const run = await d.run(...args);
        if (run.status === 0) {
            return run.stdout;
        }
        assert.equal(run.status, 4, `pinion ${args.join(" ")}: ${run.stderr}\n${d.logText()}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return assert.fail(`pinion ${args.join(" ")}: never\n${d.logText()}`);
}

/** The life of two jobs under a fault. */
async function life(env) {
    const folder = p.folder();
    const token = path.join(folder, "token");
    fs.writeFileSync(token, "");
    const d = new Daemons({ synths: 1, env: { ...env, PINION_FAULT_ONCE: token } });
    await d.start();
    for (const [i, f] of jobs.entries()) {
        await persist(d, "circuit", "add", f.curve, "--key", f.zkey, "--r1cs", f.r1cs);
        await persist(d, "submit", "--circuit", f.curve, "--witness", f.wtns, "--id", `job-${i}`);
    }
    for (const [i, f] of jobs.entries()) {
        const [proof, publics] = ["proof", "public"].map((n) => path.join(folder, `${n}-${i}.json`));
        await persist(d, "wait", `job-${i}`, "--timeout", "30", "--proof", proof, "--public", publics);
        p.assertVerifies(f.vkey, publics, proof);
    }
    const s = await d.until((now) => now.arena.granted === 0 && now.jobs.done === jobs.length, 20);
    assert.equal(s.jobs.waiting + s.jobs.running + s.jobs.failed + s.jobs.held, 0);
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
    return !fs.existsSync(token);
}

/** Runs the tasks, a few at a time. */
async function each(tasks, run) {
    const left = [...tasks];
    await Promise.all(
        Array.from({ length: SIDE_BY_SIDE }, async () => {
            while (left.length > 0) {
                await run(left.shift());
            }
        }),
    );
}

test("at every fault point, once", async () => {
    const trace = path.join(p.folder(), "trace");
    await life({ PINION_FAULT_TRACE: trace });
    const passes = new Map();
    for (const name of fs.readFileSync(trace, "utf8").trim().split("\n")) {
        passes.set(name, (passes.get(name) ?? 0) + 1);
    }
    assert.ok(passes.size > 20, [...passes.keys()].join(" "));
    assert.deepEqual(FAIL.filter((name) => !passes.has(name)), []);
    const faults = [];
    for (const [name, n] of passes) {
        for (let i = 1; i <= (ALL ? n : 1); i++) {
            faults.push(`${name}:${i}:kill`);
            if (FAIL.includes(name)) {
                faults.push(`${name}:${i}:fail`);
            }
        }
    }
    const missed = [];
    await each(faults, async (fault) => {
        try {
            if (!(await life({ PINION_FAULT: fault }))) {
                missed.push(fault);
            }
        } catch (error) {
            error.message = `${fault}: ${error.message}`;
            throw error;
        }
    });
    console.log(`${faults.length} faults, not met: ${missed.join(" ") || "none"}`);
    assert.ok(missed.length < faults.length / 10, "the faults happen");
});

// What dies each time is held after three deaths, with what is known, and the queue goes on.
for (const point of ["synth.written", "gpud.proved"]) {
    test(`for ever at ${point}: the job is held`, async () => {
        const d = await new Daemons({ synths: 1, env: { PINION_FAULT: `${point}:0:kill` } }).start();
        const [f] = jobs;
        await d.addCircuit(f.curve, f.zkey);
        await d.ok("submit", "--circuit", f.curve, "--witness", f.wtns, "--id", "deadly");
        await d.refused(1, /held.*died with it/, "wait", "deadly", "--timeout", "60");
        const s = await d.until((now) => now.arena.granted === 0, 10);
        assert.equal(s.jobs.held, 1);
        assert.deepEqual(await d.stop(), { code: 0, signal: null });
    });
}
