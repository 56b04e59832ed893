// Every circuit whose snarkjs-made key is kept with the tests: proofs that both verifiers accept,
// and files byte for byte as snarkjs writes them.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, test } from "node:test";

import { curveNames } from "../js/curves.js";
import { fixtures } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import * as snark from "../js/snark.js";

after(snark.close);

const SEED = "0".repeat(63) + "7" + "0".repeat(62) + "1b";

/** The proof's bytes with that seed and these options. */
function seeded(fixture, ...options) {
    return fs.readFileSync(
        p.proved(fixture.zkey, fixture.wtns, "--seed", SEED, ...options).proof,
        "utf8",
    );
}

const proving = fixtures().filter((f) => fs.existsSync(f.zkey));

test("fixtures of both curves are there", () => {
    for (const curve of curveNames) {
        assert.ok(proving.filter((f) => f.curve === curve).length >= 4, curve);
    }
});

for (const f of proving) {
    test(`${f.curve} ${f.name}: proofs verify here and in snarkjs`, async () => {
        const first = p.proved(f.zkey, f.wtns, "--threads", "1");
        const second = p.proved(f.zkey, f.wtns, "--threads", "2");
        assert.notEqual(
            fs.readFileSync(first.proof, "utf8"),
            fs.readFileSync(second.proof, "utf8"),
        );
        for (const { publics, proof } of [first, second]) {
            assert.deepEqual(fs.readFileSync(publics), fs.readFileSync(f.publics));
            p.assertVerifies(f.vkey, publics, proof);
            assert.ok(await snark.verify(f.vkey, publics, proof), "snarkjs refuses the proof");
        }
    });

    test(`${f.curve} ${f.name}: snarkjs' proof is accepted`, () => {
        p.assertVerifies(f.vkey, f.publics, f.proof);
    });

    test(`${f.curve} ${f.name}: vkey writes snarkjs' bytes`, () => {
        assert.deepEqual(fs.readFileSync(p.vkey(f.zkey)), fs.readFileSync(f.vkey));
    });

    test(`${f.curve} ${f.name}: a seed fixes the bytes, whatever computes them`, () => {
        const expected = seeded(f, "--threads", "1");
        assert.equal(
            JSON.stringify(JSON.parse(expected), null, 1),
            expected,
            "not as snarkjs writes it",
        );
        assert.equal(seeded(f, "--threads", "2"), expected);
        assert.equal(seeded(f, "--threads", "2", "--cpu", "portable"), expected);
        assert.equal(seeded(f, "--cpu", "portable", "--threads", "1"), expected);
    });

    test(`${f.curve} ${f.name}: the witness satisfies the circuit by number`, () => {
        p.proved(f.zkey, f.wtns, "--r1cs", f.r1cs);
    });

    test(`${f.curve} ${f.name}: inspect agrees with the circuit`, () => {
        const seen = [f.zkey, f.r1cs, f.wtns].map((file) => {
            const run = p.pinion("inspect", file, "--json");
            p.assertStatus(run, 0);
            return JSON.parse(run.stdout);
        });
        const [key, circuit, witness] = seen;
        assert.deepEqual(
            seen.map((s) => s.type),
            ["zkey", "r1cs", "wtns"],
        );
        assert.equal(new Set(seen.map((s) => s.curve)).size, 1);
        assert.deepEqual(
            [key.constraints, key.variables, key.public],
            [circuit.constraints, circuit.variables, circuit.public],
        );
        assert.equal(witness.variables, key.variables);
        assert.equal(key.domain, 2 ** (Math.floor(Math.log2(key.constraints + key.public)) + 1));
    });
}

test("a key without contributions is proved with a warning", () => {
    const fresh = proving.find((f) => f.name === "domexact_new");
    const contributed = proving.find((f) => f.name === "domexact");
    assert.match(p.proved(fresh.zkey, fresh.wtns).stderr, /contribut/);
    assert.equal(p.proved(contributed.zkey, contributed.wtns).stderr, "");
});

for (const f of fixtures().filter((g) => g.name === "customgate")) {
    test(`${f.curve} customgate: setup refuses what Groth16 cannot express`, () => {
        p.assertNoKey(f.r1cs, /custom gate/);
    });
}
