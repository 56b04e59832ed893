#include "common/status.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char message[1024];

/* U+0080 to U+009F in UTF-8: terminals obey some of them as they do ESC and a letter. */
static bool is_c1(const unsigned char *c)
{
    return c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;
}

void status_clean(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (is_c1(c))
            *c++ = '?';
        else if (!iscntrl(*c))
            continue;
        *c = '?';
    }
}

/* Copies text to message. Of one that does not fit the middle is left out: the reason comes last,
 * and what is long is a path. */
static void keep(const char *text)
{
    static const char gap[] = "...";
    size_t length = strlen(text), size = sizeof message, head = size / 2;
    if (length < size) {
        memcpy(message, text, length + 1);
        return;
    }
    size_t tail = size - head - sizeof gap;
    memcpy(message, text, head);
    memcpy(message + head, gap, sizeof gap - 1);
    memcpy(message + size - 1 - tail, text + length - tail, tail + 1);
}

void status_record(const char *format, ...)
{
    if (message[0] != '\0')
        return;
    int saved = errno;
    char text[(size_t)2 * PATH_MAX + sizeof message]; /* two paths and what is said of them */
    va_list args;
    va_start(args, format);
    errno = saved;
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    status_clean(text);
    keep(text);
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
