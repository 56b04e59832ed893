// Proofs, public values and JSON that were tampered with: `verify` says INVALID to what is a proof
// but a wrong one, and refuses what is none.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, test } from "node:test";

import { readJson } from "../js/binfile.js";
import { curveNames, curves, pointOffSubgroup } from "../js/curves.js";
import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import * as snark from "../js/snark.js";

after(snark.close);

/** Every place of an integer in the proof, as functions that replace it by f(integer). */
function coordinates() {
    const edit = (at) => (proof, f) => {
        const [last, ...first] = [...at].reverse();
        const holder = first.reverse().reduce((node, key) => node[key], proof);
        holder[last] = f(BigInt(holder[last])).toString();
    };
    const places = [];
    for (const i of [0, 1]) {
        places.push(["pi_a", i], ["pi_c", i], ["pi_b", i, 0], ["pi_b", i, 1]);
    }
    return places.map((at) => ({ at: at.join("."), edit: edit(at) }));
}

/** Wrong proofs, [what, proof]: each is well-formed JSON of the right shape. */
function wrongProofs(curve, proof, other) {
    const wrong = [];
    const add = (what, change) => {
        const copy = structuredClone(proof);
        change(copy);
        wrong.push([what, copy]);
    };
    for (const { at, edit } of coordinates()) {
        add(`${at} + 1`, (c) => edit(c, (v) => v + 1n));
        add(`${at} - 1`, (c) => edit(c, (v) => (v === 0n ? 1n : v - 1n)));
        add(`${at} negated`, (c) => edit(c, (v) => curve.q - v));
        add(`${at} + q`, (c) => edit(c, (v) => v + curve.q));
        add(`${at} = q`, (c) => edit(c, () => curve.q));
        add(`${at} = 2^(8 n) - 1`, (c) => edit(c, () => (1n << BigInt(8 * curve.fqBytes)) - 1n));
        add(`${at} = 2^2000`, (c) => edit(c, () => 1n << 2000n));
    }
    add("a and c swapped", (c) => ([c.pi_a, c.pi_c] = [c.pi_c, c.pi_a]));
    add("halves of b's coordinates swapped", (c) => [0, 1].forEach((i) => c.pi_b[i].reverse()));
    for (const name of ["pi_a", "pi_b", "pi_c"]) {
        add(`${name} of another proof`, (c) => (c[name] = other[name]));
    }
    for (const name of ["pi_a", "pi_c"]) {
        add(`${name} at infinity`, (c) => (c[name] = ["0", "1", "0"]));
    }
    add(
        "b at infinity",
        (c) =>
            (c.pi_b = [
                ["0", "0"],
                ["1", "0"],
                ["0", "0"],
            ]),
    );
    for (const group of ["G1", "G2"]) {
        const point = pointOffSubgroup(curve, group);
        if (point) {
            add(`a point of ${group}'s curve outside the subgroup`, (c) =>
                offSubgroup(c, group, point),
            );
        }
    }
    return wrong;
}

function offSubgroup(proof, group, { x, y }) {
    if (group === "G1") {
        proof.pi_c = [String(x), String(y), "1"];
    } else {
        proof.pi_b = [
            [String(x.c0), String(x.c1)],
            [String(y.c0), String(y.c1)],
            ["1", "0"],
        ];
    }
}

function wrongPublics(curve, publics) {
    const wrong = [];
    publics.forEach((value, i) => {
        const put = (v) => publics.map((old, j) => (i === j ? v.toString() : old));
        const v = BigInt(value);
        wrong.push(
            [`public ${i} + 1`, put(v + 1n)],
            [`public ${i} + r`, put(v + curve.r)],
            [`public ${i} = r`, put(curve.r)],
            [`public ${i} = 2^256 - 1`, put((1n << 256n) - 1n)],
            [`public ${i} = 2^1000`, put(1n << 1000n)],
        );
    });
    wrong.push(["publics reversed", [...publics].reverse()]);
    return wrong;
}

function assertInvalid(what, run) {
    assert.equal(run.status, 1, `${what}: status ${run.status}\n${run.stdout}${run.stderr}`);
    assert.match(run.stdout, /^INVALID/, what);
}

for (const name of curveNames) {
    const curve = curves[name];
    const f = fixture(name, "nopriv"); // several public values
    const proof = readJson(f.proof);
    const publics = readJson(f.publics);

    test(`${name}: wrong proofs are INVALID`, async () => {
        const other = readJson(p.proved(f.zkey, f.wtns).proof);
        for (const [what, wrong] of wrongProofs(curve, proof, other)) {
            const file = p.file(".json", JSON.stringify(wrong));
            assertInvalid(what, p.pinion("verify", f.vkey, f.publics, file));
            const reduced = !/q$|2\^/.test(what); // snarkjs reduces what does not fit
            assert.ok(
                !reduced || !(await snark.verify(f.vkey, publics, wrong)),
                `snarkjs accepts ${what}`,
            );
        }
    });

    test(`${name}: wrong public values are INVALID`, async () => {
        for (const [what, wrong] of wrongPublics(curve, publics)) {
            const file = p.file(".json", JSON.stringify(wrong));
            assertInvalid(what, p.pinion("verify", f.vkey, file, f.proof));
            assert.ok(!(await snark.verify(f.vkey, wrong, proof)), `snarkjs accepts ${what}`);
        }
    });

    test(`${name}: the other curve, other lengths and other keys`, () => {
        const stranger = fixture(curve.other, "nopriv");
        const bothCurves = /bn.*bls|bls.*bn/;
        const fewer = fixture(name, "mul2");
        p.assertRefused(p.pinion("verify", stranger.vkey, f.publics, f.proof), 3, bothCurves);
        p.assertRefused(p.pinion("verify", f.vkey, f.publics, stranger.proof), 3, bothCurves);
        p.assertRefused(p.pinion("verify", fewer.vkey, f.publics, f.proof), 3);
        p.assertRefused(p.pinion("verify", f.vkey, fewer.publics, f.proof), 3);
        assertInvalid(
            "proof of another circuit",
            p.pinion("verify", f.vkey, f.publics, fewer.proof),
        );
    });
}

/** JSON that is none, or not what belongs there: [what, text made from the good text]. */
const malformed = [
    ["empty", () => ""],
    ["cut", (text) => text.slice(0, text.length / 2)],
    ["followed by more", (text) => text + "x"],
    ["an array of nothing", () => "[{}]"],
    ["null", () => "null"],
    ["a number", () => "7"],
    ["not UTF-8", (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe])])],
    ["a NUL inside", (text) => text.replace(/\d/, "\0")],
    ["deeply nested", () => "[".repeat(100_000)],
    ["numbers for strings", (text) => text.replace(/"(\d+)"/g, "$1")],
    ["hexadecimal", (text) => text.replace(/"\d+"/, '"0x10"')],
    ["a sign", (text) => text.replace(/"(\d+)"/, '"-$1"')],
    ["a space", (text) => text.replace(/"(\d+)"/, '" $1"')],
    ["an empty string", (text) => text.replace(/"\d+"/, '""')],
    ["a value missing", (text) => text.replace(/"\d+",\s*/, "")],
];

const proofOnly = [
    ["another protocol", (text) => text.replace("groth16", "plonk")],
    ["an unknown curve", (text) => text.replace(/"curve": "[^"]*"/, '"curve": "bn129"')],
    ["pi_b missing", (text) => text.replace("pi_b", "pi_x")],
];

for (const curve of curveNames) {
    const f = fixture(curve, "nopriv");
    const texts = { vkey: f.vkey, publics: f.publics, proof: f.proof };
    for (const part of Object.keys(texts)) {
        test(`${curve}: malformed ${part} is refused`, () => {
            const text = fs.readFileSync(texts[part], "utf8");
            for (const [what, make] of part === "publics"
                ? malformed
                : [...malformed, ...proofOnly]) {
                const changed = make(text);
                if (changed === text) {
                    continue; // nothing of the kind in this file
                }
                const files = { ...texts, [part]: p.file(".json", changed) };
                const run = p.pinion("verify", files.vkey, files.publics, files.proof);
                assert.equal(run.status, 3, `${part}: ${what}: status ${run.status} ${run.stderr}`);
                p.assertRefused(run, 3);
            }
        });
    }
}

test("missing files and folders are refused", () => {
    const f = fixture("bn128", "mul2");
    const nowhere = p.folder() + "/nothing.json";
    for (const args of [
        [nowhere, f.publics, f.proof],
        [f.vkey, nowhere, f.proof],
        [f.vkey, f.publics, nowhere],
        [f.vkey, f.publics, p.folder()],
    ]) {
        p.assertRefused(p.pinion("verify", ...args), 3);
    }
});
