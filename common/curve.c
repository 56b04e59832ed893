#include "common/curve.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>

extern const struct curve bn254_portable_curve, bls12_381_portable_curve;

#if defined(__x86_64__)
#include <cpuid.h>

extern const struct curve bn254_adx_curve, bls12_381_adx_curve;

static bool have_adx(void)
{
    enum { LEAF = 7, BMI2 = 1 << 8, ADX = 1 << 19 };
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(LEAF, 0, &eax, &ebx, &ecx, &edx) && (ebx & BMI2) && (ebx & ADX);
}
#endif

enum isa { ISA_AUTO, ISA_PORTABLE, ISA_ADX };

static atomic_int selected_isa = ISA_AUTO;

/* The instances to choose from, ended by NULL. */
static const struct curve *const *instances(void)
{
    static const struct curve *const portable[] = {&bn254_portable_curve, &bls12_381_portable_curve,
                                                   NULL};
#if defined(__x86_64__)
    static const struct curve *const adx[] = {&bn254_adx_curve, &bls12_381_adx_curve, NULL};
    /* relaxed: set before anyone asks */
    if (atomic_load_explicit(&selected_isa, memory_order_relaxed) != ISA_PORTABLE && have_adx())
        return adx;
#endif
    return portable;
}

enum status curve_select_isa(const char *isa)
{
    static const char *const names[] = {
        [ISA_AUTO] = "auto", [ISA_PORTABLE] = "portable", [ISA_ADX] = "adx"};
    for (int i = ISA_AUTO; i <= ISA_ADX; i++) {
        if (strcmp(isa, names[i]) != 0)
            continue;
#if defined(__x86_64__)
        bool able = i != ISA_ADX || have_adx();
#else
        bool able = i != ISA_ADX;
#endif
        if (!able)
            return fail(ST_RESOURCE, "this processor has no %s instructions", isa);
        atomic_store_explicit(&selected_isa, i, memory_order_relaxed);
        return ST_OK;
    }
    return fail(ST_USAGE, "unknown instruction set \"%s\": auto, portable or adx", isa);
}

const struct curve *curve_by_fr_modulus(const uint8_t *modulus, size_t n)
{
    for (const struct curve *const *c = instances(); *c; c++)
        if ((*c)->fr_bytes == n && memcmp((*c)->fr_modulus, modulus, n) == 0)
            return *c;
    return NULL;
}

const struct curve *curve_by_name(const char *name)
{
    static const struct {
        const char *alias;
        enum curve_id id;
    } aliases[] = {
        {"bn254", CURVE_BN254},         {"bn128", CURVE_BN254},
        {"altbn128", CURVE_BN254},      {"alt_bn128", CURVE_BN254},
        {"bls12381", CURVE_BLS12_381},  {"bls12-381", CURVE_BLS12_381},
        {"bls12_381", CURVE_BLS12_381},
    };
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcasecmp(name, aliases[i].alias) != 0)
            continue;
        for (const struct curve *const *c = instances(); *c; c++)
            if ((*c)->id == aliases[i].id)
                return *c;
    }
    return NULL;
}

bool curve_below(const uint8_t *a, const uint8_t *m, size_t n)
{
    while (n-- > 0)
        if (a[n] != m[n])
            return a[n] < m[n];
    return false;
}
