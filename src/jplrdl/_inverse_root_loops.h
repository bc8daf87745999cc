/* The loop of _inverse_root.pyx. */

#ifndef JPLRDL_INVERSE_ROOT_LOOPS_H
#define JPLRDL_INVERSE_ROOT_LOOPS_H

#include "_vectors.h"

#define JPLRDL_INVERSE_COLUMNS 32

/* One row up in some columns of the inverses for all shifts, a row of them each: times its ratio. sums: of all shifts. */
JPLRDL_WIDEST static void climb(ptrdiff_t n_shifts, const double *ratios, double *inverses, double *sums) {
    double total[JPLRDL_INVERSE_COLUMNS] = {0};
    for (ptrdiff_t s = 0; s < n_shifts; s++) {
        double ratio = ratios[s], *row = inverses + s * JPLRDL_INVERSE_COLUMNS;
        JPLRDL_INDEPENDENT
        for (ptrdiff_t j = 0; j < JPLRDL_INVERSE_COLUMNS; j++) {
            row[j] *= ratio;
            total[j] += row[j];
        }
    }
    for (ptrdiff_t j = 0; j < JPLRDL_INVERSE_COLUMNS; j++)
        sums[j] = total[j];
}

#endif
