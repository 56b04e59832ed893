/* What can be mapped and what is refused; a map outlives its file; the SIGBUS guard. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file/map.h"
#include "tests/unit/scratch.h"

static void assert_refused(const char *path, const char *reason)
{
    struct file_map map = {.path = "untouched"};
    status_clear();
    assert_int_equal(file_map(&map, path), ST_INPUT);
    assert_int_equal(strncmp(status_message(), path, strlen(path)), 0);
    assert_non_null(strstr(status_message(), reason));
    assert_string_equal(map.path, "untouched");
}

static void refuses(void **state)
{
    const char *empty = scratch_path(state, "empty"), *fifo = scratch_path(state, "fifo");
    scratch_write(empty, "", 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_refused(scratch_path(state, "missing"), "No such file");
    assert_refused(*state, "directory");
    assert_refused(empty, "empty");
    assert_refused(fifo, "not a regular file");
    assert_refused("/dev/null", "not a regular file");
}

static void maps_content(void **state)
{
    const char *path = scratch_path(state, "file");
    struct file_map map;
    scratch_write(path, "content", 7);
    assert_int_equal(file_map(&map, path), ST_OK);
    assert_int_equal(map.size, 7);
    assert_memory_equal(map.data, "content", 7);
    file_map_prefetch(map.data + 3, map.size - 3);
    file_unmap(&map);
    assert_null(map.data);
    file_unmap(&map);
}

static void outlives_replacement(void **state)
{
    const char *path = scratch_path(state, "file"), *other = scratch_path(state, "other");
    struct file_map map;
    scratch_write(path, "old", 3);
    assert_int_equal(file_map(&map, path), ST_OK);
    scratch_write(other, "new", 3);
    assert_int_equal(rename(other, path), 0);
    assert_memory_equal(map.data, "old", 3);
    assert_int_equal(unlink(path), 0);
    assert_memory_equal(map.data, "old", 3);
    file_unmap(&map);
}

/* Runs act in a child with the guard installed and its standard error in a pipe; returns the wait
 * status and what it said. */
static int in_child(void (*act)(const char *path), const char *path, char said[1024])
{
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        file_map_guard();
        act(path);
        _exit(0);
    }
    close(fds[1]);
    ssize_t n, total = 0;
    while ((n = read(fds[0], said + total, 1023 - (size_t)total)) > 0)
        total += n;
    said[total] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static pthread_barrier_t all_ready;

static void *read_last(void *arg)
{
    const struct file_map *map = arg;
    pthread_barrier_wait(&all_ready);
    _exit(map->data[map->size - 1] == 'x' ? 92 : 93);
}

/* In several threads at once: one of them speaks. */
static void read_truncated(const char *path)
{
    enum { THREADS = 8 };
    struct file_map other, map;
    pthread_t id;
    if (file_map(&other, "/proc/self/exe") != ST_OK || file_map(&map, path) != ST_OK)
        _exit(90);
    if (truncate(path, 0) != 0 || pthread_barrier_init(&all_ready, NULL, THREADS) != 0)
        _exit(91);
    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&id, NULL, read_last, &map) != 0)
            _exit(94);
    read_last(&map);
}

static void truncation_is_reported(void **state)
{
    const char *path = scratch_path(state, "a\nfile");
    char *content = malloc(100000), said[1024], expected[1024];
    assert_non_null(content);
    memset(content, 'x', 100000);
    snprintf(expected, sizeof expected,
             "pinion: %s: the file became shorter, or could not be read, while it was in use\n",
             scratch_path(state, "a?file"));
    for (unsigned round = 0; round < 20; round++) {
        scratch_write(path, content, 100000);
        int status = in_child(read_truncated, path, said);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 3);
        assert_string_equal(said, expected);
    }
    free(content);
}

/* A fault in what was a map and is none any more. */
static void raise_elsewhere(const char *path)
{
    struct file_map map;
    if (file_map(&map, path) != ST_OK)
        _exit(90);
    file_unmap(&map);
    raise(SIGBUS);
}

static void other_faults_keep_their_action(void **state)
{
    const char *path = scratch_path(state, "file");
    char said[1024];
    scratch_write(path, "content", 7);
    int status = in_child(raise_elsewhere, path, said);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
    assert_string_equal(said, "");
}

#define scratch_test(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(refuses),
        scratch_test(maps_content),
        scratch_test(outlives_replacement),
        scratch_test(truncation_is_reported),
        scratch_test(other_faults_keep_their_action),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
