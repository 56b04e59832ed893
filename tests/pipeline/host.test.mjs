// Hosts that lack something, and what an earlier run left: one line each with the remedy, the right exit
// code, nothing left behind. Runs in a mount namespace of its own with a /dev/shm of 64 MiB.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";

import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { chain, Daemons } from "./daemons.mjs";

const SHM = "/dev/shm";
const mul2 = fixture("bn128", "mul2");

function enterNamespace() {
    if (process.env.PINION_OWN_MOUNTS) {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=64M,mode=1777", "none", SHM]);
        return;
    }
    if (process.getuid() !== 0 || spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", SHM]).status !== 0) {
        console.log("skipped: it takes root, and the right to mount, to make a small /dev/shm");
        process.exit(77);
    }
    const env = { ...process.env, PINION_OWN_MOUNTS: "1" };
    const self = [process.execPath, fileURLToPath(import.meta.url)];
    process.exit(spawnSync("unshare", ["--mount", ...self], { stdio: "inherit", env }).status ?? 1);
}
enterNamespace();

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "pinion-host-"));
const mounts = [];
process.on("exit", () => {
    mounts.forEach((dir) => spawnSync("umount", ["--lazy", dir]));
    fs.rmSync(scratch, { recursive: true, force: true });
});
let states = 0;
const newState = () => path.join(scratch, `s${states++}`);

function config(text) {
    return p.file(".cfg", text);
}

/** `pinion up` that cannot start: its exit code, one line of the coordinator with the remedy, and
 * nothing in /dev/shm that was not there before. */
function assertUpRefused(code, pattern, dir, args = [], options = {}) {
    const before = fs.readdirSync(SHM);
    const full = ["up", "--synths", "1", "--backend", "cpu", "--dir", dir, ...args];
    const run = spawnSync(p.program, full, { encoding: "utf8", timeout: 60_000, cwd: "/", ...options });
    assert.equal(run.status, code, run.stderr);
    const lines = run.stderr.split("\n").filter((l) => /^pinion(-coord)?: /.test(l));
    const reasons = lines.filter((l) => !/stands above/.test(l));
    assert.equal(reasons.length, 1, run.stderr);
    assert.match(reasons[0], pattern);
    assert.deepEqual(fs.readdirSync(SHM), before);
}

/** A tmpfs of a few pages, filled but for `free` bytes. */
function smallDisk(bytes, free) {
    const dir = fs.mkdtempSync(path.join(scratch, "disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "none", dir]);
    mounts.push(dir);
    fill(dir, free);
    return dir;
}

function fill(dir, free) {
    const { bavail, bsize } = fs.statfsSync(dir);
    fs.writeFileSync(path.join(dir, "ballast"), Buffer.alloc(Math.max(0, bavail * bsize - free)));
}

async function cleanStop(d) {
    assert.deepEqual(await d.stop(), { code: 0, signal: null });
    assert.deepEqual(fs.readdirSync(SHM), []);
}

test("no huge pages", () => {
    const free = Number(fs.readFileSync("/proc/meminfo", "utf8").match(/HugePages_Free: +(\d+)/)?.[1] ?? 0);
    const dir = newState();
    if (free < 8) {
        assertUpRefused(4, /huge ?pages?.*(sysctl -w vm.nr_hugepages|mount -t hugetlbfs)/, dir, ["--arena", "16M", "--config", config('arena = { kind = "hugetlb"; };')]);
    }
    assertUpRefused(4, /huge pages: .* is not a hugetlbfs mount \(mount -t hugetlbfs/, dir, ["--arena", "16M", "--config", config(`arena = { kind = "hugetlb"; huge_mount = "${scratch}"; };`)]);
});

test("a /dev/shm that is too small", () => {
    assertUpRefused(4, /arena: 1024 MiB needed, \/dev\/shm has 64 of 64 MiB free .*remount,size=/, newState());
});

test("a directory that is too long, missing, a file, not writable, another's", () => {
    assertUpRefused(2, /longer than the \d+ bytes of a socket's path: use a shorter one/, path.join(scratch, "x".repeat(120)));
    assertUpRefused(4, /No such file or directory: make it, or name another --dir/, path.join(scratch, "no", "such"), ["--arena", "4M"]);
    const file = path.join(scratch, "file");
    fs.writeFileSync(file, "");
    assertUpRefused(4, /file: is not a directory: name another --dir/, file, ["--arena", "4M"]);
    const user = { uid: 65534, gid: 65534 };
    if (spawnSync(p.program, ["--version"], { cwd: "/", ...user }).status === 0) {
        fs.chmodSync(scratch, 0o755);
        const dir = newState();
        fs.mkdirSync(dir, 0o755);
        assertUpRefused(4, /belongs to user 0, this is user 65534: run as that user/, dir, ["--arena", "4M"], user);
        fs.chownSync(dir, 65534, 65534);
        assertUpRefused(4, /belongs to user 65534/, dir, ["--arena", "4M"]);
    }
    const open = newState();
    fs.mkdirSync(open);
    fs.chmodSync(open, 0o777);
    assertUpRefused(4, /others may write.*chmod/, open, ["--arena", "4M"]);
});

test("a full disk", () => {
    const dir = smallDisk("1M", 8192);
    assertUpRefused(4, /No space left|disk.*full|no space/i, path.join(dir, "state"), ["--arena", "4M"]);
});

test("a damaged journal, one of another program, a folder in its place", () => {
    for (const [pattern, make] of [
        [/journal.*(damaged|not a database).*/, (f) => fs.writeFileSync(f, Buffer.alloc(8192, 0x5a))],
        [/journal.*is not a regular file: move it away/, (f) => fs.mkdirSync(f)],
        [/journal.*damaged/, (f) => damagedCopy(f)],
    ]) {
        const dir = newState();
        fs.mkdirSync(dir, 0o755);
        make(path.join(dir, "journal.db"));
        assertUpRefused(3, pattern, dir, ["--arena", "4M"]);
    }
});

/** A journal with its tables' pages overwritten. */
function damagedCopy(file) {
    const dir = newState();
    const up = spawnSync("timeout", ["-s", "TERM", "3", p.program, "up", "--dir", dir, "--synths", "1", "--arena", "4M", "--backend", "cpu"]);
    assert.ok(fs.existsSync(path.join(dir, "journal.db")), `${up.stderr}`);
    const bytes = fs.readFileSync(path.join(dir, "journal.db"));
    bytes.fill(0xa5, 100, 4096);
    fs.writeFileSync(file, bytes, { mode: 0o600 });
}

test("a second coordinator, a second daemon", async () => {
    const d = await new Daemons({ synths: 1, arena: "4M" }).start();
    const { coord, gpud } = await d.status();
    assertUpRefused(4, new RegExp(`a coordinator runs already \\(pid ${coord.pid}\\): stop it`), d.dir, ["--arena", "4M"]);
    const second = spawnSync(path.join(path.dirname(p.program), "pinion-gpud"), ["--dir", d.dir, "--backend", "cpu"], { encoding: "utf8", timeout: 30_000 });
    assert.equal(second.status, 4, second.stderr);
    assert.match(second.stderr, new RegExp(`a daemon runs already \\(pid ${gpud.pid}\\): stop it first`));
    assert.equal((await d.status()).gpud.pid, gpud.pid);
    await cleanStop(d);
});

/** Kills all processes of d at once, as a crash of the whole would. */
async function killAll(d) {
    const all = ["pinion-coord", "pinion-gpud", "pinion-synth"].flatMap((name) => d.processes(name));
    d.process.ref();
    process.kill(d.process.pid, "SIGKILL");
    all.forEach(({ pid }) => process.kill(pid, "SIGKILL"));
    await d.exited;
    for (const { pid } of all) {
        while (fs.existsSync(`/proc/${pid}`) && !/State:\tZ/.test(fs.readFileSync(`/proc/${pid}/status`, "utf8"))) {
            await pause(5);
        }
    }
}

test("after everything was killed the jobs go on", async () => {
    const d = await new Daemons({ synths: 2, arena: "4M" }).start();
    const [big = mul2] = chain("bn128");
    await d.addCircuit("mul2", mul2.zkey);
    await d.addCircuit("big", big.zkey);
    for (let i = 0; i < 6; i++) {
        const [circuit, f] = i % 2 ? ["mul2", mul2] : ["big", big];
        await d.ok("submit", "--circuit", circuit, "--witness", f.wtns, "--id", `j${i}`);
    }
    await killAll(d);
    assert.equal(fs.readdirSync(SHM).length, 2); // what the dead run left
    await d.start();
    for (let i = 0; i < 6; i++) {
        await d.ok("wait", `j${i}`, "--timeout", "60");
    }
    await d.until((s) => s.arena.granted === 0 && s.jobs.done === 6, 10);
    await cleanStop(d);
});

test("leftovers of another size are replaced", async () => {
    const d = await new Daemons({ synths: 1, arena: "4M" }).start();
    await killAll(d);
    d.args[d.args.indexOf("4M")] = "8M";
    await d.start();
    assert.equal((await d.status()).arena.bytes, 8 << 20);
    await cleanStop(d);
});

test("a damaged ledger: what to remove", async () => {
    const d = await new Daemons({ synths: 1, arena: "4M" }).start();
    await killAll(d);
    const ledger = path.join(SHM, fs.readdirSync(SHM).find((f) => f.endsWith("-ledger")));
    const whole = fs.readFileSync(ledger);
    for (const damage of [
        (b) => b.fill(0xff, 0, 8), // the magic
        (b) => b.fill(0x77, 64, 512),
        (b) => b.subarray(0, 100),
        (b) => b.subarray(0, b.length - 4096),
        (b) => b.fill(0x31, b.length - 65536), // slots
    ]) {
        fs.writeFileSync(ledger, damage(Buffer.from(whole)));
        assertUpRefused(3, new RegExp(`ledger .*(damaged|truncated|not a ledger).*rm ${ledger} and start again`), d.dir, ["--arena", "4M"]);
    }
    fs.rmSync(ledger);
    await d.start();
    await cleanStop(d);
});

test("the arena's name deleted while running: who is attached goes on; a start makes a new one", async () => {
    const d = await new Daemons({ synths: 1, arena: "4M" }).start();
    await d.addCircuit("mul2", mul2.zkey);
    fs.rmSync(path.join(SHM, fs.readdirSync(SHM).find((f) => f.endsWith("-arena"))));
    await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--wait");
    // a process that starts now cannot attach
    process.kill(d.processes("pinion-synth")[0].pid, "SIGKILL");
    await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--id", "later");
    const deadline = Date.now() + 10_000;
    while (!/arena \/pinion-[0-9a-f]+-arena: No such file or directory: .*(stop|restart|start)/.test(d.logText())) {
        assert.ok(Date.now() < deadline, d.logText());
        await pause(50);
    }
    assert.equal((await d.stop({ keep: true })).code, 0);
    await d.start();
    await d.ok("wait", "later", "--timeout", "30");
    await cleanStop(d);
});

test("the disk fills up while running: nothing is accepted, and all goes on when there is room", async () => {
    const disk = smallDisk("6M", 6 << 20);
    const d = new Daemons({ synths: 1, arena: "4M" });
    d.dir = path.join(disk, "state");
    d.args[d.args.indexOf("--dir") + 1] = d.dir;
    await d.start();
    await d.addCircuit("mul2", mul2.zkey);
    await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--id", "before", "--wait");
    fill(disk, 0);
    const [big = mul2] = chain("bn128");
    await d.refused(4, /spool.*No space left on device|disk is full|no room/, "submit", "--circuit", "mul2", "--witness", big.wtns, "--id", "refused");
    fs.rmSync(path.join(disk, "ballast"));
    await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--id", "after", "--wait");
    await cleanStop(d);
});
