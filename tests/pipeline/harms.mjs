// What another user does to harm the rest, until he is killed: node harms.mjs WHAT DIR. Says "on"
// once it is under way.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import { fixture } from "../js/fixtures.js";
import { Wire } from "./wire.mjs";

const STRANGER = 65534;
const witness = fs.readFileSync(fixture("bn128", "mul2").wtns); // while it may be read

const harms = {
    /** Connections without end, each of which waits for a job all the time. */
    async wait(dir) {
        const first = new Wire(dir);
        await first.ask("submit", { id: "parked", circuit: "mul2", size: witness.length, sha256: createHash("sha256").update(witness).digest("hex") });
        await first.ask("upload", { id: "parked", offset: 0 }, witness);
        assert.equal((await first.ask("commit", { id: "parked" })).state, "waiting");
        await crowd(dir, 600, async (w) => {
            while (!w.closed) {
                await w.ask("wait", { id: "parked", wait_ms: 1000 });
            }
        });
    },

    /** Requests without end whose replies are never read. */
    async deaf(dir) {
        await crowd(dir, 40, async (w) => {
            w.socket.pause();
            while (!w.closed) {
                w.ask("status");
                await pause(0);
            }
        });
    },

    /** Uploads without end that are never completed. */
    async uploads(dir) {
        let n = 0;
        await crowd(dir, 8, async (w) => {
            while (!w.closed) {
                await w.ask("submit", { id: `open-${n++}`, circuit: "mul2", size: 1000, sha256: "0".repeat(64) });
            }
        });
    },
};

async function crowd(dir, size, act) {
    const all = Array.from({ length: size }, () => new Wire(dir));
    all.forEach((w) => w.ready.then(() => act(w)).catch(() => {}));
    await pause(1500);
    process.stdout.write("on\n");
    await pause(60_000);
}

process.setgid(STRANGER);
process.setuid(STRANGER);
await harms[process.argv[2]](process.argv[3]);
