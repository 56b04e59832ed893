#include "tools/pinion/top_frame.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

enum { LINE_MAX_BYTES = 1024, LABEL = 8, MAP_COLUMNS = 64 };

struct frame {
    FILE *out;
    const json_t *status;
    const struct top_style *style;
    const char *end;
    unsigned rows; /* written */
};

/* ---- reading ---- */

static const json_t *member(const struct frame *f, const char *group, const char *name)
{
    const json_t *o = group ? json_object_get(f->status, group) : f->status;
    return json_object_get(o, name);
}

static long long number(const struct frame *f, const char *group, const char *name)
{
    return (long long)json_integer_value(member(f, group, name));
}

static const char *text(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));
    return s ? s : "?";
}

/* "12.5 GiB" */
static const char *bytes_text(char out[16], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, 16, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return out;
}

/* ---- writing ---- */

static bool has_room(const struct frame *f)
{
    return f->style->rows == 0 || f->rows < f->style->rows;
}

/* A line of plain ASCII, cut at the edge. */
static void put_line(struct frame *f, const char *label, const char *line)
{
    if (!has_room(f))
        return;
    fprintf(f->out, "%-*s%.*s%s", LABEL, label, (int)f->style->columns - LABEL, line, f->end);
    f->rows++;
}

/* Adds to a line of LINE_MAX_BYTES; what does not fit is left out. */
static void add(char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *line, const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, LINE_MAX_BYTES - used, format, args);
    va_end(args);
}

static void put_head(struct frame *f)
{
    char line[LINE_MAX_BYTES] = "";
    long long s = number(f, NULL, "uptime_ms") / 1000;
    add(line, "%s   version %s   up %lld:%02lld:%02lld%s", f->style->where,
        text(f->status, "version"), s / 3600, s / 60 % 60, s % 60,
        json_is_true(member(f, NULL, "drained"))    ? "   DRAINED"
        : json_is_true(member(f, NULL, "draining")) ? "   DRAINING"
                                                    : "");
    put_line(f, "pinion", line);
}

/* A letter with the colour of its state. */
static void put_cell(const struct frame *f, char state)
{
    static const char states[] = "WSCPLQ";
    static const int colours[] = {33, 36, 35, 32, 34, 31};
    const char *at = state ? strchr(states, state) : NULL;
    if (f->style->colour && at)
        fprintf(f->out, "\033[%dm%c\033[0m", colours[at - states], state);
    else
        fputc(state, f->out);
}

static void put_map(struct frame *f)
{
    const char *map = text(f->status, "map");
    if (!has_room(f))
        return;
    fprintf(f->out, "%-*s", LABEL, "");
    for (unsigned i = 0; map[i] && LABEL + i < f->style->columns && i < MAP_COLUMNS; i++)
        put_cell(f, map[i]);
    fputs(f->end, f->out);
    f->rows++;
}

static void put_arena(struct frame *f)
{
    char line[LINE_MAX_BYTES] = "", a[16], b[16], c[16];
    double all = (double)number(f, "arena", "bytes"), used = (double)number(f, "arena", "granted");
    add(line, "%s %s   %s granted (%.0f %%)   %s quarantined   %lld of %lld slots",
        bytes_text(a, all), text(member(f, NULL, "arena"), "kind"), bytes_text(b, used),
        all > 0 ? 100 * used / all : 0, bytes_text(c, (double)number(f, "arena", "quarantined")),
        number(f, "arena", "slots_used"), number(f, "arena", "slots"));
    put_line(f, "arena", line);
    put_map(f);
    put_line(f, "", "Writing  Submitted  Copying  Proving  Lean  Quarantine  . free");
}

static void put_jobs(struct frame *f)
{
    char line[LINE_MAX_BYTES] = "";
    static const char *const states[] = {"waiting", "running", "done", "failed", "held"};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        add(line, "%lld %s   ", number(f, "jobs", states[i]), states[i]);
    if (f->style->per_second >= 0)
        add(line, "%.2f proofs/s", f->style->per_second);
    put_line(f, "jobs", line);
}

static void put_processes(struct frame *f)
{
    char line[LINE_MAX_BYTES] = "";
    const json_t *synths = member(f, NULL, "synths");
    add(line, "%zu:", json_array_size(synths));
    for (size_t i = 0; i < json_array_size(synths); i++) {
        const json_t *s = json_array_get(synths, i);
        add(line, " %lld%s", (long long)json_integer_value(json_object_get(s, "pid")),
            json_is_true(json_object_get(s, "dying")) ? " (dying)" : "");
    }
    add(line, "   %lld deaths, %lld slices synthesized again", number(f, NULL, "restarts"),
        number(f, NULL, "resynthesized"));
    put_line(f, "synths", line);
}

static void put_devices(struct frame *f)
{
    const json_t *devices = member(f, NULL, "devices");
    char line[LINE_MAX_BYTES] = "";
    if (!json_is_object(member(f, NULL, "gpud")))
        put_line(f, "daemon", "none: nothing is proved");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *d = json_array_get(devices, i);
        line[0] = '\0';
        add(line, "%-32s %3.0f %% busy   copies %.1f GB/s", text(d, "name"),
            100 * json_number_value(json_object_get(d, "busy")),
            json_number_value(json_object_get(d, "copy_gbps")));
        put_line(f, i == 0 ? "daemon" : "", line);
    }
}

static void put_keys(struct frame *f)
{
    char line[LINE_MAX_BYTES] = "", size[16];
    const json_t *keys = member(f, NULL, "keys");
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const json_t *k = json_array_get(keys, i);
        double bytes = json_number_value(json_object_get(k, "bytes"));
        if (strcmp(text(k, "resident"), "no") != 0)
            add(line, "%s %s %s   ", text(k, "circuit"), text(k, "resident"),
                bytes_text(size, bytes));
    }
    put_line(f, "keys", line[0] ? line : "none loaded");
}

static void put_stages(struct frame *f)
{
    const char *name;
    json_t *ms, *means = json_object_get(f->status, "stages");
    char line[LINE_MAX_BYTES] = "";
    const char *label = "mean ms";
    json_object_foreach(means, name, ms)
    {
        char one[64];
        snprintf(one, sizeof one, "%s %.4g   ", name, json_real_value(ms));
        if (line[0] && LABEL + strlen(line) + strlen(one) > f->style->columns) {
            put_line(f, label, line);
            label = "";
            line[0] = '\0';
        }
        add(line, "%s", one);
    }
    if (line[0])
        put_line(f, label, line);
}

/* The newest first, as many as there is room for. */
static void put_events(struct frame *f)
{
    const json_t *events = member(f, NULL, "events");
    for (size_t i = json_array_size(events); i-- > 0;) {
        const json_t *e = json_array_get(events, i);
        const char *job = json_string_value(json_object_get(e, "job"));
        time_t at = (time_t)(json_integer_value(json_object_get(e, "at")) / 1000);
        struct tm local;
        char when[16], line[LINE_MAX_BYTES] = "";
        localtime_r(&at, &local);
        strftime(when, sizeof when, "%H:%M:%S", &local);
        add(line, "%s  %-18s %s", when, text(e, "event"), job ? job : "");
        put_line(f, i + 1 == json_array_size(events) ? "events" : "", line);
    }
}

void top_frame(FILE *out, const json_t *status, const struct top_style *style, const char *end)
{
    struct frame f = {.out = out, .status = status, .style = style, .end = end};
    put_head(&f);
    put_arena(&f);
    put_jobs(&f);
    put_processes(&f);
    put_devices(&f);
    put_keys(&f);
    put_stages(&f);
    put_events(&f);
}
