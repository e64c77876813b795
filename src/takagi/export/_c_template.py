"""The text of the C file, with places for names and numbers: template.c, and what goes into it."""

from pathlib import Path

FILE = (Path(__file__).parent / "template.c").read_text(encoding="utf-8")

# The exponents are never positive, so that nothing overflows.
LINK_CODE = {
    "identity": "",
    "logit": """\
    const $real odds = exp$f(*y < $zero ? *y : -*y);
    *y = (*y < $zero ? odds : $one) / ($one + odds);
""",
    "softmax": """\
    $real largest = y[0], total = $zero;
    for (k = 1; k < ${NAME}_N_OUTPUTS; k++) {
        largest = y[k] > largest ? y[k] : largest;
    }
    for (k = 0; k < ${NAME}_N_OUTPUTS; k++) {
        y[k] = exp$f(y[k] - largest);
        total += y[k];
    }
    for (k = 0; k < ${NAME}_N_OUTPUTS; k++) {
        y[k] /= total;
    }
""",
}

READ_PLAIN = """\
    for (m = 0; m < ${NAME}_N_FEATURES; m++) {
        z[m] = x[m];
    }"""

READ_ENCODED = """\
    ${name}_encode(x, z);"""

# Comparisons rather than fmin and fmax, so that NaN stays NaN.
HOLD = """\
    for (m = 0; m < ${NAME}_N_FEATURES; m++) {
        z[m] = z[m] < ${name}_limits[m][0] ? ${name}_limits[m][0] : z[m];
        z[m] = z[m] > ${name}_limits[m][1] ? ${name}_limits[m][1] : z[m];
    }"""

ABSENT = "const int *missing, "

DECLARE_MISSING = """\
    int missing[${NAME}_N_FEATURES + ${NAME}_N_BENDS];
"""

MARK_MISSING = """\
    for (m = 0; m < ${NAME}_N_FEATURES; m++) {
        missing[m] = ${name}_is_missing(z + m);
        z[m] = missing[m] ? $zero : z[m];
    }"""

SKIP = """\
            if (missing[m]) {
                continue;
            }
"""

TAKE = "(missing[m] ? ${name}_usual[r][m] : z[m])"

BENDS = {
    "log": "log$f(fmax$f(z[$m] - $knot, $floor))",
    "above": "fmax$f(z[$m] - $knot, $zero)",
    "up to": "fmin$f(z[$m], $knot)",
}

PROJECT = """\
    for (k = 0; k < ${NAME}_N_PROJECTED; k++) {
        a[k] = ${name}_projection[0][k];
        for (m = 0; m < ${NAME}_N_FEATURES; m++) {
            a[k] += ${name}_projection[m + 1][k] * z[m];
        }
    }"""

# The bits are checked, since compilers that assume finite numbers drop other tests.
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

DECLARE_INTERVAL = """
/* Limits between which the targets of $percent % of new rows lie. */
#ifdef __cplusplus
extern "C"
#endif
void ${name}_predict_interval(const $real x[${NAME}_N_COLUMNS], $real lower[${NAME}_N_OUTPUTS],
                              $real upper[${NAME}_N_OUTPUTS]);
"""

ENUM_VALUES = """\
enum { ${NAME}_N_VALUES = 2 * ${NAME}_N_OUTPUTS }; /* predictions, and half the widths of their intervals */
"""

INTERVALS = """
void ${name}_predict(const $real x[${NAME}_N_COLUMNS], $real y[${NAME}_N_OUTPUTS])
{
    $real value[${NAME}_N_VALUES];
    int k;

    ${name}_compute(x, value);
    for (k = 0; k < ${NAME}_N_OUTPUTS; k++) {
        y[k] = value[k];
    }
}

void ${name}_predict_interval(const $real x[${NAME}_N_COLUMNS], $real lower[${NAME}_N_OUTPUTS],
                              $real upper[${NAME}_N_OUTPUTS])
{
    $real value[${NAME}_N_VALUES];
    int k;

    ${name}_compute(x, value);
    for (k = 0; k < ${NAME}_N_OUTPUTS; k++) {
        lower[k] = value[k] - value[${NAME}_N_OUTPUTS + k];
        upper[k] = value[k] + value[${NAME}_N_OUTPUTS + k];
    }
}
"""
