// A user who means harm, on the socket itself: whatever is sent and however much, the coordinator stays
// up, keeps its books, and serves the others in time.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";

import { badFiles, fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { Daemons, random } from "./daemons.mjs";
import { Wire } from "./wire.mjs";

const PROMPT_MS = 10_000; // an honest request among hostile ones, on a busy machine
const seed = Number(process.env.PINION_SEED ?? 20261129);
const mul2 = fixture("bn128", "mul2");
const harms = fileURLToPath(new URL("harms.mjs", import.meta.url));
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
let d;

/** Runs meanwhile() while the other user does it. */
async function during(harm, meanwhile) {
    const child = spawn(process.execPath, [harms, harm, d.dir], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve, reject) => {
        child.stdout.once("data", resolve);
        child.once("exit", () => reject(new Error(`${harm} ended at once`)));
    });
    try {
        await meanwhile();
    } finally {
        child.kill("SIGKILL");
    }
}

const skip = process.getuid() !== 0 && "it takes root to become another user";

before(async () => {
    d = new Daemons({ synths: 1, arena: "4M", config: "upload = { idle_seconds = 1; };" });
    fs.chmodSync(d.folder, 0o755);
    await d.start();
    await d.addCircuit("mul2", mul2.zkey, "--r1cs", mul2.r1cs);
});
after(async () => {
    assert.equal((await d.status()).restarts, 0);
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
});

async function timed(action) {
    const start = Date.now();
    await action();
    return Date.now() - start;
}

async function assertServes() {
    for (let i = 0; i < 5; i++) {
        assert.ok((await timed(() => d.status())) < PROMPT_MS, `status, ${i}`);
        const ms = await timed(() => d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--wait"));
        assert.ok(ms < 2 * PROMPT_MS, `a job took ${ms} ms`);
    }
}

test("requests of any bytes", async () => {
    console.log(`seed ${seed}`);
    const pick = random(seed);
    const good = Buffer.from('{"op":"submit","protocol":1,"id":"x","circuit":"mul2","size":10,"sha256":"00","holding":[[1,2]],"client":0,"incarnation":"1","seq":1}');
    const texts = [
        "", "\0", "{}", "[]", "null", '{"op":"status"}', '{"op":"status","protocol":2}', '{"op":5,"protocol":1}',
        `{"op":"${"a".repeat(60000)}","protocol":1}`, `${"[".repeat(5000)}${"]".repeat(5000)}`,
        '{"op":"wait","protocol":1,"id":"../../etc/passwd"}', '{"op":"wait","protocol":1,"id":".."}',
        '{"op":"wait","protocol":1,"id":"a","wait_ms":-1}', '{"op":"wait","protocol":1,"id":"a\\u0000b"}',
        '{"op":"list","protocol":1,"before":-1}', '{"op":"list","protocol":1,"before":9223372036854775807,"limit":200}',
        '{"op":"list","protocol":1,"before":1e300}', '{"op":"list","protocol":1,"limit":18446744073709551616}',
        `{"op":"wait","protocol":1,"id":"${"9".repeat(4000)}"}`,
        '{"op":"submit","protocol":1,"circuit":"mul2","size":9223372036854775807,"sha256":"' + "0".repeat(64) + '"}',
        '{"op":"submit","protocol":1,"circuit":"mul2","size":1,"sha256":"' + "0".repeat(64) + '","deadline":9223372036854775807,"priority":"critical","id":"huge-deadline"}',
        '{"op":"submit","protocol":1,"circuit":"mul2","size":1,"sha256":"zz"}',
        '{"op":"upload","protocol":1,"id":"none","offset":0}', '{"op":"commit","protocol":1,"id":"none"}',
        '{"op":"hello","protocol":1,"role":"gpud","pid":1,"start_time":"1","incarnation":"0000000000000001","seq":1,"holding":[]}',
        '{"op":"hello","protocol":1,"role":"synth","pid":-1,"start_time":"-1","incarnation":"0","seq":0,"holding":[[0]]}',
        '{"op":"take","protocol":1,"client":65535,"incarnation":"1","seq":1,"holding":[]}',
        '{"op":"done","protocol":1,"client":0,"incarnation":"ffffffffffffffff","seq":9223372036854775807,"holding":[],"handle":[4294967295,4294967295]}',
        '{"op":"bye","protocol":1}', '{"op":"keys","protocol":1,"evict":"../x"}',
        '{"op":"circuit_add","protocol":1,"name":"..","key":"/dev/zero"}', '{"op":"circuit_add","protocol":1,"name":"zero","key":"/dev/zero"}',
        '{"op":"circuit_add","protocol":1,"name":"dir","key":"/etc"}', '{"op":"circuit_remove","protocol":1,"name":"../circuits"}',
    ];
    const w = new Wire(d.dir);
    for (const text of texts) {
        const reply = await w.send(Buffer.from(text, "latin1"));
        assert.ok(reply === null || typeof reply.ok === "boolean", text.slice(0, 100));
    }
    for (let i = 0; i < 2000; i++) {
        const bytes = Buffer.from(good);
        for (let k = 1 + pick(4); k > 0; k--) {
            bytes[pick(bytes.length)] = pick(256);
        }
        const reply = await w.send(bytes.subarray(0, pick(3) ? bytes.length : pick(bytes.length)));
        assert.equal(typeof reply.ok, "boolean");
    }
    w.end();
    await d.status();
});

test("connections that are no SP, messages beyond every size", async () => {
    for (const bytes of [Buffer.from("GET / HTTP/1.0\r\n\r\n"), Buffer.alloc(100, 0xff), Buffer.alloc(0)]) {
        const w = new Wire(d.dir);
        w.socket.once("connect", () => w.socket.write(bytes));
        await pause(50);
        w.end();
    }
    const large = new Wire(d.dir);
    assert.equal(await large.send(Buffer.alloc(3 << 20, 0x20)), null); // disconnected
    const lying = new Wire(d.dir);
    await lying.ready;
    lying.socket.write(Buffer.from([1, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]));
    assert.equal(await lying.gone, true);
    await assertServes();
});

test("connections that hang up at once", async () => {
    const { pid } = (await d.status()).coord;
    const descriptors = () => fs.readdirSync(`/proc/${pid}/fd`).length;
    const before = descriptors();
    for (let n = 0; n < 4000; n += 100) {
        await Promise.all(Array.from({ length: 100 }, () => new Promise((resolve) => {
            const socket = net.connect(`${d.dir}/coord.sock`, () => socket.destroy());
            socket.on("error", () => {});
            socket.on("close", resolve);
        })));
    }
    await d.until(() => descriptors() <= before + 2, 10);
});

test("uploads: wrong sizes, digests, offsets and order", async () => {
    const w = new Wire(d.dir);
    const bytes = fs.readFileSync(mul2.wtns);
    const submit = (id, size, digest) => w.ask("submit", { id, circuit: "mul2", size, sha256: digest });
    const code = (reply) => (reply.ok ? "ok" : reply.error.code);

    assert.equal(code(await w.ask("upload", { id: "u", offset: 0 }, bytes)), "unknown");
    assert.equal(code(await submit("u", bytes.length, "0".repeat(64))), "ok");
    assert.equal(code(await w.ask("commit", { id: "u" })), "input"); // incomplete
    assert.equal(code(await w.ask("upload", { id: "u", offset: 5 }, bytes.subarray(5))), "input"); // a gap
    assert.equal(code(await w.ask("upload", { id: "u", offset: 0 }, Buffer.alloc(bytes.length + 1))), "input");
    assert.equal(code(await w.ask("upload", { id: "u", offset: Number.MAX_SAFE_INTEGER }, bytes)), "input");
    assert.equal((await w.ask("upload", { id: "u", offset: 0 }, bytes)).offset, bytes.length);
    assert.match((await w.ask("commit", { id: "u" })).error.message, /SHA-256/);
    // the announcement as it should have been is another request until the first is forgotten
    assert.ok(["ok", "refused"].includes(code(await submit("u", bytes.length, sha256(bytes)))));

    assert.equal(code(await submit("v", bytes.length, sha256(bytes))), "ok");
    assert.equal(code(await submit("v", bytes.length + 1, sha256(bytes))), "refused");
    for (let i = 0; i < bytes.length; i += 7) { // byte by byte, everything twice
        const part = bytes.subarray(i, i + 7);
        assert.equal((await w.ask("upload", { id: "v", offset: i }, part)).ok, true);
        assert.equal((await w.ask("upload", { id: "v", offset: i }, part)).ok, true);
    }
    const states = await Promise.all([1, 2, 3].map(() => w.ask("commit", { id: "v" })));
    states.forEach((s) => assert.equal(s.ok, true));
    await d.ok("wait", "v", "--timeout", "20");
    assert.equal((await w.ask("commit", { id: "v" })).state, "done");
    assert.equal((await submit("v", bytes.length, sha256(bytes))).upload, null);
    w.end();
});

test("a thousand uploads that are never completed: one's own limit, not that of others", { skip }, async () => {
    await during("uploads", assertServes);
    const spool = path.join(d.dir, "spool");
    const deadline = Date.now() + 10_000;
    while (fs.readdirSync(spool).length > 0) {
        assert.ok(Date.now() < deadline, "forgotten when nothing comes");
        await pause(100);
    }
});

test("hundreds who wait keep nobody out", { skip }, async () => {
    await d.ok("drain"); // his job is to stay waiting
    try {
        await during("wait", async () => {
            for (let i = 0; i < 5; i++) {
                assert.ok((await timed(() => d.status())) < PROMPT_MS);
            }
        });
    } finally {
        await d.ok("drain", "--off");
    }
});

test("replies that nobody reads keep nobody out", { skip }, async () => {
    await during("deaf", assertServes);
});

test("damaged files, through submit and circuit add", async () => {
    for (const bad of badFiles()) {
        if (/\.zkey$/.test(bad.name)) {
            const run = await d.run("circuit", "add", "bad", "--key", bad.file);
            if (run.status === 0) { // what a look at the header and a few points does not show
                await d.ok("circuit", "remove", "bad");
            } else {
                assert.equal(run.status, 3, `${bad.name}: ${run.stderr}`);
                assert.match(run.stderr, /^pinion: [^\n]+\n$/);
            }
        } else if (/\.r1cs$/.test(bad.name) && bad.name !== "good.r1cs") {
            await d.refused(3, /^pinion: [^\n]+\n$/, "circuit", "add", "bad", "--key", mul2.zkey, "--r1cs", bad.file);
        }
    }
    const data = path.dirname(badFiles()[0].file);
    await d.addCircuit("plain", path.join(data, "good.zkey"));
    await d.addCircuit("checked", path.join(data, "good.zkey"), "--r1cs", path.join(data, "good.r1cs"));
    for (const name of fs.readdirSync(data).filter((n) => n.endsWith(".wtns"))) {
        for (const circuit of ["plain", "checked"]) {
            const run = await d.run("submit", "--circuit", circuit, "--witness", path.join(data, name), "--wait");
            assert.equal(run.status, name === "good.wtns" ? 0 : 1, `${name} ${circuit}: ${run.stderr}`);
        }
    }
    const unsatisfied = path.join(data, "unsatisfied_public.wtns");
    await d.refused(1, /constraint \d+/, "submit", "--circuit", "checked", "--witness", unsatisfied, "--wait");
    await d.refused(1, /does not satisfy the circuit/, "submit", "--circuit", "plain", "--witness", unsatisfied, "--wait");
    const s = await d.until((now) => now.arena.granted === 0, 10);
    assert.equal(s.jobs.held, 0);
    for (const name of ["plain", "checked"]) {
        await d.ok("circuit", "remove", name);
    }
});

test("a circuit in use stays; cancelled, it goes", async () => {
    await d.addCircuit("brief", mul2.zkey);
    await d.ok("drain");
    await d.ok("submit", "--circuit", "brief", "--witness", mul2.wtns, "--id", "user");
    await d.refused(4, /brief.*1 of its jobs are open/, "circuit", "remove", "brief");
    await d.ok("cancel", "user");
    await d.ok("circuit", "remove", "brief");
    await d.refused(3, /brief/, "submit", "--circuit", "brief", "--witness", mul2.wtns);
    await d.addCircuit("brief", fixture("bls12381", "mul2").zkey);
    await d.ok("drain", "--off");
    await d.ok("submit", "--circuit", "brief", "--witness", fixture("bls12381", "mul2").wtns, "--wait");
    await d.ok("circuit", "remove", "brief");
});

test("nothing is left: no slice, no file in the spool", async () => {
    await d.until((s) => s.arena.granted === 0 && s.jobs.waiting + s.jobs.running === 0, 10);
    const open = fs.readdirSync(path.join(d.dir, "spool")).filter((f) => !f.endsWith("~"));
    assert.deepEqual(open, []);
});
