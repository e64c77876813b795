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
enum { /* $what */
$outputs
    ${NAME}_N_OUTPUTS = $n_outputs
};

#ifdef __cplusplus
extern "C"
#endif
void ${name}_predict(const $real x[${NAME}_N_COLUMNS], $real y[${NAME}_N_OUTPUTS]);
$declare_interval
#endif

#ifndef ${NAME}_DECLARATIONS_ONLY
#include <math.h>
$includes
enum { ${NAME}_N_RULES = $n_rules, ${NAME}_N_FEATURES = $n_features };
enum { ${NAME}_N_PROJECTED = $n_projected, ${NAME}_N_BENDS = $n_bends };
$enum_values
$tables
$encoding
static void ${name}_add_rules(const $real *a, ${absent}int start, int stop, $real *y)
{
    const $real *const z = a + ${NAME}_N_PROJECTED;
    $real firing[${NAME}_N_RULES];
    $real nearest = $limit, total = $zero;
    int r, k, m;

    for (r = start; r < stop; r++) { /* minus the logarithm of firing levels */
        $real sum = $zero;
        for (m = 0; m < ${NAME}_N_PROJECTED + ${NAME}_N_FEATURES; m++) {
${skip}            const $real d = (a[m] - ${name}_centers[r][m]) * ${name}_inverse[r][m];
            sum += d * d;
        }
        firing[r] = sum < $limit ? sum : $limit;
        nearest = firing[r] < nearest ? firing[r] : nearest;
    }
    for (r = start; r < stop; r++) {
        firing[r] = exp$f(nearest - firing[r]);
        total += firing[r];
    }
    for (k = 0; k < $values; k++) {
        $real sum = $zero;
        for (r = start; r < stop; r++) {
            $real value = ${name}_consequents[r][k][0];
            for (m = 0; m < ${NAME}_N_FEATURES + ${NAME}_N_BENDS; m++) {
                value += ${name}_consequents[r][k][m + 1] * ${input};
            }
            sum += firing[r] * value;
        }
        y[k] += sum / total;
    }
}

$function(const $real x[${NAME}_N_COLUMNS], $real y[$values])
{
    $real a[${NAME}_N_PROJECTED + ${NAME}_N_FEATURES + ${NAME}_N_BENDS]; /* projections, features, bends */
    $real *const z = a + ${NAME}_N_PROJECTED;
${declare}    int k, m;

$read
$mark
$hold
$bend
    for (m = 0; m < ${NAME}_N_FEATURES + ${NAME}_N_BENDS; m++) {
        z[m] -= ${name}_origin[m];
    }
$project
    for (k = 0; k < $values; k++) {
        y[k] = $zero;
    }
$add
${link}}
$intervals
#endif
