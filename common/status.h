/* How functions fail: a status, and the message of the first failure on this thread.
 *
 * The function that detects a failure records it with fail() and returns its status; callers
 * propagate the status and add nothing. Whoever handles the failure reads status_message() once.
 * Per thread; any thread may call. */
#ifndef PINION_STATUS_H
#define PINION_STATUS_H

enum status {
    ST_OK = 0,
    ST_INVALID,   /* a negative answer: the proof is invalid */
    ST_USAGE,     /* the command line is wrong */
    ST_INPUT,     /* a file or a value from outside is wrong, an unsatisfied witness included */
    ST_RESOURCE,  /* no memory, no disk, no permission */
    ST_NO_DAEMON, /* nobody answers */
    ST_INTERNAL,  /* a broken promise of our own */
    ST_STALE,     /* what a handle named is gone; its holder drops what it was about to do */
};

#define MUST_CHECK __attribute__((warn_unused_result))

/* enum status fail(enum status st, const char *format, ...): records the message and returns st. A
 * macro, so that compilers see that a failure is returned. */
#define fail(st, ...) (status_record(__VA_ARGS__), (st))

/* Records the message (printf-style; %m is errno's text) unless this thread already holds one. What
 * a file or a user put into it cannot break the line or steer a terminal: see status_clean. Of a
 * very long one the middle is left out. Leaves errno alone. */
void status_record(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replaces the control characters of a text, those of UTF-8 too, by '?'. */
void status_clean(char *text);

/* The recorded message, "" if none. Valid until the next fail or status_clear on this thread. */
const char *status_message(void);

/* Forgets the recorded message. Who handles a failure and goes on calls this. */
void status_clear(void);

/* The exit code that the command line promises for st: 0 done, 1 negative answer, 2 usage, 3 bad
 * input, 4 no resources or no daemon, 5 internal. */
int status_exit_code(enum status st);

/* Aborts with file and line: for broken invariants only, never for input. */
#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))
void check_failed(const char *condition, const char *file, int line) __attribute__((noreturn));

#endif
