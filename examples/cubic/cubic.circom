pragma circom 2.0.0;

// "I know x with x^3 + x + 5 = y": y is public, x stays secret.
template Cubic() {
    signal input x;
    signal output y;
    signal square;

    square <== x * x;
    y <== square * x + x + 5;
}

component main = Cubic();
