/* The log: one line an event, text or JSON, to one descriptor.
 *
 *   2026-03-01T12:00:00.123Z info coord job=7f3a "slice granted" slot=3 generation=2
 *   {"time":"2026-03-01T12:00:00.123Z","level":"info","component":"coord","job":"7f3a","event":"slice
 * granted","slot":3,"generation":2}
 *
 * Whoever handles an error logs it, once. Events are static lower-case text; what varies goes into
 * pairs. Never witness data, inputs or seeds. Any thread: a line is at most LOG_LINE_MAX bytes and
 * one write(), so lines of threads and processes do not mix. No lock, no allocation, usable after
 * fork; not from a signal handler. A line that cannot be written is dropped. errno is preserved. */
#ifndef PINION_LOG_H
#define PINION_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_LINE_MAX = 2048
}; /* the newline included; pairs that do not fit are left out, and said */

enum log_level { LEVEL_ERROR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Before other threads start; without it: text, info, "pinion", descriptor 2. component is borrowed
 * for the life of the process: a static lower-case name. */
void log_init(const char *component, enum log_format format, enum log_level level, int fd);
/* Any time, any thread. */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);

struct log_pair {
    const char *key; /* static: [a-z0-9_]+ */
    enum { LOG_U64, LOG_I64, LOG_REAL, LOG_BOOL, LOG_STRING } kind;
    union {
        uint64_t u64;
        int64_t i64;
        double real;
        bool flag;
        const char *string; /* borrowed for the call; any bytes; NULL prints as "" */
    };
};

static inline struct log_pair log_u64(const char *key, uint64_t value)
{
    return (struct log_pair){.key = key, .kind = LOG_U64, .u64 = value};
}
static inline struct log_pair log_i64(const char *key, int64_t value)
{
    return (struct log_pair){.key = key, .kind = LOG_I64, .i64 = value};
}
/* Three decimals. */
static inline struct log_pair log_real(const char *key, double value)
{
    return (struct log_pair){.key = key, .kind = LOG_REAL, .real = value};
}
static inline struct log_pair log_bool(const char *key, bool value)
{
    return (struct log_pair){.key = key, .kind = LOG_BOOL, .flag = value};
}
static inline struct log_pair log_string(const char *key, const char *value)
{
    return (struct log_pair){.key = key, .kind = LOG_STRING, .string = value};
}

/* log_event(LEVEL_INFO, id, "slice granted", log_u64("slot", 3), ...): job is NULL for none. */
#define log_event(level, job, ...) LOG_EVENT_(level, job, __VA_ARGS__, (struct log_pair){0})
#define LOG_EVENT_(level, job, event, ...)                                                         \
    log_write(level, job, event, (const struct log_pair[]){__VA_ARGS__},                           \
              sizeof((const struct log_pair[]){__VA_ARGS__}) / sizeof(struct log_pair) - 1)

void log_write(enum log_level level, const char *job, const char *event,
               const struct log_pair *pairs, size_t count);

#endif
