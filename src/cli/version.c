/* SPDX-License-Identifier: MIT */
#include "version.h"

#include <gnu/libc-version.h>

#include "rooftile/json_out.h"
#include "rooftile_version.h"

static const struct {
    const char *name, *version;
} libraries[] = {ROOFTILE_LIBRARIES{NULL, NULL}};

void version_text(struct text *out)
{
    text_addf(out, "rooftile %s", ROOFTILE_VERSION);
    if (ROOFTILE_GIT[0])
        text_addf(out, " (%s)", ROOFTILE_GIT);
    text_add(out, "\n");
}

void version_json(struct text *out)
{
    struct json_out *json = json_out_new();
    json_out_string(json, "name", "rooftile");
    json_out_string(json, "version", ROOFTILE_VERSION);
    json_out_string(json, "git", ROOFTILE_GIT[0] ? ROOFTILE_GIT : NULL);
    json_out_string(json, "compiler", ROOFTILE_COMPILER);
    json_out_string(json, "build_type", ROOFTILE_BUILD_TYPE);
    json_out_string(json, "target", ROOFTILE_TARGET);
    json_out_object(json, "libraries");
    for (size_t k = 0; libraries[k].name; k++)
        json_out_string(json, libraries[k].name, libraries[k].version);
    json_out_string(json, "glibc", gnu_get_libc_version());
    json_out_end(json);
    json_out_finish(json, out, true);
    text_add(out, "\n");
    json_out_free(json);
}
