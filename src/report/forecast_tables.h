/* SPDX-License-Identifier: MIT
 *
 * Declarations shared by the files about forecasts.
 */
#ifndef ROOFTILE_FORECAST_TABLES_H
#define ROOFTILE_FORECAST_TABLES_H

#include "rooftile/forecast.h"
#include "rooftile/table.h"

/* The share of the time that would be saved if the term were a tenth faster. */
double forecast_gain(const struct prediction *prediction, enum prediction_term term);
/* The machine that a result was measured on. */
const char *forecast_origin(const struct result *result);

struct table *forecast_one_machine(const struct forecast *forecast, struct arena *arena);
struct table *forecast_side_by_side(const struct forecast *forecasts, size_t count, struct arena *arena);
struct table *forecast_of_result(const struct forecast *forecasts, size_t count, struct arena *arena);
/* Draws time by case against its lower bound (HTML). `machine`: index among the requested machines, from 0. */
void forecast_picture(struct document *document, const struct forecast *forecast, size_t machine);
/* Reports the values that a machine's predictions borrow from another machine. `machine` "": the context names it. */
void say_borrowed(struct document *document, const char *machine, const struct machine_borrowed *borrowed);

#endif
