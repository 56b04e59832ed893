// Hundreds of deterministic mutations of every input. Those of a key and its witness are refused or
// give a proof that snarkjs accepts under the key before the change; those of the other files get an
// answer or are refused. Never a signal, never an internal error.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import * as bin from "../js/binfile.js";
import { curveNames } from "../js/curves.js";
import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import { random } from "../js/shapes.js";
import * as snark from "../js/snark.js";

after(snark.close);

const SEED = Number(process.env.PINION_SEED ?? 424242);
const ROUNDS = Number(process.env.PINION_ROUNDS ?? 100);

const INTERESTING = [0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/** Ways to change bytes, each given a copy. */
const mutations = {
    "a bit": (b, rng) => {
        b[rng.next(b.length)] ^= 1 << rng.next(8);
        return b;
    },
    "a byte": (b, rng) => {
        b[rng.next(b.length)] = rng.next(256);
        return b;
    },
    "a word": (b, rng) => {
        b.writeUInt32LE(INTERESTING[rng.next(INTERESTING.length)], rng.next(b.length - 3));
        return b;
    },
    "a word of a header": (b, rng) => {
        b.writeUInt32LE(
            INTERESTING[rng.next(INTERESTING.length)],
            4 * rng.next(Math.floor(Math.min(b.length, 160) / 4)),
        );
        return b;
    },
    cut: (b, rng) => b.subarray(0, rng.next(b.length)),
    "a piece removed": (b, rng) => {
        const at = rng.next(b.length);
        return Buffer.concat([b.subarray(0, at), b.subarray(at + 1 + rng.next(64))]);
    },
    "a piece doubled": (b, rng) => {
        const at = rng.next(b.length);
        return Buffer.concat([b.subarray(0, at), b.subarray(Math.max(0, at - rng.next(64)))]);
    },
    "a piece moved": (b, rng) => {
        b.copy(b, rng.next(b.length), rng.next(b.length), b.length);
        return b;
    },
};

function mutate(bytes, rng) {
    const names = Object.keys(mutations);
    let changed = Buffer.from(bytes);
    const what = [];
    for (let n = 1 + rng.next(2); n > 0 && changed.length > 8; n--) {
        const name = names[rng.next(names.length)];
        changed = mutations[name](changed, rng);
        what.push(name);
    }
    return { bytes: changed, what: what.join(", ") };
}

/** Calls check(path, how) with ROUNDS mutations of the file; how says which one to whoever fails. */
async function eachMutation(file, seed, check) {
    const rng = random(seed);
    const original = fs.readFileSync(file);
    for (let round = 0; round < ROUNDS; round++) {
        const { bytes, what } = mutate(original, rng);
        await check(p.file(path.extname(file), bytes), `round ${round} (${what})`);
    }
}

function assertOneOf(run, allowed, how) {
    assert.ok(
        allowed.includes(run.status),
        `${how}: ${run.signal ?? run.status}\n${run.stdout}${run.stderr}`,
    );
}

/** The numbers of a proof or of public values. */
function numbers(file) {
    const json = bin.readJson(file);
    return (Array.isArray(json) ? json : [json.pi_a, json.pi_b, json.pi_c]).flat(2).map(BigInt);
}

for (const curve of curveNames) {
    const f = fixture(curve, "mul2");

    test(`${curve}: mutations of key and witness, seed ${SEED}`, async () => {
        const check = async (files, how) => {
            const run = p.prove(files.zkey, files.wtns);
            assertOneOf(run, [0, 3], how);
            if (run.status === 0) {
                assert.ok(
                    await snark.verify(f.vkey, run.publics, run.proof),
                    `${how}: wrong proof`,
                );
            } else {
                p.assertNoProof(run, 3);
            }
        };
        await eachMutation(f.zkey, SEED, (zkey, how) => check({ ...f, zkey }, how));
        await eachMutation(f.wtns, SEED + 1, (wtns, how) => check({ ...f, wtns }, how));
    });

    test(`${curve}: mutations of the circuit, seed ${SEED}`, async () => {
        await eachMutation(f.r1cs, SEED + 2, (r1cs, how) => {
            const out = p.folder();
            const run = p.pinion("setup", "--insecure", r1cs, path.join(out, "k.zkey"));
            assertOneOf(run, [0, 3], how);
            assert.deepEqual(fs.readdirSync(out), run.status === 0 ? ["k.zkey"] : [], how);
            assertOneOf(p.prove(f.zkey, f.wtns, "--r1cs", r1cs), [0, 3], how);
        });
    });

    test(`${curve}: mutations of the JSON files, seed ${SEED}`, async () => {
        for (const part of ["vkey", "publics", "proof"]) {
            await eachMutation(f[part], SEED + 3, (changed, how) => {
                const files = { ...f, [part]: changed };
                const run = p.pinion("verify", files.vkey, files.publics, files.proof);
                assertOneOf(run, [0, 1, 3], how);
                if (run.status === 0 && part !== "vkey") {
                    assert.deepEqual(numbers(changed), numbers(f[part]), `${how}: accepted`);
                }
            });
        }
    });
}
