// Bad luck: processes that stand still, a stop in the middle of work, arenas of which a byte is missing.
// Every accepted job is proved in the end, and nobody is blamed for what is not his fault.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { fixture } from "../js/fixtures.js";
import { chain, Daemons } from "./daemons.mjs";

const IMPATIENT = "timeouts = { stuck_seconds = 2; stuck_factor = 2; }; lease = { seconds = 1; term_seconds = 1; kill_seconds = 1; };";
const mul2 = fixture("bn128", "mul2");
const [work = mul2] = chain("bn128");

async function withWork(options) {
    const d = await new Daemons(options).start();
    await d.addCircuit("work", work.zkey);
    return d;
}

async function submit(d, n) {
    for (let i = 0; i < n; i++) {
        await d.ok("submit", "--circuit", "work", "--witness", work.wtns, "--id", `j${i}`);
    }
}

async function assertAllDone(d, n) {
    for (let i = 0; i < n; i++) {
        await d.ok("wait", `j${i}`, "--timeout", "60");
    }
    const s = await d.until((now) => now.arena.granted === 0, 10);
    assert.equal(s.jobs.done, n);
    return s;
}

async function assertStops(d) {
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
}

test("a coordinator that stands still: nobody else is ended for it", async () => {
    const d = await withWork({ synths: 1, config: IMPATIENT });
    await submit(d, 6);
    const [{ pid }] = d.processes("pinion-coord");
    process.kill(pid, "SIGSTOP");
    await pause(5000); // more than both the daemon and a synthesis process may be silent
    process.kill(pid, "SIGCONT");
    assert.equal((await assertAllDone(d, 6)).restarts, 0);
    await assertStops(d);
});

// A synthesis process that stands still is given a job only if it asked just before.
for (const [name, synths, deaths] of [["pinion-gpud", 1, [1]], ["pinion-synth", 2, [0, 1]]]) {
    test(`${name} stands still with work to do: it is ended, the work is done`, async () => {
        const d = await withWork({ synths, config: IMPATIENT });
        const [{ pid }] = d.processes(name);
        process.kill(pid, "SIGSTOP");
        await submit(d, 4);
        const { restarts } = await assertAllDone(d, 4);
        assert.ok(deaths.includes(restarts), `${restarts} deaths`);
        if (restarts === 0) {
            process.kill(pid, "SIGCONT");
        }
        await assertStops(d);
    });
}

for (const [signal, times] of [["SIGTERM", 1], ["SIGINT", 1], ["SIGINT", 3]]) {
    test(`${signal} ${times} times in the middle of work: the jobs go on after a start`, async () => {
        const d = await withWork({ synths: 2, arena: "2M" });
        await submit(d, 8);
        const how = await d.stop({ keep: true, signal, times });
        assert.equal(how.signal, null);
        await d.start();
        await assertAllDone(d, 8);
        await assertStops(d);
    });
}

test("eight processes at an arena for one job; and at one of a page less", async (t) => {
    const [big] = chain("bn128", 15);
    if (!big) {
        t.skip("python3 is missing");
        return;
    }
    let d = await new Daemons({ synths: 1, arena: "2M" }).start();
    await d.addCircuit("work", big.zkey);
    const refused = await d.run("submit", "--circuit", "work", "--witness", big.wtns);
    assert.equal(refused.status, 4, refused.stderr);
    const [, need] = refused.stderr.match(/its jobs need (\d+) bytes of the arena, which has 2097152: raise arena.size/);
    await assertStops(d);

    d = await new Daemons({ synths: 1, arena: `${need - 4096}` }).start();
    await d.addCircuit("work", big.zkey);
    await d.refused(4, /raise arena.size/, "submit", "--circuit", "work", "--witness", big.wtns);
    await assertStops(d);

    d = await new Daemons({ synths: 8, arena: need }).start();
    await d.addCircuit("work", big.zkey);
    await d.addCircuit("small", mul2.zkey);
    for (let i = 0; i < 2; i++) {
        await d.ok("submit", "--circuit", "work", "--witness", big.wtns, "--id", `j${i}`);
        await d.ok("submit", "--circuit", "small", "--witness", mul2.wtns, "--id", `s${i}`);
    }
    for (let i = 0; i < 2; i++) {
        await d.ok("wait", `j${i}`, "--timeout", "60");
        await d.ok("wait", `s${i}`, "--timeout", "60");
    }
    await assertStops(d);
});
