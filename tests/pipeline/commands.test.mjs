// The commands: what they print, what they refuse, with which exit code.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import * as bin from "../js/binfile.js";
import { curves } from "../js/curves.js";
import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { Daemons } from "./daemons.mjs";

const mul2 = fixture("bn128", "mul2");
const other = fixture("bls12381", "mul2");
let d;

before(async () => {
    d = await new Daemons({ synths: 1 }).start();
    await d.addCircuit("mul2", mul2.zkey, "--r1cs", mul2.r1cs);
});
after(async () => assert.deepEqual(await d.stop(), { code: 0, signal: null }));

test("no daemon: exit 4 and how to start one", () => {
    const run = p.pinion("status", "--dir", p.folder());
    p.assertRefused(run, 4, /no coordinator answers: start `pinion up`/);
});

test("circuits: listed, refused, removed", async () => {
    const listed = JSON.parse(await d.ok("circuit", "list", "--json"));
    assert.equal(listed.circuits[0].name, "mul2");
    assert.equal(listed.circuits[0].constraints, 1);
    await d.refused(3, /./, "circuit", "add", "mul2", "--key", other.zkey);
    await d.refused(3, /no-such/, "circuit", "add", "x", "--key", "/no-such.zkey");
    await d.refused(2, /--key/, "circuit", "add", "x");
    await d.refused(2, /add, list or remove/, "circuit", "change", "x");
    await d.addCircuit("brief", other.zkey);
    await d.ok("circuit", "remove", "brief");
    await d.refused(3, /brief/, "circuit", "remove", "brief");
});

test("a circuit whose result would not fit a message is refused", async () => {
    const publics = 13000;
    const one = [[0, 1n]];
    const circuit = { wires: publics + 1, publics, constraints: [[one, one, one]] };
    const r1cs = p.file(".r1cs", bin.r1cs(curves.bn128, circuit));
    await d.refused(3, /13000 public values, at most \d+ fit/, "circuit", "add", "wide", "--key", p.setup(r1cs));
});

test("submit, then wait: id, state, proof, stages", async () => {
    const id = JSON.parse(
        await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--json"),
    ).id;
    const done = JSON.parse(await d.ok("wait", id, "--json"));
    assert.equal(done.id, id);
    assert.equal(done.state, "done");
    assert.equal(done.proof.protocol, "groth16");
    assert.deepEqual(done.public, JSON.parse(fs.readFileSync(mul2.publics, "utf8")));
    for (const stage of ["witness", "evaluate", "copy", "ntt", "msm_h", "verify"]) {
        assert.equal(typeof done.stages[stage], "number", stage);
    }
});

test("a directory of witnesses is as many jobs", async () => {
    const folder = p.folder();
    for (const name of ["a", "b", "c"]) {
        fs.copyFileSync(mul2.wtns, path.join(folder, `${name}.wtns`));
    }
    const out = await d.ok("submit", "--circuit", "mul2", "--witness", folder, "--id", "many", "--wait");
    assert.equal(out, "many-a done\nmany-b done\nmany-c done\n");
});

test("the same id is the same job, or refused for another one", async () => {
    const args = ["submit", "--circuit", "mul2", "--id", "same", "--witness"];
    await d.ok(...args, mul2.wtns, "--wait");
    await d.ok(...args, mul2.wtns, "--wait");
    await d.refused(4, /another request/, ...args, other.wtns);
});

test("bad witnesses: exit 1 with the reason; prove --connect: exit 3", async () => {
    await d.refused(1, /curve|bls12_381/, "submit", "--circuit", "mul2", "--witness", other.wtns, "--wait");
    const out = p.folder();
    const files = [path.join(out, "proof.json"), path.join(out, "public.json")];
    const run = p.pinion("prove", "--connect", d.dir, mul2.zkey, other.wtns, ...files);
    p.assertRefused(run, 3, /bls12_381/);
    p.assertRefused(p.pinion("prove", "--connect", d.dir, other.zkey, other.wtns, ...files), 3, /circuit add/);
    assert.deepEqual(fs.readdirSync(out), []);
});

test("usage: what is missing or cannot be", async () => {
    await d.refused(2, /--arena 1X: is no size/, "up", "--arena", "1X");
    await d.refused(2, /--circuit/, "submit", "--witness", mul2.wtns);
    await d.refused(2, /--witness/, "submit", "--circuit", "mul2");
    await d.refused(2, /cannot be computed yet/, "submit", "--circuit", "mul2", "--input", mul2.r1cs);
    await d.refused(3, /there is none|no circuit|unknown/, "submit", "--circuit", "nope", "--witness", mul2.wtns);
    await d.refused(3, /no-such/, "submit", "--circuit", "mul2", "--witness", "/no-such.wtns");
    await d.refused(4, /allow_seed/, "submit", "--circuit", "mul2", "--witness", mul2.wtns, "--seed", "0".repeat(127) + "1");
    await d.refused(3, /job nope/, "wait", "nope");
});

test("drain: jobs wait, can be cancelled, and go on afterwards", async () => {
    await d.ok("drain");
    await d.until((s) => s.draining && s.drained, 10);
    for (const id of ["stays", "goes"]) {
        await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--id", id);
    }
    await d.refused(4, /still waiting/, "wait", "stays", "--timeout", "1");
    assert.equal(await d.ok("cancel", "goes"), "goes cancelled\n");
    await d.refused(1, /cancelled/, "wait", "goes");
    await d.refused(4, /only held jobs/, "retry", "goes");
    await d.ok("drain", "--off");
    await d.ok("wait", "stays", "--timeout", "20");
});

test("keys are listed and given up", async () => {
    await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--wait");
    await d.until((s) => s.keys.some((k) => k.circuit === "mul2"), 10);
    assert.match(await d.ok("keys"), /^mul2 +device/m);
    await d.ok("keys", "--evict", "mul2");
    await d.until((s) => !s.keys.some((k) => k.circuit === "mul2" && k.resident === "device"), 10);
});

test("top shows one frame of 80 columns where there is no terminal", async () => {
    await d.ok("submit", "--circuit", "mul2", "--witness", mul2.wtns, "--id", "watched", "--wait");
    const lines = (await d.ok("top")).trimEnd().split("\n");
    assert.ok(lines.every((line) => line.length <= 80), lines.join("\n"));
    for (const line of [/^pinion .*up \d/, /^arena +16\.0 MiB/, /^ {8}[.WSCPLQ]{64}$/, /^jobs +0 waiting/]) {
        assert.ok(lines.some((l) => line.test(l)), `${line}\n${lines.join("\n")}`);
    }
    assert.ok(lines.some((l) => /done +watched$/.test(l)), lines.join("\n"));
    assert.match(lines.join("\n"), /^mean ms .*witness/m);
});

test("SIGHUP rereads the configuration, and a wrong one changes nothing", async () => {
    const own = await new Daemons({ synths: 1 }).start();
    const seed = "0".repeat(63) + "7" + "0".repeat(63) + "9";
    const submit = ["submit", "--circuit", "mul2", "--witness", mul2.wtns, "--seed", seed];
    const hangUp = async (text, event) => {
        fs.writeFileSync(path.join(own.folder, "pinion.cfg"), text);
        own.process.kill("SIGHUP"); // passed on: the tests have no terminal
        await own.until((s) => s.events.some((e) => e.event === event) || own.logText().includes(event), 5);
    };
    await own.addCircuit("mul2", mul2.zkey);
    await own.refused(4, /allow_seed/, ...submit);
    await hangUp("allow_sed = true;", "configuration not reread");
    assert.match(own.logText(), /allow_seed/); // the nearest key is named
    await own.refused(4, /allow_seed/, ...submit);
    await hangUp("allow_seed = true; slots = 7;", "configuration reread");
    assert.match(own.logText(), /waits for a restart" key=slots/);
    await own.ok(...submit, "--wait");
    assert.deepEqual(await own.stop(), { code: 0, signal: null });
});

test("a second `up` on the directory is refused, naming the first", async () => {
    const run = spawnSync(p.program, ["up", "--dir", d.dir], { encoding: "utf8", timeout: 60_000 });
    assert.equal(run.status, 4, run.stderr);
    const pid = (await d.status()).coord.pid;
    assert.match(run.stderr, new RegExp(`${pid}`));
    await d.ok("status");
});

test("nngcat reads the status", { skip: spawnSync("nngcat", ["--version"]).error && "nngcat is missing (Debian package nng-utils)" }, () => {
    const request = '{"op":"status","protocol":1}';
    const out = execFileSync("nngcat", ["--req", "--dial", `ipc://${d.dir}/coord.sock`, "--data", request, "--raw", "--recv-timeout", "5"], { encoding: "utf8", timeout: 20_000 });
    assert.equal(JSON.parse(out).ok, true);
});
