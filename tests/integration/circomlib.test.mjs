// Circuits of circomlib, compiled here: their keys from `setup --insecure` work with our prover and
// with snarkjs', and both verifiers accept both proofs.
import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";

import { readJson } from "../js/binfile.js";
import { circomlibCircuits } from "../js/circuits.js";
import { compile } from "../js/circom.js";
import { curveNames } from "../js/curves.js";
import * as p from "../js/pinion.js";
import * as snark from "../js/snark.js";

after(snark.close);

const compiled = path.join(p.scratchRoot, "circom");

/** Both verifiers accept. */
async function assertAccepted(vkey, publics, proof, whose) {
    p.assertVerifies(vkey, publics, proof);
    assert.ok(await snark.verify(vkey, publics, proof), `snarkjs refuses ${whose} proof`);
}

for (const curve of curveNames) {
    for (const circuit of circomlibCircuits.filter((c) => (c.only ?? curve) === curve)) {
        test(`${curve}: ${circuit.name}`, async () => {
            const { r1cs, wasm } = compile(compiled, circuit.name, circuit.source, curve);
            const folder = p.folder();
            const [wtns, proof, publics] = ["witness.wtns", "proof.json", "public.json"].map((f) =>
                path.join(folder, f),
            );
            await snark.calculateWitness(circuit.input, wasm, wtns);

            const zkey = p.setup(r1cs);
            const vkey = p.vkey(zkey);
            assert.deepEqual(readJson(vkey), await snark.verificationKey(zkey));
            const ours = p.proved(zkey, wtns, "--r1cs", r1cs);
            await assertAccepted(vkey, ours.publics, ours.proof, "our");
            await snark.prove(zkey, wtns, proof, publics);
            assert.deepEqual(readJson(publics), readJson(ours.publics));
            await assertAccepted(vkey, publics, proof, "its own");
        });
    }
}
