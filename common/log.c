#include "common/log.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *component;
    enum log_format format;
    int fd;
    _Atomic int level;
} sink = {.component = "pinion", .format = LOG_TEXT, .fd = STDERR_FILENO, .level = LEVEL_INFO};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/* A line being written. A pair that does not fit sets full and is taken back as a whole. */
struct line {
    char text[LOG_LINE_MAX];
    size_t len, limit;
    bool full; /* the pair at hand does not fit */
    bool cut;  /* some pair did not */
};

void log_init(const char *component, enum log_format format, enum log_level level, int fd)
{
    sink.component = component;
    sink.format = format;
    sink.fd = fd;
    log_set_level(level);
}

void log_set_level(enum log_level level)
{
    /* nothing is published with it */
    atomic_store_explicit(&sink.level, (int)level, memory_order_relaxed);
}

bool log_enabled(enum log_level level)
{
    return (int)level <= atomic_load_explicit(&sink.level, memory_order_relaxed);
}

static void put(struct line *l, const char *bytes, size_t len)
{
    if (len > l->limit - l->len) {
        l->full = true;
        return;
    }
    memcpy(l->text + l->len, bytes, len);
    l->len += len;
}

static void put_text(struct line *l, const char *text)
{
    put(l, text, strlen(text));
}

/* Length of the UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates), 0 if it is none.
 */
static size_t utf8_length(const unsigned char *s)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = s[0] < 0x80 ? 1 : (s[0] >> 5) == 6 ? 2 : (s[0] >> 4) == 14 ? 3 : 4;
    if (len == 1)
        return 1;
    if (len == 4 && (s[0] >> 3) != 30)
        return 0;
    uint32_t code = s[0] & (0xffU >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80) /* the terminator too */
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code >= least[len] && code <= 0x10ffff && !surrogate ? len : 0;
}

/* A JSON string, which the text format quotes with too: one line, valid UTF-8, whatever text holds.
 */
static void put_quoted(struct line *l, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    put_text(l, "\"");
    while (*s != '\0' && !l->full) {
        char escape[8];
        size_t len = utf8_length(s);
        if (len == 0) {
            put_text(l, "\\ufffd");
            len = 1;
        } else if (*s == '"' || *s == '\\') {
            put(l, (const char[]){'\\', (char)*s}, 2);
        } else if (*s < 0x20 || *s == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", *s);
            put_text(l, escape);
        } else {
            put(l, (const char *)s, len);
        }
        s += len;
    }
    put_text(l, "\"");
}

static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._-/:,+@%~";
    return text[0] != '\0' && text[strspn(text, plain)] == '\0';
}

static void put_string(struct line *l, const char *text)
{
    if (text == NULL)
        text = "";
    if (sink.format == LOG_TEXT && is_plain(text))
        put_text(l, text);
    else
        put_quoted(l, text);
}

static void put_key(struct line *l, const char *key)
{
    if (sink.format == LOG_TEXT) {
        put_text(l, " ");
        put_text(l, key);
        put_text(l, "=");
    } else {
        put_text(l, ",\"");
        put_text(l, key);
        put_text(l, "\":");
    }
}

static void put_value(struct line *l, const struct log_pair *p)
{
    char number[48];
    switch (p->kind) {
    case LOG_STRING:
        put_string(l, p->string);
        return;
    case LOG_BOOL:
        put_text(l, p->flag ? "true" : "false");
        return;
    case LOG_U64:
        snprintf(number, sizeof number, "%llu", (unsigned long long)p->u64);
        break;
    case LOG_I64:
        snprintf(number, sizeof number, "%lld", (long long)p->i64);
        break;
    case LOG_REAL:
        /* JSON has no infinities */
        snprintf(number, sizeof number, fabs(p->real) < 1e30 ? "%.3f" : "null", p->real);
        break;
    }
    put_text(l, number);
}

static void put_pair(struct line *l, const struct log_pair *p)
{
    size_t before = l->len;
    put_key(l, p->key);
    put_value(l, p);
    if (l->full) {
        l->len = before;
        l->cut = true;
        l->full = false;
    }
}

static void put_time(struct line *l)
{
    char text[48];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + len, sizeof text - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
    put_text(l, text);
}

static void put_head(struct line *l, enum log_level level, const char *job, const char *event)
{
    const struct log_pair of_job = {.key = "job", .kind = LOG_STRING, .string = job};
    const struct log_pair of_event = {.key = "event", .kind = LOG_STRING, .string = event};
    bool text = sink.format == LOG_TEXT;
    put_text(l, text ? "" : "{\"time\":\"");
    put_time(l);
    put_text(l, text ? " " : "\",\"level\":\"");
    put_text(l, level_names[level]);
    put_text(l, text ? " " : "\",\"component\":\"");
    put_text(l, sink.component);
    put_text(l, text ? "" : "\"");
    if (job != NULL)
        put_pair(l, &of_job);
    if (!text) {
        put_pair(l, &of_event);
        return;
    }
    put_text(l, " ");
    put_string(l, event);
}

void log_write(enum log_level level, const char *job, const char *event,
               const struct log_pair *pairs, size_t count)
{
    static const char cut_text[] = " truncated=true", cut_json[] = ",\"truncated\":true";
    int saved = errno;
    struct line l;
    if (!log_enabled(level))
        return;
    l.len = 0;
    l.full = l.cut = false;
    l.limit = sizeof l.text - sizeof cut_json - 2; /* room for the mark, "}" and the newline */
    put_head(&l, level, job, event);
    for (size_t i = 0; i < count; i++)
        put_pair(&l, &pairs[i]);
    l.limit = sizeof l.text;
    if (l.cut)
        put_text(&l, sink.format == LOG_TEXT ? cut_text : cut_json);
    put_text(&l, sink.format == LOG_TEXT ? "\n" : "}\n");
    while (write(sink.fd, l.text, l.len) < 0 && errno == EINTR)
        ;
    errno = saved;
}
