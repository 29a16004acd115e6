/* SPDX-License-Identifier: MIT
 *
 * What the files about forecasts share.
 */
#ifndef ROOFTILE_FORECAST_TABLES_H
#define ROOFTILE_FORECAST_TABLES_H

#include "rooftile/forecast.h"
#include "rooftile/table.h"

/* How much less time it would be, were the term a tenth faster. */
double forecast_gain(const struct prediction *prediction, enum prediction_term term);
/* NaN where none is known, and of latencies, of which no ceiling says anything. */
/* Where a result comes from. */
const char *forecast_origin(const struct result *result);

struct table *forecast_one_machine(const struct forecast *forecast, struct arena *arena);
struct table *forecast_side_by_side(const struct forecast *forecasts, size_t count, struct arena *arena);
struct table *forecast_of_result(const struct forecast *forecasts, size_t count, struct arena *arena);
/* Time by case against its lower bound (HTML). `machine`: of those asked for, from 0. */
void forecast_picture(struct document *document, const struct forecast *forecast, size_t machine);
/* What predictions of a machine take from another one. `machine` "": it is known which. */
void say_borrowed(struct document *document, const char *machine, const struct machine_borrowed *borrowed);

#endif
