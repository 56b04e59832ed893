#include "shm/job.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

static const char *const state_names[JOB_STATES] = {
    [JOB_WAITING] = "waiting", [JOB_RUNNING] = "running",     [JOB_DONE] = "done",
    [JOB_FAILED] = "failed",   [JOB_CANCELLED] = "cancelled", [JOB_HELD] = "held",
};

static const char *const priority_names[JOB_PRIORITIES] = {
    [PRIORITY_LOW] = "low",
    [PRIORITY_NORMAL] = "normal",
    [PRIORITY_HIGH] = "high",
    [PRIORITY_CRITICAL] = "critical",
};

bool job_id_valid(const char *id)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (id == NULL || id[0] == '\0' || id[0] == '.')
        return false;
    size_t len = strnlen(id, JOB_ID_MAX + 1);
    return len <= JOB_ID_MAX && strspn(id, allowed) == len;
}

enum status job_id_check(const char *id)
{
    if (job_id_valid(id))
        return ST_OK;
    return fail(ST_INPUT,
                "job id: must be 1 to %d characters of A-Z a-z 0-9 . _ - and not begin with a dot",
                JOB_ID_MAX);
}

enum status job_id_generate(char out[JOB_ID_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t random[16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return fail(ST_RESOURCE, "job id: the kernel gives no random bytes: %m");
    for (size_t i = 0; i < sizeof random; i++) {
        out[2 * i] = digits[random[i] >> 4];
        out[2 * i + 1] = digits[random[i] & 15];
    }
    out[2 * sizeof random] = '\0';
    return ST_OK;
}

bool job_state_ended(enum job_state state)
{
    return state == JOB_DONE || state == JOB_FAILED || state == JOB_CANCELLED;
}

const char *job_state_name(enum job_state state)
{
    CHECK((unsigned)state < JOB_STATES);
    return state_names[state];
}

const char *job_priority_name(enum job_priority priority)
{
    CHECK((unsigned)priority < JOB_PRIORITIES);
    return priority_names[priority];
}

/* The index of text among count names, count when it is none. */
static int find_name(const char *const *names, int count, const char *text)
{
    int i = 0;
    while (i < count && strcmp(names[i], text) != 0)
        i++;
    return i;
}

enum status job_state_parse(enum job_state *out, const char *text)
{
    int i = find_name(state_names, JOB_STATES, text);
    if (i == JOB_STATES)
        return fail(
            ST_INPUT,
            "job state \"%.32s\": is none of waiting, running, done, failed, cancelled, held",
            text);
    *out = (enum job_state)i;
    return ST_OK;
}

enum status job_priority_parse(enum job_priority *out, const char *text)
{
    int i = find_name(priority_names, JOB_PRIORITIES, text);
    if (i == JOB_PRIORITIES)
        return fail(ST_INPUT, "priority \"%.32s\": is none of low, normal, high, critical", text);
    *out = (enum job_priority)i;
    return ST_OK;
}
