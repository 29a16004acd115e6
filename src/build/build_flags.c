/* SPDX-License-Identifier: MIT
 *
 * The compiler flags that a manifest may set. A manifest is third-party data: it may choose how its source is compiled,
 * but not what the compiler loads, starts, reads or writes.
 */
#include "build_internal.h"

/* The first match decides; a flag without a match is rejected. */
static const struct rule {
    const char *glob;
    bool taken;
} flag_rules[] =
    {
        {"-Ofast", true},
        {"-O[0123gsz]", true},
        {"-g", true},
        {"-g[0-3]", true},
        {"-[DU][A-Za-z_]*", true},
        {"-W*,*", false}, /* -Wl, -Wa, -Wp, pass options to other programs */
        {"-W*", true},
        {"-std=*", true},
        {"-mlink*", false},
        {"-mllvm=*", false}, /* must be two words, so that the second is checked */
        {"-f*plugin*", false},
        {"-fuse-ld*", false},
        {"-f*lto*", false},
        {"-f*file*", false},
        {"-f*coverage*", false},
        {"-f*module*", false},
        {"-f*trace*", false},
        {"-f*record*", false},
        {"-f*report*", false},
        {"-f*list*", false},
        {"-f*dump*", false},
        {"-f*save*", false},
        {"-f*diagnostics*", false},
        {"-f*usage*", false},
        {"-f*session*", false},
        {"-f*offload*", false},
        {"-f*xray*", false},
        {"-fsanitize*", false},
        {"-f*pch*", false},
        {"-[fm]*=*/*", false}, /* a path */
        {"-[fm][a-z]*", true},
},
  llvm_rules[] = {
      {"*[/@]*", false},      {"-load", false},     {"-load[-=]*", false}, {"--load", false},
      {"--load[-=]*", false}, {"-*plugin*", false}, {"-*file*", false},    {"-*output*", false},
      {"-*replay*", false},   {"-*dump*", false},   {"-*dot-*", false},    {"-?*", true},
};

static bool is_taken(const struct rule *rules, size_t count, const char *flag)
{
    for (size_t k = 0; k < count; k++)
        if (text_matches(flag, rules[k].glob))
            return rules[k].taken;
    return false;
}

enum status flags_check(const struct build_request *request, struct err *err)
{
    bool of_llvm = false;
    for (size_t k = 0; k < request->flag_count; k++) {
        const char *flag = request->flags[k];
        const bool taken = of_llvm ? is_taken(llvm_rules, sizeof(llvm_rules) / sizeof(*llvm_rules), flag)
                                   : is_taken(flag_rules, sizeof(flag_rules) / sizeof(*flag_rules), flag);
        if (!taken)
            return err_set(err, ERR_CONFIG,
                           "%s: its manifest gives the compiler '%s%s', which is not one of the flags that only "
                           "compile (-O -g -D -U -f -m -mllvm -W -std, without plugins, linkers and files); "
                           "--allow-flags allows it",
                           request->asked_by ? request->asked_by : request->source, of_llvm ? "-mllvm " : "", flag);
        of_llvm = !of_llvm && text_matches(flag, "-mllvm");
    }
    return STATUS_OK;
}
