#include "conf/conf_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_MAX = 1 << 20,
    KEY_MAX = 64, /* longest name that is looked up; longer ones are unknown at once */
};

/* Where a value stands, for messages. */
struct place {
    const char *file;
    unsigned line;
    const char *name;
};

/* --- storing a value --- */

static enum status wrong_type(const struct place *at, const char *wanted)
{
    return fail(ST_INPUT, "%s:%u: %s: must be %s", at->file, at->line, at->name, wanted);
}

static enum status read_int(const struct conf_key *key, int64_t *out, const config_setting_t *value,
                            const struct place *at)
{
    int type = config_setting_type(value);
    if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
        return wrong_type(at, "an integer");
    int64_t v =
        type == CONFIG_TYPE_INT ? config_setting_get_int(value) : config_setting_get_int64(value);
    if (v < (int64_t)key->min || v > (int64_t)key->max)
        return fail(ST_INPUT, "%s:%u: %s: is %" PRId64 ", must be %" PRIu64 " to %" PRIu64,
                    at->file, at->line, at->name, v, key->min, key->max);
    *out = v;
    return ST_OK;
}

static enum status read_size(const struct conf_key *key, uint64_t *out,
                             const config_setting_t *value, const struct place *at)
{
    int type = config_setting_type(value);
    const char *text = config_setting_get_string(value);
    uint64_t v = 0;
    enum status st = ST_OK;
    if (type == CONFIG_TYPE_STRING && key->type == CONF_SIZE_AUTO && strcmp(text, "auto") == 0) {
        *out = 0;
        return ST_OK;
    }
    if (type == CONFIG_TYPE_STRING)
        st = conf_size_parse(&v, text);
    else if (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64)
        v = config_setting_get_int64(value) > 0 ? (uint64_t)config_setting_get_int64(value) : 0;
    else
        return wrong_type(at, "a size such as \"16G\"");
    if (st != ST_OK) {
        status_clear(); /* say where it stands */
        return fail(st,
                    "%s:%u: %s: \"%.40s\" is not a size: use bytes or a suffix, such as "
                    "\"512M\" or \"16G\"%s",
                    at->file, at->line, at->name, text,
                    key->type == CONF_SIZE_AUTO ? ", or \"auto\"" : "");
    }
    if (v < key->min || v > key->max)
        return fail(ST_INPUT, "%s:%u: %s: is %" PRIu64 " bytes, must be %" PRIu64 " to %" PRIu64,
                    at->file, at->line, at->name, v, key->min, key->max);
    *out = v;
    return ST_OK;
}

static enum status read_choice(const struct conf_key *key, int64_t *out,
                               const config_setting_t *value, const struct place *at)
{
    char allowed[128] = "";
    const char *text = config_setting_get_string(value);
    for (int i = 0; key->choices[i] != NULL; i++) {
        size_t len = strlen(allowed);
        if (text != NULL && strcmp(text, key->choices[i]) == 0) {
            *out = i;
            return ST_OK;
        }
        snprintf(allowed + len, sizeof allowed - len, "%s\"%s\"", i == 0 ? "" : ", ",
                 key->choices[i]);
    }
    return fail(ST_INPUT, "%s:%u: %s: must be one of %s", at->file, at->line, at->name, allowed);
}

static enum status read_string(const struct conf_key *key, char *out, const config_setting_t *value,
                               const struct place *at)
{
    const char *text = config_setting_get_string(value);
    if (text == NULL)
        return wrong_type(at, "a string");
    size_t len = strlen(text);
    if (len < key->min || len > key->max)
        return fail(ST_INPUT, "%s:%u: %s: has %zu bytes, must have %" PRIu64 " to %" PRIu64,
                    at->file, at->line, at->name, len, key->min, key->max);
    memcpy(out, text, len + 1);
    return ST_OK;
}

static enum status read_bool(bool *out, const config_setting_t *value, const struct place *at)
{
    if (config_setting_type(value) != CONFIG_TYPE_BOOL)
        return wrong_type(at, "true or false");
    *out = config_setting_get_bool(value);
    return ST_OK;
}

static enum status store(struct conf *out, const struct conf_key *key,
                         const config_setting_t *value, const struct place *at)
{
    void *member = (char *)out + key->offset;
    switch (key->type) {
    case CONF_BOOL:
        return read_bool(member, value, at);
    case CONF_INT:
        return read_int(key, member, value, at);
    case CONF_SIZE:
    case CONF_SIZE_AUTO:
        return read_size(key, member, value, at);
    case CONF_CHOICE:
        return read_choice(key, member, value, at);
    case CONF_STRING:
        return read_string(key, member, value, at);
    }
    return fail(ST_INTERNAL, "%s: a key of unknown type", at->name);
}

/* --- names --- */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein's distance (1965), with one row of the table (Wagner and Fischer, 1974). */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[KEY_MAX + 1], len = strlen(b);
    CHECK(len <= KEY_MAX);
    for (size_t j = 0; j <= len; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= len; j++) {
            size_t above = row[j];
            row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[len];
}

static const struct conf_key *find_key(const char *name)
{
    for (size_t i = 0; i < conf_key_count; i++)
        if (strcmp(conf_keys[i].name, name) == 0)
            return &conf_keys[i];
    return NULL;
}

/* Whether name is the group of some key: "arena" of "arena.size". */
static bool is_group(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < conf_key_count; i++)
        if (strncmp(conf_keys[i].name, name, len) == 0 && conf_keys[i].name[len] == '.')
            return true;
    return false;
}

static enum status unknown(const struct place *at)
{
    const char *nearest = "";
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < conf_key_count; i++) {
        size_t distance = edit_distance(at->name, conf_keys[i].name);
        if (distance < least) {
            least = distance;
            nearest = conf_keys[i].name;
        }
    }
    return fail(ST_INPUT, "%s:%u: %s: unknown key; the nearest known one is %s", at->file, at->line,
                at->name, nearest);
}

/* --- groups --- */

static enum status take_member(struct conf *out, const char *file, const char *group,
                               const config_setting_t *value);

static enum status take_group(struct conf *out, const char *file, const char *name,
                              const config_setting_t *group)
{
    enum status st = ST_OK;
    int n = config_setting_length(group);
    for (int i = 0; i < n && st == ST_OK; i++)
        st = take_member(out, file, name, config_setting_get_elem(group, (unsigned)i));
    return st;
}

/* value is a member of group, "" for the file itself. Groups are one deep, since is_group knows no
 * other. */
static enum status take_member(struct conf *out, const char *file, const char *group,
                               const config_setting_t *value)
{
    char name[KEY_MAX + 1];
    int len = snprintf(name, sizeof name, "%s%s%s", group, group[0] != '\0' ? "." : "",
                       config_setting_name(value));
    struct place at = {.file = file, .line = config_setting_source_line(value), .name = name};
    const struct conf_key *key = len <= KEY_MAX ? find_key(name) : NULL;
    if (key != NULL)
        return store(out, key, value, &at);
    if (!is_group(name) || !config_setting_is_group(value))
        return is_group(name) ? wrong_type(&at, "a group: { ... }") : unknown(&at);
    return take_group(out, file, name, value);
}

/* --- the file --- */

enum status conf_parse(struct conf *out, const char *name, const char *text)
{
    config_t config;
    struct conf conf;
    enum status st = conf_text_check(name, text);
    if (st != ST_OK)
        return st;
    conf_init(&conf);
    config_init(&config);
    if (config_read_string(&config, text) == CONFIG_TRUE)
        st = take_group(&conf, name, "", config_root_setting(&config));
    else
        st = fail(ST_INPUT, "%s:%d: %s", name, config_error_line(&config),
                  config_error_text(&config));
    config_destroy(&config);
    if (st == ST_OK)
        *out = conf;
    return st;
}

void conf_init(struct conf *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < conf_key_count; i++) {
        char text[CONF_STRING_MAX + 16];
        config_t config;
        snprintf(text, sizeof text, "x = %s;", conf_keys[i].fallback);
        struct place at = {.file = "defaults", .line = (unsigned)i, .name = conf_keys[i].name};
        config_init(&config);
        CHECK(config_read_string(&config, text) == CONFIG_TRUE);
        CHECK(store(out, &conf_keys[i], config_lookup(&config, "x"), &at) == ST_OK);
        config_destroy(&config);
    }
}

/* The file's text with a terminator, for free(). */
static enum status read_file(char **out, const char *path)
{
    size_t len = 0;
    ssize_t n = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail(ST_INPUT, "%s: cannot be opened: %m", path);
    char *text = malloc(FILE_MAX + 2);
    if (text == NULL) {
        close(fd);
        return fail(ST_RESOURCE, "%s: out of memory", path);
    }
    while (n > 0 && len <= FILE_MAX) {
        n = read(fd, text + len, FILE_MAX + 1 - len);
        if (n > 0)
            len += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    enum status st = ST_OK;
    if (n < 0)
        st = fail(ST_INPUT, "%s: cannot be read: %m", path);
    else if (len > FILE_MAX)
        st = fail(ST_INPUT, "%s: is larger than %d bytes", path, FILE_MAX);
    else if (memchr(text, 0, len) != NULL)
        st = fail(ST_INPUT, "%s: is not text: it has a NUL byte", path);
    if (st != ST_OK) {
        free(text);
        return st;
    }
    text[len] = '\0';
    *out = text;
    return ST_OK;
}

enum status conf_load(struct conf *out, const char *path)
{
    char *text = NULL;
    enum status st = read_file(&text, path);
    if (st != ST_OK)
        return st;
    st = conf_parse(out, path, text);
    free(text);
    return st;
}
