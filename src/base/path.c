/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/file.h"

char *path_join(struct arena *arena, const char *dir, const char *name)
{
    const size_t length = strlen(dir);
    if (*name == '/' || length == 0)
        return arena_strdup(arena, name);
    return arena_printf(arena, "%s%s%s", dir, dir[length - 1] == '/' ? "" : "/", name);
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_dir(struct arena *arena, const char *path)
{
    size_t length = (size_t)(path_base(path) - path);
    if (length == 0)
        return arena_strdup(arena, ".");
    while (length > 1 && path[length - 1] == '/')
        length--;
    return arena_strndup(arena, path, length);
}

char *path_real(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = arena_strdup(arena, real);
    free(real);
    return copy;
}

char *path_self_dir(struct arena *arena)
{
    char *self = path_real(arena, "/proc/self/exe");
    /* Without /proc, or when the program was deleted while it runs, the working folder is all there is. */
    return self ? path_dir(arena, self) : arena_strdup(arena, ".");
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Where one kind of per-user files lives: the names that differ between cache and data. */
struct user_folder {
    const char *own;       /* ROOFTILE_*, the whole path */
    const char *xdg;       /* XDG_*_HOME; the specification says to ignore a relative one */
    const char *home;      /* below $HOME */
    const char *temporary; /* behind /tmp/rooftile-<uid> */
};

static char *user_dir(struct arena *arena, const struct user_folder *folder)
{
    const char *own = environment(folder->own);
    if (own)
        return arena_strdup(arena, own);
    const char *xdg = environment(folder->xdg);
    if (xdg && *xdg == '/')
        return path_join(arena, xdg, "rooftile");
    const char *home = environment("HOME");
    if (home)
        return path_join(arena, path_join(arena, home, folder->home), "rooftile");
    return arena_printf(arena, "/tmp/rooftile-%lu%s", (unsigned long)getuid(), folder->temporary);
}

char *path_cache_dir(struct arena *arena)
{
    static const struct user_folder cache = {"ROOFTILE_CACHE", "XDG_CACHE_HOME", ".cache", ""};
    return user_dir(arena, &cache);
}

char *path_data_dir(struct arena *arena)
{
    static const struct user_folder data = {"ROOFTILE_DATA", "XDG_DATA_HOME", ".local/share", "-data"};
    return user_dir(arena, &data);
}
