/* Outputs appear complete or not at all, alone and in pairs. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file/output.h"
#include "tests/unit/scratch.h"

static void assert_fails(enum status st, enum status expected, const char *path)
{
    assert_int_equal(st, expected);
    assert_non_null(strstr(status_message(), path));
    status_clear();
}

static void writes_new_and_replaces(void **state)
{
    const char *path = scratch_path(state, "file");
    struct stat st;
    mode_t mask = umask(027);
    assert_int_equal(output_write(path, "one"), ST_OK);
    umask(mask);
    assert_true(scratch_holds(path, "one"));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(output_write(path, "two"), ST_OK);
    assert_true(scratch_holds(path, "two"));
    assert_int_equal(scratch_count(state), 1);
}

static void relative_paths(void **state)
{
    int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_true(before >= 0);
    assert_int_equal(chdir(*state), 0);
    assert_int_equal(output_write("file", "text"), ST_OK);
    assert_int_equal(output_write("./other", "text"), ST_OK);
    assert_int_equal(fchdir(before), 0);
    close(before);
    assert_true(scratch_holds(scratch_path(state, "file"), "text"));
    assert_true(scratch_holds(scratch_path(state, "other"), "text"));
}

static void invisible_until_committed(void **state)
{
    const char *path = scratch_path(state, "file");
    struct output *o;
    scratch_write(path, "old", 3);
    assert_int_equal(output_open(&o, path), ST_OK);
    fputs("new", output_stream(o));
    fflush(output_stream(o));
    assert_true(scratch_holds(path, "old"));
    assert_int_equal(scratch_count(state), 2);
    output_abandon(o);
    assert_true(scratch_holds(path, "old"));
    assert_int_equal(scratch_count(state), 1);
    output_abandon(NULL);
}

static void refuses_bad_paths(void **state)
{
    const char *dangling = scratch_path(state, "dangling");
    const char *nowhere = scratch_path(state, "nowhere/file");
    assert_int_equal(symlink("nothing", dangling), 0);
    assert_fails(output_write(nowhere, "text"), ST_RESOURCE, nowhere);
    assert_fails(output_write(*state, "text"), ST_RESOURCE, *state);
    assert_fails(output_write(dangling, "text"), ST_RESOURCE, dangling);
    assert_fails(output_write("", "text"), ST_RESOURCE, "");
    char slash[4200];
    snprintf(slash, sizeof slash, "%s/new/", (const char *)*state);
    assert_fails(output_write(slash, "text"), ST_RESOURCE, slash);
    snprintf(slash, sizeof slash, "%s/%0300d", (const char *)*state, 7);
    assert_fails(output_write(slash, "text"), ST_RESOURCE, slash);
    assert_int_equal(scratch_count(state), 1);
}

static void follows_links(void **state)
{
    const char *file = scratch_path(state, "file"), *link = scratch_path(state, "link");
    struct stat st;
    scratch_write(file, "old", 3);
    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(output_write(link, "new"), ST_OK);
    assert_true(scratch_holds(file, "new"));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void full_disk(void **state)
{
    const char *path = scratch_path(state, "file");
    assert_fails(output_write("/dev/full", "text"), ST_RESOURCE, "/dev/full");
    assert_fails(output_write_pair(path, "a", "/dev/full", "b"), ST_RESOURCE, "/dev/full");
    assert_fails(output_write_pair("/dev/full", "a", path, "b"), ST_RESOURCE, "/dev/full");
    assert_int_equal(scratch_count(state), 0);
}

static void writes_pipes_directly(void **state)
{
    (void)state;
    int fds[2];
    char name[32], text[16] = "";
    assert_int_equal(pipe(fds), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fds[1]);
    assert_int_equal(output_write_pair(name, "one", name, "two"), ST_OK);
    assert_int_equal(read(fds[0], text, sizeof text), 6);
    assert_string_equal(text, "onetwo");
    snprintf(name, sizeof name, "/proc/self/fd/%d", fds[1]);
    assert_int_equal(output_write_pair(name, "3", "/dev/null", "4"), ST_OK);
    assert_int_equal(read(fds[0], text, sizeof text), 1);
    assert_int_equal(text[0], '3');
    close(fds[0]);
    close(fds[1]);
}

/* Standard output that is a file: its position moves on, it is not replaced. */
static void appends_to_standard_output(void **state)
{
    const char *path = scratch_path(state, "file");
    char name[32];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a", 1), 1);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(output_write(name, "b"), ST_OK);
    assert_int_equal(write(fd, "c", 1), 1);
    close(fd);
    assert_true(scratch_holds(path, "abc"));
}

static void pair_writes_both(void **state)
{
    const char *a = scratch_path(state, "a"), *b = scratch_path(state, "b");
    for (unsigned existing = 0; existing < 4; existing++) {
        unlink(a);
        unlink(b);
        if (existing & 1)
            scratch_write(a, "old a", 5);
        if (existing & 2)
            scratch_write(b, "old b", 5);
        assert_int_equal(output_write_pair(a, "new a", b, "new b"), ST_OK);
        assert_true(scratch_holds(a, "new a"));
        assert_true(scratch_holds(b, "new b"));
        assert_int_equal(scratch_count(state), 2);
    }
}

static void pair_needs_two_names(void **state)
{
    const char *a = scratch_path(state, "a"), *link = scratch_path(state, "link");
    assert_fails(output_write_pair(a, "1", a, "2"), ST_INPUT, "same file");
    assert_int_equal(scratch_count(state), 0);
    scratch_write(a, "old", 3);
    assert_int_equal(symlink(a, link), 0);
    assert_fails(output_write_pair(a, "1", link, "2"), ST_INPUT, "same file");
    assert_true(scratch_holds(a, "old"));
    assert_int_equal(scratch_count(state), 2);
}

/* The second name cannot be opened, or becomes a directory before the renames. */
static void pair_is_all_or_nothing(void **state)
{
    const char *a = scratch_path(state, "a"), *b = scratch_path(state, "b");
    for (unsigned existing = 0; existing < 2; existing++) {
        size_t files = existing ? 2 : 1;
        if (existing)
            scratch_write(a, "old", 3);
        assert_int_equal(mkdir(b, 0700), 0);
        assert_fails(output_write_pair(a, "new", b, "new"), ST_RESOURCE, b);
        assert_int_equal(scratch_count(state), files);
        assert_int_equal(rmdir(b), 0);

        struct output *out_a, *out_b;
        assert_int_equal(output_open(&out_a, a), ST_OK);
        assert_int_equal(output_open(&out_b, b), ST_OK);
        assert_int_equal(mkdir(b, 0700), 0);
        assert_fails(output_commit_pair(out_a, out_b), ST_RESOURCE, b);
        assert_int_equal(scratch_count(state), files);
        assert_int_equal(scratch_holds(a, "old"), existing);
        assert_int_equal(rmdir(b), 0);
    }
}

static void many_at_once(void **state)
{
    struct output *open_ones[OUTPUT_MAX_OPEN], *one_more;
    char names[OUTPUT_MAX_OPEN][4200];
    for (size_t i = 0; i < OUTPUT_MAX_OPEN; i++) {
        snprintf(names[i], sizeof names[i], "%s/%zu", (const char *)*state, i);
        assert_int_equal(output_open(&open_ones[i], names[i]), ST_OK);
    }
    const char *path = scratch_path(state, "more");
    assert_fails(output_open(&one_more, path), ST_RESOURCE, path);
    for (size_t i = 0; i < OUTPUT_MAX_OPEN; i++)
        assert_int_equal(output_commit(open_ones[i]), ST_OK);
    assert_int_equal(output_write(path, "text"), ST_OK);
    assert_int_equal(scratch_count(state), OUTPUT_MAX_OPEN + 1);
}

static int killed_while_open(const char *path, int signal_number)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct output *o;
        output_guard();
        if (output_open(&o, path) == ST_OK) {
            fputs("text", output_stream(o));
            fflush(output_stream(o));
            raise(signal_number);
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void signals_leave_nothing(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
    const char *path = scratch_path(state, "file");
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        int status = killed_while_open(path, signals[i]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_equal(scratch_count(state), 0);
    }
    /* as under nohup */
    signal(SIGHUP, SIG_IGN);
    int status = killed_while_open(path, SIGHUP);
    signal(SIGHUP, SIG_DFL);
    assert_true(WIFEXITED(status));
}

/* A limit of the size of files ends a write, not the process. */
static void file_size_limit(void **state)
{
    const char *path = scratch_path(state, "file");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct rlimit limit = {2, 2};
        output_guard();
        bool refused =
            setrlimit(RLIMIT_FSIZE, &limit) == 0 && output_write(path, "text") == ST_RESOURCE;
        _exit(refused ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(scratch_count(state), 0);
}

/* The rename to be interrupted: 1 for the next, 0 for none. */
static unsigned interrupted;

/* In place of the C library's. */
int rename(const char *old, const char *new)
{
    if (interrupted > 0 && --interrupted == 0)
        raise(SIGTERM);
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

/* Writes a pair and dies of a signal in the rename of its second file. */
static void write_interrupted(const char *a, const char *b, bool existing)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        output_guard();
        interrupted = existing ? 1 : 2; /* an old first file is exchanged, not renamed over */
        _exit(output_write_pair(a, "new", b, "new") == ST_OK ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void signals_do_not_split_pairs(void **state)
{
    const char *a = scratch_path(state, "a"), *b = scratch_path(state, "b");
    for (unsigned existing = 0; existing < 2; existing++) {
        write_interrupted(a, b, existing);
        assert_true(scratch_holds(a, "new"));
        assert_true(scratch_holds(b, "new"));
        assert_int_equal(scratch_count(state), 2);
        scratch_write(a, "old", 3);
        scratch_write(b, "old", 3);
    }
}

#define scratch_test(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(writes_new_and_replaces),
        scratch_test(relative_paths),
        scratch_test(invisible_until_committed),
        scratch_test(refuses_bad_paths),
        scratch_test(follows_links),
        scratch_test(full_disk),
        scratch_test(writes_pipes_directly),
        scratch_test(appends_to_standard_output),
        scratch_test(pair_writes_both),
        scratch_test(pair_needs_two_names),
        scratch_test(pair_is_all_or_nothing),
        scratch_test(many_at_once),
        scratch_test(signals_leave_nothing),
        scratch_test(file_size_limit),
        scratch_test(signals_do_not_split_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
