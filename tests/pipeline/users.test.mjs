// Two users and a member of the admin group on one coordinator: everybody may submit, each sees and
// cancels his own jobs alone, and only those who may handle the daemons.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { Daemons } from "./daemons.mjs";

const STRANGER = { uid: 65534, gid: 65534 };
const OTHER = { uid: 65533, gid: 65533 };
const NNGCAT = "nngcat";

/** A user and a group that is his by /etc/passwd, so that he can be made an admin; null if none. */
function member() {
    const lines = (file) => fs.readFileSync(file, "utf8").split("\n").map((l) => l.split(":"));
    const groups = new Map(lines("/etc/group").map((g) => [g[2], g[0]]));
    const user = lines("/etc/passwd").find((u) => Number(u[2]) > 0 && u[3] !== "65534" && groups.has(u[3]));
    return user ? { uid: Number(user[2]), gid: Number(user[3]), group: groups.get(user[3]) } : null;
}

const admin = member();
const mul2 = fixture("bn128", "mul2");
let d, witness, key;

function as(user, command, ...args) {
    const run = spawnSync(command, args, { encoding: "utf8", timeout: 60_000, cwd: "/", ...user });
    assert.ifError(run.error);
    return { ...run, args };
}
const pinionAs = (user, ...args) => as(user, p.program, ...args, "--dir", d.dir);

function whyNot() {
    if (process.getuid() !== 0) {
        return "it takes root to become other users";
    }
    const run = spawnSync(p.program, ["--version"], { cwd: "/", ...STRANGER });
    return run.status === 0 ? false : `another user cannot run ${p.program}`;
}
const skip = whyNot();

/** The jobs that the user gets listed. */
function listedFor(user) {
    const request = ["--data", '{"op":"list","protocol":1}', "--raw", "--recv-timeout", "5"];
    const run = as(user, NNGCAT, "--req", "--dial", `ipc://${d.dir}/coord.sock`, ...request);
    return JSON.parse(run.stdout).jobs.map((j) => j.id).sort();
}

function countsFor(user) {
    const run = pinionAs(user, "status", "--json");
    p.assertStatus(run, 0);
    return JSON.parse(run.stdout).jobs;
}

before(async () => {
    if (skip) {
        return;
    }
    const config = admin ? `admin_group = "${admin.group}";` : "";
    d = new Daemons({ synths: 1, config: `${config} allow_seed = false;` });
    fs.chmodSync(d.folder, 0o755);
    await d.start();
    witness = path.join(d.folder, "w.wtns");
    key = path.join(d.folder, "k.zkey");
    fs.copyFileSync(mul2.wtns, witness);
    fs.copyFileSync(mul2.zkey, key);
    await d.addCircuit("mul2", key);
    await d.ok("submit", "--circuit", "mul2", "--witness", witness, "--id", "roots", "--wait");
    p.assertStatus(pinionAs(OTHER, "submit", "--circuit", "mul2", "--witness", witness, "--id", "others", "--wait"), 0);
});
after(async () => d && assert.deepEqual(await d.stop(), { code: 0, signal: null }));

test("a second user's job is proved for him", { skip }, () => {
    const submit = pinionAs(STRANGER, "submit", "--circuit", "mul2", "--witness", witness, "--id", "mine", "--wait");
    p.assertStatus(submit, 0);
    const done = JSON.parse(pinionAs(STRANGER, "wait", "mine", "--json").stdout);
    assert.equal(done.state, "done");
    assert.equal(done.proof.protocol, "groth16");
    p.assertStatus(pinionAs(STRANGER, "circuit", "list"), 0);
    p.assertStatus(pinionAs(STRANGER, "keys"), 0);
});

test("jobs of others do not exist for him", { skip }, async () => {
    for (const command of ["wait", "cancel", "retry"]) {
        const foreign = pinionAs(STRANGER, command, "roots");
        p.assertRefused(foreign, 3, /roots/);
        const absent = pinionAs(STRANGER, command, "absent");
        assert.equal(foreign.stderr.replaceAll("roots", "absent"), absent.stderr);
    }
    p.assertRefused(pinionAs(STRANGER, "submit", "--circuit", "mul2", "--witness", witness, "--id", "roots"), 4, /another request/);
    await d.ok("wait", "others"); // root sees all
});

test("he is counted his own jobs, an admin all", { skip }, async () => {
    assert.equal(countsFor(STRANGER).done, 1);
    assert.equal(countsFor(OTHER).done, 1);
    assert.equal((await d.status()).jobs.done, 3);
});

test("he is listed his own jobs, an admin all", { skip: skip || (spawnSync(NNGCAT, ["--version"]).error && "nngcat is missing (Debian package nng-utils)") }, () => {
    assert.deepEqual(listedFor(STRANGER), ["mine"]);
    assert.deepEqual(listedFor(OTHER), ["others"]);
    assert.deepEqual(listedFor({ uid: 0, gid: 0 }), ["mine", "others", "roots"]);
});

test("he cancels his own job, not another's", { skip }, async () => {
    await d.ok("drain");
    for (const user of [STRANGER, OTHER]) {
        p.assertStatus(pinionAs(user, "submit", "--circuit", "mul2", "--witness", witness, "--id", `of-${user.uid}`), 0);
    }
    p.assertRefused(pinionAs(STRANGER, "cancel", `of-${OTHER.uid}`), 3, /of-65533/);
    assert.equal(pinionAs(STRANGER, "cancel", `of-${STRANGER.uid}`).stdout, `of-${STRANGER.uid} cancelled\n`);
    await d.ok("drain", "--off");
    p.assertStatus(pinionAs(OTHER, "wait", `of-${OTHER.uid}`), 0);
});

test("he cannot drain, evict, add or remove, nor choose the randomness", { skip }, async () => {
    p.assertRefused(pinionAs(STRANGER, "drain"), 4, /admin group/);
    p.assertRefused(pinionAs(STRANGER, "drain", "--off"), 4, /admin group/);
    p.assertRefused(pinionAs(STRANGER, "keys", "--evict", "mul2"), 4, /admin/);
    p.assertRefused(pinionAs(STRANGER, "circuit", "add", "his", "--key", key), 4, /admin group/);
    p.assertRefused(pinionAs(STRANGER, "circuit", "remove", "mul2"), 4, /admin group/);
    const seed = "0".repeat(63) + "1" + "0".repeat(63) + "2";
    p.assertRefused(pinionAs(STRANGER, "submit", "--circuit", "mul2", "--witness", witness, "--seed", seed), 4, /allow_seed/);
    const s = await d.status();
    assert.equal(s.draining, false);
});

test("he gets at no byte of arena, ledger, spool, journal or locks", { skip }, async () => {
    const open = 'try { require("fs").openSync(process.argv[1], process.argv[2]); } catch (e) { process.exit(e.code === "EACCES" ? 77 : 1); }';
    const inState = ["journal.db", "spool", "coord.lock"].map((f) => path.join(d.dir, f));
    const tag = fs.readFileSync(`/proc/${(await d.status()).gpud.pid}/maps`, "utf8").match(/pinion-[0-9a-f]+-/)[0];
    const objects = ["arena", "ledger"].map((f) => `/dev/shm/${tag}${f}`);
    for (const file of [...inState, ...objects]) {
        assert.ok(fs.existsSync(file), file);
        for (const mode of fs.statSync(file).isDirectory() ? ["r"] : ["r", "r+"]) {
            assert.equal(as(STRANGER, process.execPath, "-e", open, file, mode).status, 77, `${file} ${mode}`);
        }
    }
});

test("his workers are refused", { skip }, async () => {
    for (const name of ["pinion-synth", "pinion-gpud"]) {
        const run = as(STRANGER, path.join(path.dirname(p.program), name), "--dir", d.dir);
        p.assertStatus(run, 4);
        assert.match(run.stderr, /workers run as the coordinator's user \(0\)/);
    }
    assert.equal((await d.status()).restarts, 0);
});

test("a member of the admin group sees all jobs and handles the daemons", { skip: skip || (!admin && "no user with a group of his own") }, async () => {
    assert.equal(JSON.parse(pinionAs(admin, "wait", "roots", "--json").stdout).state, "done");
    assert.equal(countsFor(admin).done, (await d.status()).jobs.done);
    p.assertStatus(pinionAs(admin, "circuit", "add", "brief", "--key", key), 0);
    p.assertStatus(pinionAs(admin, "circuit", "remove", "brief"), 0);
    p.assertStatus(pinionAs(admin, "keys", "--evict", "mul2"), 0);
    p.assertStatus(pinionAs(admin, "drain"), 0);
    assert.equal((await d.status()).draining, true);
    p.assertStatus(pinionAs(admin, "drain", "--off"), 0);
});
