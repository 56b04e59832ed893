// snarkjs as an oracle. Its curves keep worker threads: close() before the process can end.
import fs from "node:fs";

import * as snarkjs from "snarkjs";

import { readJson } from "./binfile.js";

/** Whether snarkjs accepts. Arguments are paths or parsed JSON. */
export function verify(vkey, publics, proof) {
    const [v, s, p] = [vkey, publics, proof].map((x) => (typeof x === "string" ? readJson(x) : x));
    return snarkjs.groth16.verify(v, s, p);
}

/** Proves with snarkjs' own prover and writes both files as its command line does. */
export async function prove(zkey, wtns, proofPath, publicPath) {
    const { proof, publicSignals } = await snarkjs.groth16.prove(zkey, wtns);
    fs.writeFileSync(proofPath, JSON.stringify(proof, null, 1));
    fs.writeFileSync(publicPath, JSON.stringify(publicSignals, null, 1));
}

export function verificationKey(zkey) {
    return snarkjs.zKey.exportVerificationKey(zkey);
}

/** Computes the witness of the input with the circuit's compiled generator. */
export function calculateWitness(input, wasm, wtnsPath) {
    return snarkjs.wtns.calculate(input, wasm, wtnsPath);
}

export async function close() {
    await globalThis.curve_bn128?.terminate();
    await globalThis.curve_bls12381?.terminate();
}
