// Damaged files of every kind: exit 3, one line that says why, and no file left. Then witnesses and
// circuits; bad_keys.test.mjs has the keys.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import * as bin from "../js/binfile.js";
import { curveNames, curves } from "../js/curves.js";
import { badFiles, fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import * as snark from "../js/snark.js";

after(snark.close);

const HUGE = [2 ** 28, 2 ** 31, 2 ** 32 - 1];

const manifest = badFiles();

test("the manifest is there", () => {
    assert.ok(manifest.length >= 27);
});

for (const bad of manifest) {
    test(`${bad.name}: ${bad.wrong}`, async () => {
        const named = new RegExp(bad.name.replace(".", "\\."));
        if (!bad.zkey) {
            p.assertNoKey(bad.file, named);
        } else if (bad.name === "coef_value_ge_r.zkey") {
            const { publics, proof } = p.proved(bad.zkey, bad.wtns);
            const vkey = path.join(path.dirname(bad.file), "good.vkey.json");
            p.assertVerifies(vkey, publics, proof);
            assert.ok(await snark.verify(vkey, publics, proof));
        } else {
            // what only the finished proof unmasks may be the fault of either file
            const suspects = new RegExp(`${named.source}|witness.*key`);
            p.assertNoProof(p.prove(bad.zkey, bad.wtns), 3, suspects);
        }
    });
}

test("a coefficient and the same plus r give the same bytes", () => {
    const bad = manifest.find((b) => b.name === "coef_value_ge_r.zkey");
    const good = path.join(path.dirname(bad.file), "good.zkey");
    const seed = "5".padStart(64, "0") + "6".padStart(64, "0");
    const [one, two] = [good, bad.zkey].map((key) => p.proved(key, bad.wtns, "--seed", seed));
    assert.equal(fs.readFileSync(one.proof, "utf8"), fs.readFileSync(two.proof, "utf8"));
});

for (const name of curveNames) {
    const curve = curves[name];
    const f = fixture(name, "nopriv");
    const witness = fs.readFileSync(f.wtns);
    const circuit = fs.readFileSync(f.r1cs);
    const values = bin.wtnsValues(witness);

    const refused = (bytes, pattern, ...options) =>
        p.assertNoProof(p.prove(f.zkey, p.file(".wtns", bytes), ...options), 3, pattern);

    /** The witness with values changed by edit(list). */
    const changed = (edit) => {
        const list = [...values];
        edit(list);
        return bin.wtns(curve, list);
    };

    test(`${name}: a witness of another length names both counts`, () => {
        const both = (n) => new RegExp(`\\b${n}\\b.*\\b${values.length}\\b`);
        const either = (n) => new RegExp(`${both(n).source}|\\b${values.length}\\b.*\\b${n}\\b`);
        refused(
            changed((w) => w.pop()),
            either(values.length - 1),
        );
        refused(
            changed((w) => w.push(0n)),
            either(values.length + 1),
        );
        refused(changed((w) => w.splice(0)));
    });

    test(`${name}: a witness of the other curve names both curves`, () => {
        const stranger = fixture(curve.other, "nopriv");
        p.assertNoProof(p.prove(f.zkey, stranger.wtns), 3, /bn.*bls|bls.*bn/i);
    });

    test(`${name}: values that are no witness`, () => {
        refused(changed((w) => (w[0] = 2n)));
        refused(changed((w) => (w[0] = 0n)));
        refused(
            changed((w) => (w[2] = curve.r)),
            /\b2\b/,
        );
        refused(
            changed((w) => (w[1] += curve.r)),
            /\b1\b/,
        );
        refused(
            changed((w) => (w[1] = (1n << 256n) - 1n)),
            /\b1\b/,
        );
    });

    test(`${name}: every value changed by one is refused, both suspects named`, () => {
        for (let i = 1; i < values.length; i++) {
            const wrong = changed((w) => (w[i] = (w[i] + 1n) % curve.r));
            refused(wrong, /witness.*key|key.*witness/);
        }
    });

    test(`${name}: --r1cs names the first failing constraint`, () => {
        const d = fixture(name, name === "bn128" ? "domexact" : "domover");
        const constraints = bin.r1csConstraints(fs.readFileSync(d.r1cs));
        const good = bin.wtnsValues(fs.readFileSync(d.wtns));
        assert.equal(bin.firstUnsatisfied(curve, constraints, good), -1);
        for (let i = 1; i < good.length; i += 7) {
            const w = [...good];
            w[i] = (w[i] + 1n) % curve.r;
            const first = bin.firstUnsatisfied(curve, constraints, w);
            const run = p.prove(d.zkey, p.file(".wtns", bin.wtns(curve, w)), "--r1cs", d.r1cs);
            p.assertNoProof(run, 3, new RegExp(`constraint ${first}\\b`));
        }
    });

    test(`${name}: --r1cs of another circuit is refused`, () => {
        const others = [
            fixture(name, "mul2"),
            fixture(name, "nopub"),
            fixture(curve.other, "nopriv"),
        ];
        for (const file of [...others.map((o) => o.r1cs), f.zkey]) {
            p.assertNoProof(
                p.prove(f.zkey, f.wtns, "--r1cs", file),
                3,
                new RegExp(path.basename(file)),
            );
        }
    });

    test(`${name}: sections of the witness dropped, doubled and turned round`, () => {
        for (const id of [1, 2]) {
            refused(bin.without(witness, id), new RegExp(`section ${id}\\b`));
            refused(bin.doubled(witness, id), new RegExp(`section ${id}\\b`));
        }
        p.proved(
            f.zkey,
            p.file(
                ".wtns",
                bin.edited(witness, (w) => w.sections.reverse()),
            ),
        );
    });

    test(`${name}: witness counts that lie`, () => {
        for (const v of [0, 1, values.length - 1, values.length + 1, ...HUGE]) {
            refused(bin.withWord(witness, 1, 36, v));
        }
        for (const v of [0, 8, 31, 33, ...HUGE]) {
            refused(bin.withWord(witness, 1, 0, v), /section 1\b/);
        }
    });

    test(`${name}: cut anywhere`, () => {
        for (let length = 0; length < witness.length; length += 17) {
            refused(witness.subarray(0, length));
        }
        for (let length = 0; length < circuit.length; length += 29) {
            p.assertNoKey(p.file(".r1cs", circuit.subarray(0, length)));
        }
    });

    test(`${name}: circuits that lie`, () => {
        const [n8, prime, nWires, nOutputs, nPublics, nConstraints] = [0, 4, 36, 40, 44, 60];
        const header = [
            [n8, 31],
            [n8, 0],
            [prime, 5],
            [nWires, 0],
            [nWires, 2],
            [nOutputs, 2 ** 31],
            [nPublics, 2 ** 32 - 1],
            [nConstraints, 2 ** 31],
            [nConstraints, 0],
        ];
        for (const [at, v] of header) {
            p.assertNoKey(p.file(".r1cs", bin.withWord(circuit, 1, at, v)));
        }
        for (const [at, v] of [
            [0, 2 ** 32 - 1],
            [0, 2 ** 31],
            [4, 2 ** 31],
        ]) {
            // first term
            p.assertNoKey(p.file(".r1cs", bin.withWord(circuit, 2, at, v)), /section 2\b/);
        }
        const unreduced = (data) => (bin.le(curve.r, 32).copy(data, 8), data);
        p.assertNoKey(p.file(".r1cs", bin.withSection(circuit, 2, unreduced)), /section 2\b/);
        for (const id of [1, 2]) {
            p.assertNoKey(
                p.file(".r1cs", bin.without(circuit, id)),
                new RegExp(`section ${id}\\b`),
            );
            p.assertNoKey(
                p.file(".r1cs", bin.doubled(circuit, id)),
                new RegExp(`section ${id}\\b`),
            );
        }
    });
}

test("a few bytes that claim the world", () => {
    const f = fixture("bn128", "mul2");
    const u32 = (v) => bin.le(v, 4);
    const claims = [
        [u32(2 ** 32 - 1)],
        [u32(0)],
        [u32(1), u32(1), bin.le(2n ** 64n - 1n, 8)],
        [u32(1), u32(2), bin.le(2n ** 64n - 12n, 8)],
    ];
    for (const claim of claims) {
        const file = (magic, version) =>
            p.file(`.${magic}`, Buffer.concat([Buffer.from(magic), u32(version), ...claim]));
        p.assertNoProof(p.prove(file("zkey", 1), f.wtns), 3);
        p.assertNoProof(p.prove(f.zkey, file("wtns", 2)), 3);
        p.assertNoKey(file("r1cs", 1));
    }
});

test("a message stays one line and shows no value of the witness", () => {
    const f = fixture("bn128", "nopriv");
    const secret = curves.bn128.r - 1234567890123456789n;
    const witness = [
        1n,
        ...bin
            .wtnsValues(fs.readFileSync(f.wtns))
            .slice(1)
            .map(() => secret),
    ];
    const wtns = p.file(".wtns", bin.wtns(curves.bn128, witness));
    for (const options of [[], ["--r1cs", f.r1cs]]) {
        const run = p.prove(f.zkey, wtns, ...options);
        p.assertNoProof(run, 3);
        for (const shown of [secret.toString(), secret.toString(16)]) {
            assert.ok(!run.stderr.includes(shown.slice(0, 12)), run.stderr);
        }
    }
    p.assertNoProof(p.prove(f.zkey, path.join(p.folder(), "a\nb\x1b[31m.wtns")), 3, /^[ -~]+\n$/);
});

test("one file in the place of another", () => {
    const f = fixture("bn128", "mul2");
    p.assertNoProof(p.prove(f.wtns, f.zkey), 3);
    p.assertNoProof(p.prove(f.r1cs, f.wtns), 3);
    p.assertNoProof(p.prove(f.zkey, f.proof), 3);
    p.assertNoProof(p.prove(f.zkey, p.folder()), 3);
    p.assertNoProof(p.prove("/dev/null", f.wtns), 3);
    p.assertNoProof(p.prove(f.zkey, p.folder() + "/missing.wtns"), 3, /missing\.wtns/);
    p.assertNoKey(f.zkey);
    p.assertRefused(p.pinion("inspect", p.file(".json", "{}")), 3);
    p.assertRefused(p.pinion("inspect", p.file(".zkey", "zkey")), 3);
    p.assertRefused(p.pinion("vkey", f.wtns, path.join(p.folder(), "v.json")), 3);
});
