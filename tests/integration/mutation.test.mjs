// A few hundred deterministic mutations of a key and its witness: each is refused, or gives a proof
// that snarkjs accepts under the key before the change; never a signal, never an internal error.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, test } from "node:test";

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

for (const curve of curveNames) {
    const f = fixture(curve, "mul2");
    for (const target of ["zkey", "wtns"]) {
        test(`${curve}: mutations of the ${target}, seed ${SEED}`, async () => {
            const rng = random(SEED + (target === "zkey" ? 0 : 1));
            const original = fs.readFileSync(f[target]);
            for (let round = 0; round < ROUNDS; round++) {
                const { bytes, what } = mutate(original, rng);
                const files = { zkey: f.zkey, wtns: f.wtns, [target]: p.file(`.${target}`, bytes) };
                const run = p.prove(files.zkey, files.wtns);
                const how = `round ${round} (${what}): ${run.signal ?? run.status}\n${run.stderr}`;
                assert.ok([0, 3].includes(run.status), how);
                if (run.status === 0) {
                    assert.ok(
                        await snark.verify(f.vkey, run.publics, run.proof),
                        `round ${round} (${what}): wrong proof`,
                    );
                } else {
                    p.assertNoProof(run, 3);
                }
            }
        });
    }
}
