/* The progress line on a pseudo-terminal: silent at first, then stage and time, gone at the end. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/pinion/progress_line.h"

enum { PATIENCE_MS = 20000 };

/* Standard error is a terminal while a test runs; what the program writes arrives at master. */
static int master = -1, saved_stderr = -1;

static int open_terminal(void **state)
{
    (void)state;
    setenv("TERM", "xterm", 1);
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return -1;
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    saved_stderr = dup(STDERR_FILENO);
    if (slave < 0 || saved_stderr < 0 || dup2(slave, STDERR_FILENO) < 0)
        return -1;
    close(slave);
    return 0;
}

static int close_terminal(void **state)
{
    (void)state;
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    close(master);
    return 0;
}

/* Appends what arrives within ms to text; whether anything did. */
static bool listen(char *text, size_t size, int ms)
{
    struct pollfd p = {.fd = master, .events = POLLIN};
    size_t used = strlen(text);
    if (poll(&p, 1, ms) != 1)
        return false;
    ssize_t n = read(master, text + used, size - used - 1);
    assert_true(n > 0);
    text[used + (size_t)n] = '\0';
    return true;
}

static void appears_and_goes(void **state)
{
    (void)state;
    struct progress_line line;
    char text[4096] = "";
    progress_line_init(&line, true);
    assert_true(line.enabled);
    progress_report(&line.progress, "a stage", 1, 4);
    while (!strstr(text, "a stage 25 %"))
        assert_true(listen(text, sizeof text, PATIENCE_MS));
    assert_non_null(strstr(text, "[1."));
    assert_null(strstr(text, "[0."));
    progress_report(&line.progress, "another", 0, 0);
    while (!strstr(text, "another"))
        assert_true(listen(text, sizeof text, PATIENCE_MS));
    assert_null(strchr(text, '\n'));
    progress_line_fini(&line);
    listen(text, sizeof text, PATIENCE_MS);
    assert_string_equal(text + strlen(text) - 4, "\r\033[K");
    progress_line_fini(&line);
}

static void short_work_is_silent(void **state)
{
    (void)state;
    struct progress_line line;
    char text[256] = "";
    progress_line_init(&line, true);
    assert_true(line.enabled);
    progress_report(&line.progress, "a stage", 0, 0);
    progress_line_fini(&line);
    assert_false(listen(text, sizeof text, 0));
}

static void silent_when_unwanted_or_no_terminal(void **state)
{
    (void)state;
    struct progress_line line;
    progress_line_init(&line, false);
    assert_false(line.enabled);
    progress_report(&line.progress, "a stage", 0, 0);
    progress_line_fini(&line);

    setenv("TERM", "dumb", 1);
    progress_line_init(&line, true);
    assert_false(line.enabled);
    setenv("TERM", "xterm", 1);

    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), terminal = dup(STDERR_FILENO);
    assert_true(null >= 0 && terminal >= 0);
    dup2(null, STDERR_FILENO);
    progress_line_init(&line, true);
    dup2(terminal, STDERR_FILENO);
    assert_false(line.enabled);
    close(null);
    close(terminal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(appears_and_goes, open_terminal, close_terminal),
        cmocka_unit_test_setup_teardown(short_work_is_silent, open_terminal, close_terminal),
        cmocka_unit_test_setup_teardown(silent_when_unwanted_or_no_terminal, open_terminal,
                                        close_terminal),
    };
    if (access("/dev/ptmx", R_OK | W_OK) != 0) {
        puts("skipped: no pseudo-terminals here (/dev/ptmx)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
