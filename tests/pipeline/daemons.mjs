// `pinion up` in a folder of its own, and the commands that talk to it.
import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { folder, program, setup, vkey } from "../js/pinion.js";

const STOP_SECONDS = 60;
const running = new Set();
process.on("exit", () => running.forEach((d) => d.end()));

/** The processes whose parent is pid, with the names of their programs. */
function children(pid) {
    const list = [];
    for (const entry of fs.readdirSync("/proc").filter((e) => /^\d+$/.test(e))) {
        try {
            const stat = fs.readFileSync(`/proc/${entry}/stat`, "utf8");
            const [, name, rest] = stat.match(/\((.*)\) (.*)/s);
            const [state, parent] = rest.split(" ");
            if (Number(parent) === pid && state !== "Z") {
                list.push({ pid: Number(entry), name });
            }
        } catch (error) {
            if (error.code !== "ENOENT" && error.code !== "ESRCH") {
                throw error;
            }
        }
    }
    return list;
}

export class Daemons {
    /** config: text of a configuration file. Sockets have short paths, so not the build's folder. */
    constructor({ synths = 2, arena = "16M", config = "", env = {} } = {}) {
        this.synths = synths;
        this.env = { ...process.env, ...env };
        this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "pinion-up-"));
        this.dir = path.join(this.folder, "state");
        const file = path.join(this.folder, "pinion.cfg");
        fs.writeFileSync(file, config);
        this.args = ["up", "--dir", this.dir, "--synths", `${synths}`, "--arena", arena];
        this.args.push("--config", file, "--backend", "cpu");
        this.log = path.join(this.folder, "log");
    }

    async start() {
        const out = fs.openSync(this.log, "a");
        this.process = spawn(program, this.args, { stdio: ["ignore", out, out], env: this.env });
        fs.closeSync(out);
        this.exited = new Promise((resolve) =>
            this.process.on("exit", (code, signal) => resolve({ code, signal })),
        );
        this.process.unref(); // a test that fails must not wait for it
        running.add(this);
        await this.until((s) => s.gpud && s.synths.length === this.synths, 20);
        return this;
    }

    /** Signals the supervisor; how it ended. With keep, to be started again. */
    async stop({ keep = false, signal = "SIGTERM", times = 1 } = {}) {
        this.process.ref();
        for (let i = 0; i < times; i++) {
            this.process.kill(signal);
            await pause(20);
        }
        const late = pause(STOP_SECONDS * 1000, null, { ref: false });
        const how = await Promise.race([this.exited, late]);
        if (!how) {
            const left = children(this.process.pid).map((c) => `${c.name} ${c.pid}`);
            assert.fail(`not stopped within ${STOP_SECONDS} s: ${left}\n${this.logText()}`);
        }
        if (!keep) {
            this.end();
        }
        return how;
    }

    end() {
        running.delete(this);
        this.process?.kill("SIGKILL");
        fs.rmSync(this.folder, { recursive: true, force: true });
    }

    logText() {
        return fs.readFileSync(this.log, "utf8");
    }

    /** Runs a command on these daemons; {status, stdout, stderr}. */
    run(...args) {
        return new Promise((resolve, reject) => {
            const full = [...args, "--dir", this.dir];
            execFile(program, full, { timeout: 60_000 }, (error, stdout, stderr) => {
                if (error && typeof error.code !== "number") {
                    reject(new Error(`pinion ${full.join(" ")}: ${error}\n${stderr}`));
                } else {
                    resolve({ status: error ? error.code : 0, stdout, stderr });
                }
            });
        });
    }

    async ok(...args) {
        const run = await this.run(...args);
        assert.equal(run.status, 0, `pinion ${args.join(" ")}: ${run.stderr}\n${this.logText()}`);
        return run.stdout;
    }

    async refused(status, pattern, ...args) {
        const run = await this.run(...args);
        assert.equal(run.status, status, `pinion ${args.join(" ")}: ${run.stdout}${run.stderr}`);
        assert.match(run.stderr, pattern);
    }

    /** The status, whose books must balance whenever it is read. */
    async status() {
        const s = JSON.parse(await this.ok("status", "--json"));
        assert.equal(s.arena.granted + s.arena.free, s.arena.bytes, "the arena's books");
        return s;
    }

    /** Waits until the status is as wanted, while coordinators may come and go. */
    async until(wanted, seconds) {
        const deadline = Date.now() + seconds * 1000;
        for (;;) {
            const run = await this.run("status", "--json");
            if (run.status === 0) {
                const s = JSON.parse(run.stdout);
                assert.equal(s.arena.granted + s.arena.free, s.arena.bytes, "the arena's books");
                if (wanted(s)) {
                    return s;
                }
            }
            assert.ok(Date.now() < deadline, `not within ${seconds} s: ${wanted}\n${this.logText()}`);
            await pause(30);
        }
    }

    /** The running processes of that name: "pinion-synth", "pinion-gpud", "pinion-coord". */
    processes(name) {
        return children(this.process.pid).filter((c) => c.name === name);
    }

    addCircuit(name, key, ...options) {
        return this.ok("circuit", "add", name, "--key", key, ...options);
    }
}

/** A circuit that fills a domain of 2^log2, with a key and a witness; none without Python. */
export function chain(curve, log2 = 12) {
    const ours = { bn128: "bn254", bls12381: "bls12-381" }[curve];
    const base = path.join(folder(), ours);
    const script = new URL("../bench/chain.py", import.meta.url).pathname;
    const made = spawnSync("python3", [script, "--log2", `${log2}`, "--curve", ours, base]);
    if (made.error) {
        return [];
    }
    assert.equal(made.status, 0, `${made.stderr}`);
    const zkey = setup(`${base}.r1cs`);
    return [{ curve, name: "chain", zkey, wtns: `${base}.wtns`, vkey: vkey(zkey) }];
}

/** xorshift32 (Marsaglia 2003): the same choices for the same seed. */
export function random(seed) {
    let state = seed >>> 0 || 1;
    return (n) => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        state >>>= 0;
        return state % n;
    };
}
