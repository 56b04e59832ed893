#include "tests/unit/scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"

int scratch_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    char pattern[PATH_MAX], resolved[PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/pinion-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(pattern) || !realpath(pattern, resolved))
        return -1;
    *state = strdup(resolved);
    return *state ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

int scratch_teardown(void **state)
{
    int failed = nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return failed;
}

const char *scratch_path(void *const *state, const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", (const char *)*state, name);
    return path;
}

void scratch_write(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

int scratch_holds(const char *path, const char *text)
{
    char content[4096];
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    size_t size = fread(content, 1, sizeof content, f);
    fclose(f);
    return size == strlen(text) && memcmp(content, text, size) == 0;
}

size_t scratch_count(void *const *state)
{
    size_t n = 0;
    DIR *d = opendir(*state);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}
