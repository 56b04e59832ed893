#include "common/status.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char message[1024];

void status_record(const char *format, ...)
{
    if (message[0] != '\0')
        return;
    int saved = errno;
    va_list args;
    va_start(args, format);
    errno = saved;
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (char *c = message; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    errno = saved;
}

const char *status_message(void)
{
    return message;
}

void status_clear(void)
{
    message[0] = '\0';
}

int status_exit_code(enum status st)
{
    switch (st) {
    case ST_OK:
        return 0;
    case ST_INVALID:
        return 1;
    case ST_USAGE:
        return 2;
    case ST_INPUT:
        return 3;
    case ST_RESOURCE:
    case ST_NO_DAEMON:
        return 4;
    case ST_INTERNAL:
    case ST_STALE:
        break;
    }
    return 5;
}

void check_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "pinion: %s:%d: broken invariant: %s\n", file, line, condition);
    abort();
}
