/* The vocabulary of jobs: ids, states, priorities. Pure values; any thread. */
#ifndef PINION_SHM_JOB_H
#define PINION_SHM_JOB_H

#include <stdbool.h>

#include "common/status.h"

enum { JOB_ID_MAX = 64 }; /* characters, without the terminator */

enum job_state {
    JOB_WAITING,
    JOB_RUNNING,
    JOB_DONE,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_HELD, /* keeps killing its processes: waits for an operator's retry */
};
enum { JOB_STATES = JOB_HELD + 1 };

enum job_priority {
    PRIORITY_LOW,
    PRIORITY_NORMAL,
    PRIORITY_HIGH,
    PRIORITY_CRITICAL,
};
enum { JOB_PRIORITIES = PRIORITY_CRITICAL + 1 };

/* Job ids and circuit names: 1 to JOB_ID_MAX characters of [A-Za-z0-9._-], the first not a dot.
 * What passes is safe as a file name, on a command line and in a log. NULL does not pass. */
bool job_id_valid(const char *id);

/* job_id_valid or ST_INPUT: "job id: ...". */
enum status job_id_check(const char *id) MUST_CHECK;

/* 128 random bits as 32 lower-case hex digits. ST_RESOURCE when the kernel has no randomness. */
enum status job_id_generate(char out[JOB_ID_MAX + 1]) MUST_CHECK;

/* Ended states never change again: done, failed, cancelled. */
bool job_state_ended(enum job_state state);

/* "waiting", "running", ... and "low", "normal", ...: static text. */
const char *job_state_name(enum job_state state);
const char *job_priority_name(enum job_priority priority);

/* The inverse; ST_INPUT names the text and what is allowed. */
enum status job_state_parse(enum job_state *out, const char *text) MUST_CHECK;
enum status job_priority_parse(enum job_priority *out, const char *text) MUST_CHECK;

#endif
