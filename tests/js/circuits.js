// Circuits built from circomlib's templates at test time, with inputs that satisfy them. circomlib
// is GPL-3.0: nothing compiled from it is kept with the project.

const include = (file) => `include "circomlib/circuits/${file}.circom";\n`;
const main = (template, publics = "") => `component main ${publics}= ${template};\n`;

const membership = `
template Level() {
    signal input node; signal input sibling; signal input right; signal output parent;
    component order = MultiMux1(2);
    order.c[0][0] <== node; order.c[0][1] <== sibling;
    order.c[1][0] <== sibling; order.c[1][1] <== node;
    order.s <== right;
    right * (1 - right) === 0;
    component hash = Poseidon(2);
    hash.inputs[0] <== order.out[0]; hash.inputs[1] <== order.out[1];
    parent <== hash.out;
}
template Membership(depth) {
    signal input leaf; signal input siblings[depth]; signal input path[depth]; signal output root;
    component levels[depth];
    for (var i = 0; i < depth; i++) {
        levels[i] = Level();
        levels[i].node <== i == 0 ? leaf : levels[i - 1].parent;
        levels[i].sibling <== siblings[i]; levels[i].right <== path[i];
    }
    root <== levels[depth - 1].parent;
}
`;

const range = `
template InRange(bits) {
    signal input x; signal input low; signal input high; signal output inside;
    component width = Num2Bits(bits); width.in <== x;
    component above = GreaterEqThan(bits); above.in[0] <== x; above.in[1] <== low;
    component below = LessThan(bits); below.in[0] <== x; below.in[1] <== high;
    inside <== above.out * below.out;
}
`;

const unused = `
template Square(n) {
    signal input x; signal input ignored[n]; signal output y;
    y <== x * x;
}
`;

function bitsOf(text, count) {
    const ofByte = (byte) => [...byte.toString(2).padStart(8, "0")];
    const bits = [...Buffer.from(text)].flatMap(ofByte);
    return Array.from({ length: count }, (_, i) => bits[i % bits.length]);
}

function source(includes, templates, component) {
    return "pragma circom 2.0.0;\n" + includes.map(include).join("") + templates + component;
}

/** SHA-256 of so many bits; nearly all of its witness is 0 or 1. */
export function sha256(bits) {
    return {
        name: `sha256_${bits}`,
        source: source(["sha256/sha256"], "", main(`Sha256(${bits})`)),
        input: { in: bitsOf("abcdefghijklmnopqrstuvwxyz", bits) },
    };
}

/** {name, source, input, only}: only is the one curve that a circuit is compiled for, to save time
 * or because its constants are that curve's. */
export const circomlibCircuits = [
    {
        name: "num2bits",
        source: source(["bitify"], "", main("Num2Bits(250)")),
        input: { in: String(3n ** 150n) },
    },
    {
        name: "range",
        source: source(
            ["bitify", "comparators"],
            range,
            main("InRange(64)", "{public [low, high]} "),
        ),
        input: { x: "1000000", low: "1000", high: "18446744073709551615" },
    },
    {
        name: "poseidon",
        source: source(["poseidon"], "", main("Poseidon(2)")),
        input: { inputs: ["1", String(7n ** 80n)] },
        only: "bn128",
    },
    {
        name: "membership",
        source: source(["poseidon", "mux1"], membership, main("Membership(2)")),
        input: { leaf: "11", siblings: ["22", "33"], path: ["1", "0"] },
    },
    {
        name: "babyjub",
        source: source(["babyjub"], "", main("BabyPbk()")),
        input: { in: String(5n ** 100n) },
        only: "bn128",
    },
    { ...sha256(440), only: "bn128" },
    {
        // circom's header counts inputs that have no wire
        name: "unused",
        source: source([], unused, main("Square(5)")),
        input: { x: "3", ignored: ["1", "2", "3", "4", "5"] },
    },
];
