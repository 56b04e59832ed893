// The command line itself: help, wrong usage, outputs that cannot be written, files that change
// while they are read.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import * as bin from "../js/binfile.js";
import { curves } from "../js/curves.js";
import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { chain } from "../js/shapes.js";
import * as snark from "../js/snark.js";

after(snark.close);

const commands = ["prove", "verify", "inspect", "vkey", "setup", "bench"];
const f = fixture("bn128", "mul2");

test("help is an answer, not an error", () => {
    for (const args of [
        ["--help"],
        ["help"],
        ...commands.map((c) => [c, "--help"]),
        ...commands.map((c) => ["help", c]),
    ]) {
        const run = p.pinion(...args);
        p.assertStatus(run, 0);
        assert.match(run.stdout, /^usage: pinion/i, args.join(" "));
        assert.equal(run.stderr, "", args.join(" "));
    }
    const all = p.pinion("--help").stdout;
    commands.forEach((c) => assert.match(all, new RegExp(`\\b${c}\\b`)));
    assert.match(p.pinion("--version").stdout, /^pinion \d+\.\d+\.\d+\n$/);
});

test("bench prints one JSON object a line, the same result from any processor", () => {
    const kinds = [["msm", "--group", "g1"], ["msm", "--group", "g2"], ["ntt"], ["prove"]];
    for (const kind of kinds) {
        for (const curve of ["bn254", "bls12-381"]) {
            const checks = ["auto", "portable"].map((cpu) => {
                const run = p.pinion(
                    "bench",
                    ...kind,
                    "--curve",
                    curve,
                    "--log2",
                    "8",
                    "--json",
                    "--cpu",
                    cpu,
                );
                p.assertStatus(run, 0);
                const lines = run.stdout
                    .trimEnd()
                    .split("\n")
                    .map((line) => JSON.parse(line));
                const [first] = lines;
                assert.equal(first.bench, kind[0]);
                assert.equal(first.log2, 8);
                assert.equal(first.backend, "cpu");
                assert.ok(first.ms > 0);
                return lines.map((line) => line.check);
            });
            assert.deepEqual(checks[0], checks[1], kind.join(" "));
        }
    }
});

test("inspect tells people the same as scripts", () => {
    for (const file of [f.zkey, f.r1cs, f.wtns]) {
        const run = p.pinion("inspect", file);
        p.assertStatus(run, 0);
        const { variables } = JSON.parse(p.pinion("inspect", "--json", file).stdout);
        assert.match(run.stdout, new RegExp(`\\b${variables}\\b`));
    }
});

test("inspect reads JSON of any layout, and none of any size", () => {
    const text = fs.readFileSync(f.vkey, "utf8");
    p.assertStatus(p.pinion("inspect", p.file(".json", `\n\t ${text}\n`)), 0);
    const huge = p.file(".json", '{"a": ""}');
    fs.truncateSync(huge, 2 ** 31);
    p.assertRefused(p.pinion("inspect", huge), 3, /too many/);
    fs.unlinkSync(huge);
});

test("warnings stay on one line", () => {
    const key = path.join(p.folder(), "a\nb\u009b1m.zkey");
    const outputs = ["proof.json", "public.json"].map((name) => path.join(p.folder(), name));
    const setup = p.pinion("setup", "--insecure", f.r1cs, key);
    const prove = p.pinion("prove", key, f.wtns, ...outputs);
    for (const run of [setup, prove]) {
        p.assertStatus(run, 0);
        assert.match(run.stderr, /^pinion: warning: [ -~]+\n$/);
    }
});

test("as many threads as the processor set allows", () => {
    const [first] = /Cpus_allowed_list:\s*(\d+)/
        .exec(fs.readFileSync("/proc/self/status"))
        .slice(1);
    const files = ["proof.json", "public.json"].map((name) => path.join(p.folder(), name));
    const args = ["-c", first, p.program, "prove", "--json", f.zkey, f.wtns, ...files];
    const run = spawnSync("taskset", args, { encoding: "utf8" });
    assert.equal(run.status, 0, run.stderr);
    assert.equal(JSON.parse(run.stdout).threads, 1);
});

const out = ["proof.json", "public.json"].map((name) => path.join(p.folder(), name));
const good = [f.zkey, f.wtns, ...out];
const wrongUsage = [
    [],
    ["nothing"],
    ["--nothing"],
    ["Prove"],
    ["prove"],
    ["prove", f.zkey],
    ["prove", ...good.slice(0, 3)],
    ["prove", ...good, "more"],
    ["prove", "--nothing", ...good],
    ["prove", ...good, "--threads"],
    ...["0", "-1", "x", "1x", "", "99999999999999999999"].map((n) => [
        "prove",
        "--threads",
        n,
        ...good,
    ]),
    ...["", "00", "g".repeat(128), "0".repeat(127), "0".repeat(129), "f".repeat(128)].map((s) => [
        "prove",
        "--seed",
        s,
        ...good,
    ]),
    ["prove", "--cpu", "z80", ...good],
    ["prove", f.zkey, f.wtns, out[0], out[0]],
    ["prove", f.zkey, f.wtns, out[0], out[0].replace("/proof", "/./proof")],
    ["verify"],
    ["verify", f.vkey],
    ["verify", f.vkey, f.publics, f.proof, f.proof],
    ["vkey"],
    ["vkey", f.zkey],
    ["inspect"],
    ["inspect", f.zkey, f.zkey],
    ["setup", f.r1cs, "k.zkey"],
    ["setup", "--insecure", f.r1cs],
    ["setup", "--insecure"],
    ["bench"],
    ["bench", "nothing"],
    ["bench", "msm", "--log2", "99"],
    ["bench", "msm", "--curve", "p256"],
    ["help", "nothing"],
];

for (const args of wrongUsage) {
    const shown = args.map((arg) => path.basename(arg).slice(0, 24) || "''");
    test(`usage: pinion ${shown.join(" ")}`, () => {
        const run = p.pinion(...args);
        p.assertStatus(run, 2);
        assert.equal(run.stdout, "");
        assert.match(run.stderr, /^pinion: [^\n]+\n(usage: pinion [^\n]*\n)?$/);
        out.forEach((file) => assert.ok(!fs.existsSync(file), "wrong usage left a file"));
    });
}

test("a seed of the group order is refused, one below it is taken", () => {
    const { r } = curves.bn128;
    const hex = (v) => v.toString(16).padStart(64, "0");
    p.assertStatus(p.prove(f.zkey, f.wtns, "--seed", hex(r) + hex(1n)), 2);
    p.assertStatus(p.prove(f.zkey, f.wtns, "--seed", hex(1n) + hex(r)), 2);
    p.proved(f.zkey, f.wtns, "--seed", hex(r - 1n) + hex(0n));
});

test("outputs that cannot be written exit 4 and leave nothing behind", () => {
    const folder = p.folder();
    const fine = path.join(folder, "fine.json");
    const missing = path.join(folder, "no", "such", "proof.json");
    const places = [missing, "/proc/pinion-proof.json", folder, "/dev/full"];
    if (process.getuid() !== 0) {
        // root writes anywhere
        const locked = path.join(p.folder(), "locked");
        fs.mkdirSync(locked, { mode: 0o555 });
        places.push(path.join(locked, "proof.json"));
    }
    for (const place of places) {
        p.assertRefused(p.pinion("prove", f.zkey, f.wtns, place, fine), 4);
        p.assertRefused(p.pinion("prove", f.zkey, f.wtns, fine, place), 4);
        p.assertRefused(p.pinion("vkey", f.zkey, place), 4);
        p.assertRefused(p.pinion("setup", "--insecure", f.r1cs, place), 4);
    }
    assert.deepEqual(fs.readdirSync(folder), []);
});

test("a full standard output exits 4 and leaves nothing behind", () => {
    const folder = p.folder();
    const files = [path.join(folder, "proof.json"), path.join(folder, "public.json")];
    const full = fs.openSync("/dev/full", "w");
    const args = ["prove", "--json", f.zkey, f.wtns, ...files];
    const run = spawnSync(p.program, args, { encoding: "utf8", stdio: ["ignore", full, "pipe"] });
    fs.closeSync(full);
    assert.equal(run.status, 4, run.stderr);
    assert.deepEqual(fs.readdirSync(folder), []);
});

test("a limit of the size of files exits 4 and leaves nothing behind", () => {
    const folder = p.folder();
    const limited = (...args) =>
        spawnSync("bash", ["-c", 'ulimit -f 1; "$0" "$@"', p.program, ...args], {
            encoding: "utf8",
        });
    const run = limited("setup", "--insecure", f.r1cs, path.join(folder, "k.zkey"));
    assert.equal(run.status, 4, `${run.signal} ${run.stderr}`);
    assert.match(run.stderr, /^pinion: [^\n]*k\.zkey[^\n]*\n$/);
    assert.deepEqual(fs.readdirSync(folder), []);
});

test("earlier outputs are replaced by a proof and kept by a failure", () => {
    const folder = p.folder();
    const [proof, publics] = ["proof.json", "public.json"].map((name) => path.join(folder, name));
    fs.writeFileSync(proof, "old");
    fs.writeFileSync(publics, "old");
    const refused = p.pinion("prove", f.zkey, fixture("bn128", "nopub").wtns, proof, publics);
    p.assertRefused(refused, 3);
    assert.deepEqual(
        [proof, publics].map((file) => fs.readFileSync(file, "utf8")),
        ["old", "old"],
    );
    p.assertStatus(p.pinion("prove", f.zkey, f.wtns, proof, publics), 0);
    p.assertVerifies(f.vkey, publics, proof);
    assert.deepEqual(fs.readdirSync(folder).sort(), ["proof.json", "public.json"]);
});

test("a proof goes to a pipe as well", () => {
    const run = p.pinion(
        "prove",
        f.zkey,
        f.wtns,
        "/dev/stdout",
        path.join(p.folder(), "public.json"),
    );
    p.assertStatus(run, 0);
    assert.equal(JSON.parse(run.stdout).protocol, "groth16");
});

/** A key that takes a while, made once; {zkey, wtns, vkey}. */
function slowKey() {
    const circuit = chain(curves.bn128, 2 ** 13 - 2);
    const zkey = p.setup(p.file(".r1cs", bin.r1cs(curves.bn128, circuit)));
    return {
        zkey,
        wtns: p.file(".wtns", bin.wtns(curves.bn128, circuit.witness)),
        vkey: p.vkey(zkey),
    };
}

/** Proves, and calls change(child) as soon as the process has mapped the key. */
async function proveDuring(zkey, wtns, change) {
    const folder = p.folder();
    const [proof, publics] = ["proof.json", "public.json"].map((name) => path.join(folder, name));
    const args = ["prove", zkey, wtns, proof, publics];
    const child = spawn(p.program, args, { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((resolve) =>
        child.on("close", (status, signal) => resolve({ status, signal })),
    );
    const texts = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
        child[name].on("data", (data) => (texts[name] += data));
    }
    while (child.exitCode === null && !mapped(child.pid, zkey)) {
        await new Promise(setImmediate);
    }
    assert.equal(child.exitCode, null, "the proof was too quick to disturb");
    change(child);
    return { ...(await ended), ...texts, args, out: folder, proof, publics };
}

function mapped(pid, file) {
    try {
        return fs.readFileSync(`/proc/${pid}/maps`, "utf8").includes(file);
    } catch {
        return false;
    }
}

test("files replaced, deleted or cut while proving", async (t) => {
    const { zkey, wtns, vkey } = slowKey();
    const bytes = fs.readFileSync(zkey);
    const ways = {
        deleted: (file) => fs.unlinkSync(file),
        replaced: (file) => fs.renameSync(p.file(".zkey", Buffer.alloc(bytes.length)), file),
    };
    for (const [way, change] of Object.entries(ways)) {
        await t.test(way, async () => {
            const key = p.file(".zkey", bytes);
            const run = await proveDuring(key, wtns, () => change(key));
            p.assertStatus(run, 0);
            p.assertVerifies(vkey, run.publics, run.proof);
        });
    }
    await t.test("cut", async () => {
        const key = p.file(".zkey", bytes);
        const run = await proveDuring(key, wtns, () => fs.truncateSync(key, 4096));
        assert.equal(run.signal, null);
        if (run.status !== 0) {
            // unless everything had been read before
            p.assertNoProof(run, 3, new RegExp(path.basename(key)));
        }
    });
});

test("interrupted work leaves no file", async () => {
    const { zkey, wtns } = slowKey();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
        const run = await proveDuring(zkey, wtns, (child) => child.kill(signal));
        assert.notEqual(run.status, 0, signal);
        assert.deepEqual(fs.readdirSync(run.out), [], signal);
    }
});
