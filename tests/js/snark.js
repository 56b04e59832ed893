// snarkjs as an oracle. Its curves keep worker threads: close() before the process can end.
import fs from "node:fs";

import * as snarkjs from "snarkjs";

import { readJson } from "./binfile.js";

/** Node 18 ends although a worker thread is about to answer; a timer keeps it up until then. */
export async function awake(promise) {
    const timer = setInterval(() => {}, 1000);
    try {
        return await promise;
    } finally {
        clearInterval(timer);
    }
}

/** Whether snarkjs accepts. Arguments are paths or parsed JSON. */
export function verify(vkey, publics, proof) {
    const [v, s, p] = [vkey, publics, proof].map((x) => (typeof x === "string" ? readJson(x) : x));
    return awake(snarkjs.groth16.verify(v, s, p));
}

/** Proves with snarkjs' own prover and writes both files as its command line does. */
export async function prove(zkey, wtns, proofPath, publicPath) {
    const { proof, publicSignals } = await awake(snarkjs.groth16.prove(zkey, wtns));
    fs.writeFileSync(proofPath, JSON.stringify(proof, null, 1));
    fs.writeFileSync(publicPath, JSON.stringify(publicSignals, null, 1));
}

export function verificationKey(zkey) {
    return awake(snarkjs.zKey.exportVerificationKey(zkey));
}

/** Computes the witness of the input with the circuit's compiled generator. */
export function calculateWitness(input, wasm, wtnsPath) {
    return awake(snarkjs.wtns.calculate(input, wasm, wtnsPath));
}

export async function close() {
    await globalThis.curve_bn128?.terminate();
    await globalThis.curve_bls12381?.terminate();
}
