// Writes a circuit whose witness is nearly all 0 and 1, with a satisfying witness.
//
//     node sha256.mjs BITS FOLDER OUT     # OUT.r1cs and OUT.wtns; FOLDER keeps what circom makes
//
// circomlib's SHA-256 of BITS bits, compiled at run time: nothing of it is kept in the project.
import fs from "node:fs";

import { sha256 } from "../js/circuits.js";
import { compile } from "../js/circom.js";
import * as snark from "../js/snark.js";

const [bits, folder, out] = process.argv.slice(2);
if (!out || !(Number(bits) > 0)) {
    console.error("usage: node sha256.mjs BITS FOLDER OUT");
    process.exit(2);
}
const circuit = sha256(Number(bits));
const { r1cs, wasm } = compile(folder, circuit.name, circuit.source, "bn128");
fs.copyFileSync(r1cs, `${out}.r1cs`);
await snark.calculateWitness(circuit.input, wasm, `${out}.wtns`);
await snark.close();
