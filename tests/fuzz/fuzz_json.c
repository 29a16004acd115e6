/* SPDX-License-Identifier: MIT
 *
 * Any bytes: a tree or an error with a place, never a crash; and a tree's every value can say where it is.
 */
#include <stdlib.h>
#include <string.h>

#include "rooftile/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(const struct json *value, struct err *err)
{
    size_t count = 0;
    for (const struct json *child = value->first; child; child = child->next) {
        if (child->parent != value || (value->type == JSON_OBJECT) != (child->key != NULL))
            abort();
        if (child->key && json_member(value, child->key) != child)
            abort();
        count++;
        visit(child, err);
    }
    if (count != value->count || json_fail(value, err, "here") != ERR_CONFIG)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct json *root = NULL;
    const enum status status = json_parse(&root, "f", (const char *)data, size, &arena, &err);
    if (!status)
        visit(root, &err);
    else if (root || strncmp(err.text, "f:", 2) != 0)
        abort();
    arena_release(&arena);
    return 0;
}
