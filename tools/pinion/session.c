#include "tools/pinion/session.h"

#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/curve.h"

enum status session_begin(struct session *s, const struct compute_options *options)
{
    *s = (struct session){.quiet = options->quiet};
    enum status st = curve_select_isa(options->cpu);
    if (st == ST_OK)
        st = pool_create(&s->pool, (unsigned)options->threads);
    if (st == ST_OK)
        progress_line_init(&s->line, !options->quiet);
    return st;
}

void session_end(struct session *s)
{
    progress_line_fini(&s->line);
    pool_destroy(s->pool);
    *s = (struct session){0};
}

void session_warn(struct session *s, const char *format, ...)
{
    if (s->quiet)
        return;
    char text[PATH_MAX + 512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    status_clean(text);
    progress_line_fini(&s->line);
    fprintf(stderr, "pinion: warning: %s\n", text);
}

enum status session_print_json(json_t *value)
{
    if (!value)
        return fail(ST_RESOURCE, "no memory for the result");
    int error = json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(value);
    if (error || putchar('\n') == EOF || fflush(stdout) != 0)
        return fail(ST_RESOURCE, "cannot write to standard output: %m");
    return ST_OK;
}

json_t *session_stages_json(const struct groth16_timings *t)
{
    return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f}", "check", t->check, "evaluate",
                     t->evaluate, "ntt", t->ntt, "msm_h", t->msm_h, "msm_a", t->msm_a, "msm_b1",
                     t->msm_b1, "msm_b2", t->msm_b2, "msm_c", t->msm_c, "assemble", t->assemble,
                     "verify", t->verify);
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool stat_directory_of(const char *path, struct stat *out)
{
    char copy[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof copy)
        return false;
    memcpy(copy, path, length + 1);
    return stat(dirname(copy), out) == 0;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Of paths that name nothing yet: out and ./out would be one file. */
static bool same_new_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return strcmp(last_name(a), last_name(b)) == 0 && stat_directory_of(a, &sa) &&
           stat_directory_of(b, &sb) && same_inode(&sa, &sb);
}

static bool same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    bool have_a = stat(a, &sa) == 0, have_b = stat(b, &sb) == 0;
    if (have_a && have_b)
        return S_ISREG(sa.st_mode) && same_inode(&sa, &sb);
    return !have_a && !have_b && same_new_file(a, b);
}

static enum status check_writable(const char *path)
{
    struct stat s;
    bool exists = stat(path, &s) == 0;
    if (exists && S_ISDIR(s.st_mode))
        return fail(ST_RESOURCE, "%s: is a directory; name a file", path);
    if (exists && !S_ISREG(s.st_mode))
        return ST_OK; /* a pipe or a device is written directly */
    char *copy = strdup(path);
    if (!copy)
        return fail(ST_RESOURCE, "no memory");
    const char *dir = dirname(copy);
    enum status st = ST_OK;
    if (access(dir, W_OK | X_OK) != 0)
        st = fail(ST_RESOURCE, "%s: cannot create a file in %s: %m", path, dir);
    free(copy);
    return st;
}

enum status session_check_outputs(const char *const *inputs, const char *const *outputs)
{
    for (const char *const *out = outputs; *out; out++) {
        for (const char *const *in = inputs; *in; in++)
            if (same_file(*in, *out))
                return fail(ST_USAGE, "%s: the output would overwrite the input %s", *out, *in);
        for (const char *const *other = outputs; other < out; other++)
            if (same_file(*other, *out))
                return fail(ST_USAGE, "%s: two outputs need two names", *out);
        enum status st = check_writable(*out);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}
