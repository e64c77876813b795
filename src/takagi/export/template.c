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
