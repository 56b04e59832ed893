// iden3's binary container (zkey, wtns, r1cs): read, changed and written, section by section.
import fs from "node:fs";

import { mod } from "./curves.js";

/** v as n little-endian bytes. */
export function le(v, n) {
    const out = Buffer.alloc(n);
    let rest = BigInt(v);
    for (let i = 0; i < n; i++) {
        out[i] = Number(rest & 255n);
        rest >>= 8n;
    }
    return out;
}

/** The integer that the little-endian bytes stand for. */
export function fromLe(bytes) {
    let v = 0n;
    for (let i = bytes.length - 1; i >= 0; i--) {
        v = (v << 8n) | BigInt(bytes[i]);
    }
    return v;
}

/** {magic, version, sections: [{id, data}]}, data copied, in the order of the file. */
export function parse(bytes) {
    const file = {
        magic: bytes.toString("latin1", 0, 4),
        version: bytes.readUInt32LE(4),
        sections: [],
    };
    let at = 12;
    for (let i = bytes.readUInt32LE(8); i > 0; i--) {
        const length = Number(bytes.readBigUInt64LE(at + 4));
        const data = Buffer.from(bytes.subarray(at + 12, at + 12 + length));
        file.sections.push({ id: bytes.readUInt32LE(at), data });
        at += 12 + length;
    }
    return file;
}

export function build(file) {
    const parts = [
        Buffer.from(file.magic, "latin1"),
        le(file.version, 4),
        le(file.sections.length, 4),
    ];
    for (const { id, data } of file.sections) {
        parts.push(le(id, 4), le(data.length, 8), data);
    }
    return Buffer.concat(parts);
}

export function section(file, id) {
    return file.sections.find((s) => s.id === id).data;
}

/** The file's bytes after change(parsed file) has edited it. */
export function edited(bytes, change) {
    const file = parse(bytes);
    change(file);
    return build(file);
}

/** The file without the section of that id. */
export function without(bytes, id) {
    return edited(bytes, (file) => {
        file.sections = file.sections.filter((s) => s.id !== id);
    });
}

/** The file with the section of that id twice. */
export function doubled(bytes, id) {
    return edited(bytes, (file) => file.sections.push({ id, data: section(file, id) }));
}

/** The file with another u32 at that place of a section. */
export function withWord(bytes, id, at, v) {
    return edited(bytes, (file) => section(file, id).writeUInt32LE(v, at));
}

/** The file whose section of that id is change(its bytes). */
export function withSection(bytes, id, change) {
    return edited(bytes, (file) => {
        const found = file.sections.find((s) => s.id === id);
        found.data = change(found.data);
    });
}

/** A witness file of the values, bigints written as they are. */
export function wtns(curve, values) {
    const header = Buffer.concat([le(32, 4), le(curve.r, 32), le(values.length, 4)]);
    const body = Buffer.concat(values.map((v) => le(v, 32)));
    return build({
        magic: "wtns",
        version: 2,
        sections: [
            { id: 1, data: header },
            { id: 2, data: body },
        ],
    });
}

export function wtnsValues(bytes) {
    const body = section(parse(bytes), 2);
    return Array.from({ length: body.length / 32 }, (_, i) =>
        fromLe(body.subarray(32 * i, 32 * i + 32)),
    );
}

function linearCombination(curve, terms) {
    const parts = [le(terms.length, 4)];
    for (const [wire, value] of terms) {
        parts.push(le(wire, 4), le(mod(BigInt(value), curve.r), 32));
    }
    return Buffer.concat(parts);
}

/** An r1cs file. circuit: {wires, outputs, publics, privates, constraints: [[a, b, c], ...]}, a
 * linear combination being [[wire, value], ...]. */
export function r1cs(curve, circuit) {
    const { wires, outputs = 0, publics = 0, privates = 0, constraints } = circuit;
    const header = Buffer.concat([
        le(32, 4),
        le(curve.r, 32),
        le(wires, 4),
        le(outputs, 4),
        le(publics, 4),
        le(privates, 4),
        le(wires, 8),
        le(constraints.length, 4),
    ]);
    const rows = constraints.flat().map((terms) => linearCombination(curve, terms));
    const labels = Array.from({ length: wires }, (_, i) => le(i, 8));
    return build({
        magic: "r1cs",
        version: 1,
        sections: [
            { id: 2, data: Buffer.concat(rows) },
            { id: 1, data: header },
            { id: 3, data: Buffer.concat(labels) },
        ],
    });
}

/** The constraints of an r1cs file as r1cs() takes them. */
export function r1csConstraints(bytes) {
    const file = parse(bytes);
    const count = section(file, 1).readUInt32LE(60);
    const body = section(file, 2);
    let at = 0;
    const combination = () => {
        const terms = [];
        let n = body.readUInt32LE(at);
        for (at += 4; n > 0; n--, at += 36) {
            terms.push([body.readUInt32LE(at), fromLe(body.subarray(at + 4, at + 36))]);
        }
        return terms;
    };
    return Array.from({ length: count }, () => [combination(), combination(), combination()]);
}

function evaluate(terms, w) {
    return terms.reduce((sum, [wire, value]) => sum + BigInt(value) * w[wire], 0n);
}

/** The number of the first constraint that w does not satisfy, -1 if none. */
export function firstUnsatisfied(curve, constraints, w) {
    return constraints.findIndex(
        ([a, b, c]) => mod(evaluate(a, w) * evaluate(b, w) - evaluate(c, w), curve.r) !== 0n,
    );
}

export function readJson(path) {
    return JSON.parse(fs.readFileSync(path, "utf8"));
}
