"""The text of the C file, with places for names and numbers."""

FILE = """\
/* Takagi-Sugeno-Kang rules, written by takagi $version.
 *
 * C99, no heap, nothing beyond the standard library. One row is predicted by
 *
 *     $real x[${NAME}_N_COLUMNS], y[${NAME}_N_OUTPUTS];
 *     x[${example}] = ...; and so on for the other columns
 *     ${name}_predict(x, y);
 *
 * Other files include this one after defining ${NAME}_DECLARATIONS_ONLY.
 *
$rules
 */
#ifndef ${NAME}_H
#define ${NAME}_H

enum { /* places in x */
$columns
    ${NAME}_N_COLUMNS = $n_columns
};
$levels
enum { /* places in y */
$outputs
    ${NAME}_N_OUTPUTS = $n_outputs
};

#ifdef __cplusplus
extern "C"
#endif
void ${name}_predict(const $real x[${NAME}_N_COLUMNS], $real y[${NAME}_N_OUTPUTS]);

#endif

#ifndef ${NAME}_DECLARATIONS_ONLY
#include <math.h>
$includes
enum { ${NAME}_N_RULES = $n_rules, ${NAME}_N_FEATURES = $n_features, ${NAME}_N_PROJECTED = $n_projected };

$tables
$encoding
void ${name}_predict(const $real x[${NAME}_N_COLUMNS], $real y[${NAME}_N_OUTPUTS])
{
    $real a[${NAME}_N_PROJECTED + ${NAME}_N_FEATURES]; /* projections, if any, then features */
    $real *const z = a + ${NAME}_N_PROJECTED;
    $real firing[${NAME}_N_RULES];
    $real nearest = $limit, total = $zero;
    int r, k, m;

$read
$project
    for (r = 0; r < ${NAME}_N_RULES; r++) { /* minus the logarithm of firing levels */
        $real sum = $zero;
        for (m = 0; m < ${NAME}_N_PROJECTED + ${NAME}_N_FEATURES; m++) {
            const $real d = (a[m] - ${name}_centers[r][m]) * ${name}_inverse[r][m];
            sum += d * d;
        }
        firing[r] = sum < $limit ? sum : $limit;
        nearest = firing[r] < nearest ? firing[r] : nearest;
    }
    for (r = 0; r < ${NAME}_N_RULES; r++) {
        firing[r] = exp$f(nearest - firing[r]);
        total += firing[r];
    }
    for (k = 0; k < ${NAME}_N_OUTPUTS; k++) {
        $real sum = $zero;
        for (r = 0; r < ${NAME}_N_RULES; r++) {
            $real value = ${name}_consequents[r][k][0];
            for (m = 0; m < ${NAME}_N_FEATURES; m++) {
                value += ${name}_consequents[r][k][m + 1] * z[m];
            }
            sum += firing[r] * value;
        }
        y[k] = sum / total;
    }
${link}}

#endif
"""

# The exponents are never positive, so that nothing overflows.
LINK_CODE = {
    "identity": "",
    "logit": """\
    total = exp$f(*y < $zero ? *y : -*y);
    *y = (*y < $zero ? total : $one) / ($one + total);
""",
    "softmax": """\
    nearest = y[0];
    for (k = 1; k < ${NAME}_N_OUTPUTS; k++) {
        nearest = y[k] > nearest ? y[k] : nearest;
    }
    total = $zero;
    for (k = 0; k < ${NAME}_N_OUTPUTS; k++) {
        y[k] = exp$f(y[k] - nearest);
        total += y[k];
    }
    for (k = 0; k < ${NAME}_N_OUTPUTS; k++) {
        y[k] /= total;
    }
""",
}

READ_PLAIN = """\
    for (m = 0; m < ${NAME}_N_FEATURES; m++) {
        z[m] = x[m] - ${name}_origin[m];
    }"""

READ_ENCODED = """\
    ${name}_encode(x, z);
    for (m = 0; m < ${NAME}_N_FEATURES; m++) {
        z[m] -= ${name}_origin[m];
    }"""

PROJECT = """\
    for (k = 0; k < ${NAME}_N_PROJECTED; k++) {
        a[k] = ${name}_projection[0][k];
        for (m = 0; m < ${NAME}_N_FEATURES; m++) {
            a[k] += ${name}_projection[m + 1][k] * z[m];
        }
    }"""

# The bits are looked at, since compilers that assume finite numbers drop other tests.
IS_MISSING = """
typedef char ${name}_needs_${bits}_bits[sizeof($real) == sizeof(uint${bits}_t) ? 1 : -1];

static int ${name}_is_missing(const $real *x)
{
    uint${bits}_t bits;
    memcpy(&bits, x, sizeof bits);
    return (bits << 1) > UINT${bits}_C($infinity);
}
"""

ENCODE_NUMBER = """
static void ${name}_encode_number(const $real *x, $real fill, int has_mark, $real *z)
{
    const int missing = ${name}_is_missing(x);
    z[0] = missing ? fill : *x;
    if (has_mark) {
        z[1] = missing ? $one : $zero;
    }
}
"""

ENCODE_LEVEL = """
static void ${name}_encode_level(const $real *x, int n_levels, int missing, $real *z)
{
    int k, level = -1;
    if (${name}_is_missing(x)) {
        level = missing;
    } else if (*x > -$half && *x < ($real)n_levels - $half) {
        level = (int)(*x + $half);
    }
    for (k = 0; k < n_levels; k++) {
        z[k] = k == level ? $one : $zero;
    }
}
"""

ENCODE = """
static void ${name}_encode(const $real *x, $real *z)
{
$calls
}
"""
