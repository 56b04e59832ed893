// Circuits of every odd shape, written here: keys made by `setup --insecure` work, with our prover
// and with snarkjs', and are as sound as keys of known randomness can be.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import * as bin from "../js/binfile.js";
import { curveNames, curves, mod } from "../js/curves.js";
import * as p from "../js/pinion.js";
import { randomCircuit, shapes } from "../js/shapes.js";
import * as snark from "../js/snark.js";

after(snark.close);

const SEED = 20260101;
const RANDOM_CIRCUITS = 12;

/** The files of a circuit and of its development key. */
function prepared(curve, circuit) {
    const r1cs = p.file(".r1cs", bin.r1cs(curve, circuit));
    const wtns = p.file(".wtns", bin.wtns(curve, circuit.witness));
    const zkey = p.setup(r1cs);
    return { r1cs, wtns, zkey, vkey: p.vkey(zkey) };
}

function assertShape(circuit, zkey) {
    const seen = JSON.parse(p.pinion("inspect", zkey, "--json").stdout);
    const nPublic = (circuit.outputs ?? 0) + (circuit.publics ?? 0);
    const rows = circuit.constraints.length + nPublic;
    assert.equal(seen.public, nPublic);
    assert.equal(seen.variables, circuit.wires);
    assert.equal(seen.constraints, circuit.constraints.length);
    assert.equal(seen.domain, rows === 0 ? 2 : 2 ** (Math.floor(Math.log2(rows)) + 1));
}

/** Both verifiers accept. */
async function assertAccepted(vkey, { publics, proof }) {
    p.assertVerifies(vkey, publics, proof);
    assert.ok(await snark.verify(vkey, publics, proof), "snarkjs refuses the proof");
}

async function assertProves(circuit, files) {
    const options = ["--r1cs", files.r1cs, "--check-key"];
    const run = p.proved(files.zkey, files.wtns, ...options);
    const nPublic = (circuit.outputs ?? 0) + (circuit.publics ?? 0);
    const publics = circuit.witness.slice(1, nPublic + 1).map(String);
    assert.deepEqual(bin.readJson(run.publics), publics);
    await assertAccepted(files.vkey, run);
}

/** snarkjs' prover takes our key, and both verifiers take its proof. */
async function assertSnarkjsProves(files) {
    const folder = p.folder();
    const [proof, publics] = ["proof.json", "public.json"].map((name) => path.join(folder, name));
    await snark.prove(files.zkey, files.wtns, proof, publics);
    await assertAccepted(files.vkey, { publics, proof });
    assert.deepEqual(bin.readJson(files.vkey), await snark.verificationKey(files.zkey));
}

/** Every value changed by one: proved exactly if the constraints still hold. */
function assertSound(curve, circuit, files) {
    for (let i = 1; i < circuit.wires; i += 1 + Math.floor(circuit.wires / 6)) {
        const w = [...circuit.witness];
        w[i] = mod(w[i] + 1n, curve.r);
        const first = bin.firstUnsatisfied(curve, circuit.constraints, w);
        const wtns = p.file(".wtns", bin.wtns(curve, w));
        if (first < 0) {
            p.proved(files.zkey, wtns);
        } else {
            p.assertNoProof(p.prove(files.zkey, wtns), 3);
            const named = p.prove(files.zkey, wtns, "--r1cs", files.r1cs);
            p.assertNoProof(named, 3, new RegExp(`constraint ${first}\\b`));
        }
    }
}

for (const name of curveNames) {
    const curve = curves[name];
    const circuits = shapes(curve);
    for (let i = 0; i < RANDOM_CIRCUITS; i++) {
        circuits[`random, seed ${SEED + i}`] = randomCircuit(curve, SEED + i);
    }
    for (const [what, circuit] of Object.entries(circuits)) {
        test(`${name}: ${what}`, async () => {
            assert.equal(bin.firstUnsatisfied(curve, circuit.constraints, circuit.witness), -1);
            const files = prepared(curve, circuit);
            assertShape(circuit, files.zkey);
            await assertProves(circuit, files);
            await assertSnarkjsProves(files);
            assertSound(curve, circuit, files);
        });
    }

    test(`${name}: points at infinity are ordinary`, async () => {
        const [IC, A, B1, B2, C, H] = [3, 5, 6, 7, 8, 9];
        const point = (id) => (id === B2 ? 4 : 2) * curve.fqBytes;
        const zeros = prepared(curve, circuits["a witness of zeros"]);
        const hollow = bin.edited(fs.readFileSync(zeros.zkey), (z) => {
            [A, B1, B2].forEach((id) => bin.section(z, id).fill(0, point(id))); // all but wire 0
            [C, H].forEach((id) => bin.section(z, id).fill(0));
        });
        const run = p.proved(p.file(".zkey", hollow), zeros.wtns, "--check-key");
        await assertAccepted(zeros.vkey, run);

        const publics = prepared(curve, circuits["no constraint, all public"]); // the first is 0
        const withoutOne = bin.edited(fs.readFileSync(publics.zkey), (z) =>
            bin.section(z, IC).fill(0, point(IC), 2 * point(IC)),
        );
        const zkey = p.file(".zkey", withoutOne);
        const vkey = p.vkey(zkey);
        assert.deepEqual(bin.readJson(vkey).IC[1], ["0", "1", "0"]);
        assert.deepEqual(bin.readJson(vkey), await snark.verificationKey(zkey));
        await assertAccepted(vkey, p.proved(zkey, publics.wtns, "--check-key"));
    });

    test(`${name}: a domain of one`, async () => {
        const files = prepared(curve, circuits["nothing at all"]);
        const domain = 4 + curve.fqBytes + 4 + curve.frBytes + 8;
        const one = bin.edited(fs.readFileSync(files.zkey), (z) => {
            bin.section(z, 2).writeUInt32LE(1, domain);
            const h = z.sections.find((s) => s.id === 9);
            h.data = h.data.subarray(0, 2 * curve.fqBytes);
        });
        await assertAccepted(files.vkey, p.proved(p.file(".zkey", one), files.wtns));
    });

    test(`${name}: setup is the same on every run and any number of threads`, () => {
        const r1cs = p.file(".r1cs", bin.r1cs(curve, circuits["domain of 16 exceeded"]));
        const keys = [
            ["--threads", "1"],
            ["--threads", "2"],
        ].map((threads) => {
            const key = path.join(p.folder(), "k.zkey");
            const run = p.pinion("setup", "--insecure", ...threads, r1cs, key);
            p.assertStatus(run, 0);
            assert.match(run.stderr, /insecure|never|production/i);
            return fs.readFileSync(key);
        });
        assert.deepEqual(keys[0], keys[1]);
    });
}
