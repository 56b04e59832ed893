#!/usr/bin/env python3
"""Prints common/ff/params.h: every constant of every curve, derived from its defining numbers.

    tools/gen_params.py > common/ff/params.h

A test compares the committed header with this output. The numbers given by hand are the moduli,
the curve parameter x and the curve equations; everything else is computed and checked here.
"""

LIMB = 64


def is_prime(n):
    if n < 4:
        return n > 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if n % a == 0:
            return n == a
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        y = pow(a, d, n)
        if y in (1, n - 1):
            continue
        for _ in range(s - 1):
            y = y * y % n
            if y == n - 1:
                break
        else:
            return False
    return True


class Fq2:
    """Fq[u] / (u^2 + 1)."""

    def __init__(self, p, c0, c1=0):
        self.p, self.c0, self.c1 = p, c0 % p, c1 % p

    def __add__(self, o):
        return Fq2(self.p, self.c0 + o.c0, self.c1 + o.c1)

    def __sub__(self, o):
        return Fq2(self.p, self.c0 - o.c0, self.c1 - o.c1)

    def __mul__(self, o):
        return Fq2(self.p, self.c0 * o.c0 - self.c1 * o.c1, self.c0 * o.c1 + self.c1 * o.c0)

    def __eq__(self, o):
        return (self.c0, self.c1) == (o.c0, o.c1)

    def inv(self):
        n = pow(self.c0 * self.c0 + self.c1 * self.c1, -1, self.p)
        return Fq2(self.p, self.c0 * n, -self.c1 * n)

    def pow(self, e):
        r, b = Fq2(self.p, 1), self
        while e:
            if e & 1:
                r = r * b
            b, e = b * b, e >> 1
        return r

    def is_zero(self):
        return self.c0 == 0 and self.c1 == 0

    def is_square(self):
        return self.is_zero() or self.pow((self.p ** 2 - 1) // 2) == Fq2(self.p, 1)


class Fq1(Fq2):
    """Fq seen inside Fq2, so that one point arithmetic serves both groups."""


def ec_add(P, Q):
    if P is None:
        return Q
    if Q is None:
        return P
    (x1, y1), (x2, y2) = P, Q
    if x1 == x2:
        if (y1 + y2).is_zero():
            return None
        m = (x1 * x1 * Fq2(x1.p, 3)) * (y1 + y1).inv()
    else:
        m = (y2 - y1) * (x2 - x1).inv()
    x3 = m * m - x1 - x2
    return (x3, m * (x1 - x3) - y1)


def ec_mul(P, k):
    R = None
    while k:
        if k & 1:
            R = ec_add(R, P)
        P, k = ec_add(P, P), k >> 1
    return R


def brute_generator(p, b, order, over_fq2):
    """The first point of the given prime order on y^2 = x^3 + b; small p only."""
    h = None
    for x0 in range(p):
        for x1 in range(p if over_fq2 else 1):
            x = Fq2(p, x0, x1)
            rhs = x * x * x + b
            for y0 in range(p):
                for y1 in range(p if over_fq2 else 1):
                    y = Fq2(p, y0, y1)
                    if y * y == rhs:
                        # clear the cofactor: try every divisor that could remain
                        for k in cofactors(p, order, over_fq2):
                            h = ec_mul((x, y), k)
                            if h is not None and ec_mul(h, order) is None:
                                return h
    raise SystemExit("no generator")


def cofactors(p, order, over_fq2):
    q = p * p if over_fq2 else p
    lo, hi = int(q + 1 - 2 * q ** 0.5), int(q + 2 + 2 * q ** 0.5)
    return [n // order for n in range(lo, hi + 1) if n % order == 0]


def limbs_of(v, n):
    return ", ".join("0x%016xULL" % ((v >> (LIMB * i)) & (2 ** LIMB - 1)) for i in range(n))


def define(name, value):
    one = "#define %s %s" % (name, value)
    if len(one) <= 100:
        print(one)
        return
    parts = value.split(", ")
    print("#define %s \\" % name)
    for i in range(0, len(parts), 4):
        chunk = ", ".join(parts[i:i + 4])
        last = i + 4 >= len(parts)
        print("    " + chunk + ("" if last else ", \\"))


class Field:
    def __init__(self, prefix, name, p):
        assert is_prime(p)
        self.prefix, self.name, self.p = prefix, name, p
        self.n = (p.bit_length() + LIMB - 1) // LIMB
        self.R = 2 ** (LIMB * self.n) % p

    def key(self, k):
        return "%s_%s_%s" % (self.prefix, self.name, k)

    def mont(self, k, v):
        define(self.key(k), limbs_of(v * self.R % self.p, self.n))

    def mont2(self, k, v):
        self.mont(k + "_C0", v.c0)
        self.mont(k + "_C1", v.c1)

    def emit(self):
        p, n = self.p, self.n
        define(self.key("LIMBS"), str(n))
        define(self.key("BITS"), str(p.bit_length()))
        define(self.key("MODULUS"), limbs_of(p, n))
        define(self.key("NEG_INV"), "0x%016xULL" % (-pow(p, -1, 2 ** LIMB) % 2 ** LIMB))
        define(self.key("ONE"), limbs_of(self.R, n))
        define(self.key("R2"), limbs_of(self.R ** 2 % p, n))
        define(self.key("R3"), limbs_of(self.R ** 3 % p, n))


def nonresidue(p):
    g = 2
    while pow(g, (p - 1) // 2, p) == 1:
        g += 1
    return g


def emit_curve(prefix, title, family, x, p, r, b, xi0, twist, g1, g2, gen):
    """twist 'D': y^2 = x^3 + b/xi; 'M': y^2 = x^3 + b*xi. xi = xi0 + u."""
    if family == "BN":
        assert p == 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1
        assert r == 36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1
        loop = 6 * x + 2
    else:
        assert r == x**4 - x**2 + 1 and p == (x - 1)**2 * r // 3 + x
        loop = x
    assert p % 4 == 3
    one, xi = Fq2(p, 1), Fq2(p, xi0, 1)
    assert not xi.is_square() and xi.pow((p * p - 1) // 3) != one
    b2 = Fq2(p, b) * (xi.inv() if twist == "D" else xi)
    if g1 is None:
        P = brute_generator(p, Fq2(p, b), r, False)
        Q = brute_generator(p, b2, r, True)
    else:
        P = (Fq2(p, g1[0]), Fq2(p, g1[1]))
        Q = (Fq2(p, *g2[0]), Fq2(p, *g2[1]))
    for pt, bb in ((P, Fq2(p, b)), (Q, b2)):
        assert pt[1] * pt[1] == pt[0] * pt[0] * pt[0] + bb and ec_mul(pt, r) is None

    print("\n/* %s */" % title)
    fr, fq = Field(prefix, "FR", r), Field(prefix, "FQ", p)
    fr.emit()
    s = ((r - 1) & -(r - 1)).bit_length() - 1
    t, nqr = (r - 1) >> s, nonresidue(r)
    define(fr.key("TWO_ADICITY"), str(s))
    fr.mont("NONRESIDUE", nqr)
    fr.mont("ROOT_SNARKJS", pow(nqr, t, r))
    fr.mont("ROOT_BELLMAN", pow(gen, t, r))
    fr.mont("GENERATOR", gen)
    fq.emit()
    define(prefix + "_FAMILY_" + family, "1")
    define(prefix + "_TWIST_" + twist, "1")
    define(prefix + "_X_ABS", "0x%xULL" % abs(x))
    define(prefix + "_X_NEGATIVE", "1" if x < 0 else "0")
    nl = (abs(loop).bit_length() + LIMB - 1) // LIMB
    define(prefix + "_LOOP_LIMBS", str(nl))
    define(prefix + "_LOOP_ABS", limbs_of(abs(loop), nl))
    fq.mont("B", b)
    fq.mont2("B2", b2)
    define(fq.key("XI0"), str(xi0))
    fq.mont("G1_X", P[0].c0)
    fq.mont("G1_Y", P[1].c0)
    fq.mont2("G2_X", Q[0])
    fq.mont2("G2_Y", Q[1])
    # xi^(i (p-1)/6), i = 1..5: what the p-power Frobenius multiplies w^i with
    for i in range(1, 6):
        fq.mont2("FROBENIUS_%d" % i, xi.pow(i * (p - 1) // 6))
    # the endomorphism psi = untwist, p-power Frobenius, twist: (x, y) -> (PSI_X conj x, PSI_Y conj y)
    psi = [xi.pow(i * (p - 1) // 6) for i in (2, 3)]
    for name, v in zip(("PSI_X", "PSI_Y"), psi):
        fq.mont2(name, v if twist == "D" else v.inv())
    # the endomorphism phi: (x, y) -> (CUBE_ROOT x, y); for BLS12 the root for which it is -x^2 on G1
    g = 2
    while pow(g, (p - 1) // 3, p) == 1:
        g += 1
    beta = pow(g, (p - 1) // 3, p)
    if family == "BLS12" and ec_mul(P, -x * x % r)[0] != Fq2(p, beta) * P[0]:
        beta = beta * beta % p
        assert ec_mul(P, -x * x % r) == (Fq2(p, beta) * P[0], P[1])
    fq.mont("CUBE_ROOT", beta)


def find_toy(p, r, twist):
    """Small coefficients (b, xi0) whose curve and twist of this type both contain order r."""
    for b in range(1, p):
        n1 = 1 + sum(1 + (0 if (x**3 + b) % p == 0 else (1 if pow(x**3 + b, (p - 1) // 2, p) == 1 else -1))
                     for x in range(p))
        if n1 % r:
            continue
        for xi0 in range(1, p):
            xi, one = Fq2(p, xi0, 1), Fq2(p, 1)
            if xi.is_square() or xi.pow((p * p - 1) // 3) == one:
                continue
            b2 = Fq2(p, b) * (xi.inv() if twist == "D" else xi)
            t = p + 1 - n1
            orders = twist_orders(p, t)
            n2 = [n for n in orders if n % r == 0]
            if kills_some_points(p, b2, n2):
                return b, xi0
    raise SystemExit("no toy curve")


def twist_orders(p, t):
    t2 = t * t - 2 * p
    q = p * p
    f2 = (4 * q - t2 * t2) // 3
    f = int(round(f2 ** 0.5))
    assert f * f == f2
    return [q + 1 - (t2 + 3 * f) // 2, q + 1 - (t2 - 3 * f) // 2,
            q + 1 - (-t2 + 3 * f) // 2, q + 1 - (-t2 - 3 * f) // 2]


def kills_some_points(p, b2, orders):
    found = 0
    for x0 in range(p):
        x = Fq2(p, x0, 1)
        rhs = x * x * x + b2
        if not rhs.is_square() or rhs.is_zero():
            continue
        y = sqrt2(rhs)
        if not any(ec_mul((x, y), n) is None for n in orders):
            return False
        found += 1
        if found == 12:
            return True
    return False


def sqrt2(a):
    """A square root in Fq2, p = 3 mod 4 (Adj, Rodriguez-Henriquez, 2012, algorithm 9)."""
    p = a.p
    a1 = a.pow((p - 3) // 4)
    alpha, x0 = a1 * a1 * a, a1 * a
    if alpha == Fq2(p, -1):
        return Fq2(p, 0, 1) * x0
    y = (Fq2(p, 1) + alpha).pow((p - 1) // 2) * x0
    assert y * y == a
    return y


def main():
    print("/* Constants of every curve: generated by tools/gen_params.py, do not edit.")
    print(" *")
    print(" * Plain numbers only, so that C and CUDA share them. A list is little-endian 64-bit limbs, to be put in braces;")
    print(" * an element of Fq2 is two constants, _C0 and _C1. Field constants are in Montgomery form, R = 2^(64 * LIMBS);")
    print(" * MODULUS, R2 and R3 are plain integers. The toy curves are instances of the same two families that are small")
    print(" * enough for exhaustive tests. */")
    print("#ifndef PINION_FF_PARAMS_H")
    print("#define PINION_FF_PARAMS_H")
    emit_curve(
        "BN254", "BN254 (alt_bn128, snarkjs: bn128): y^2 = x^3 + 3", "BN", 4965661367192848881,
        21888242871839275222246405745257275088696311157297823662689037894645226208583,
        21888242871839275222246405745257275088548364400416034343698204186575808495617,
        3, 9, "D", (1, 2),
        ((10857046999023057135944570762232829481370756359578518086990519993285655852781,
          11559732032986387107991004021392285783925812861821192530917403151452391805634),
         (8495653923123431417604973247489272438418190587263600148770280649306958101930,
          4082367875863433681332203403145435568316851327593401208105741076214120093531)), 5)
    emit_curve(
        "BLS12_381", "BLS12-381: y^2 = x^3 + 4", "BLS12", -0xd201000000010000,
        0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab,
        0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001,
        4, 1, "M",
        (0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb,
         0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1),
        ((0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8,
          0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e),
         (0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801,
          0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be)),
        7)
    for prefix, family, twist, x, p, r in (("TOY_BN", "BN", "D", 1, 103, 97), ("TOY_BLS", "BLS12", "M", 4, 727, 241)):
        b, xi0 = find_toy(p, r, twist)
        g = 2
        while any(pow(g, (r - 1) // f, r) == 1 for f in (2, 3, 5)):
            g += 1
        emit_curve(prefix, "%s: q = %d, r = %d, y^2 = x^3 + %d" % (prefix, p, r, b), family, x, p, r, b, xi0,
                   twist, None, None, g)
    print("\n#endif")


main()
