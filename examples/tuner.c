/* SPDX-License-Identifier: MIT
 *
 * Picks the fastest register tile of gemm_buffered: cc tuner.c -lrooftile && ./a.out [OPTION OF 'rooftile run']...
 */
#include <rooftile/rooftile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suite[] =
    "{ \"name\": \"tiles\", \"cases\": [ { \"kernel\": \"gemm_buffered\", \"sweep\": { \"TM\": [2, 4, 8] },"
    "  \"params\": { \"m\": 512, \"n\": 512, \"k\": 512 } } ] }";

/* A real program has a parser of JSON; for two numbers this does. */
static double number(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

static int take(void *best, const char *json)
{
    double *tile_and_rate = best;
    const double rate = number(json, "\"flops_per_s\":");
    if (rate > tile_and_rate[1]) {
        tile_and_rate[0] = number(json, "\"TM\":");
        tile_and_rate[1] = rate;
    }
    return 0;
}

int main(int argc, char **argv)
{
    double best[2] = {0, 0};
    struct rooftile *rooftile = argc ? rooftile_open((const char *const *)argv + 1) : NULL;
    const int code = rooftile ? rooftile_run(rooftile, suite, take, best) : 3;
    fprintf(code ? stderr : stdout, "%sTM=%g: %.4g FLOP/s\n", rooftile ? rooftile_error(rooftile) : "",
            best[0], best[1]);
    rooftile_close(rooftile);
    return code;
}
