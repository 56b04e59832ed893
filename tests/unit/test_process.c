/* A process is told from a later one with its pid, and a dead one from a living one. */
#include "tests/unit/shm_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "shm/process.h"

static void this_process(void **state)
{
    (void)state;
    uint64_t start, again;
    assert_done(process_start_time(&start, getpid()));
    assert_true(process_is_alive(getpid(), start));
    assert_false(process_is_alive(getpid(), start + 1)); /* the pid of an earlier one */
    assert_false(process_is_alive(0, start));
    assert_false(process_is_alive(-1, start));
    /* a name with spaces and parentheses moves no field */
    assert_int_equal(prctl(PR_SET_NAME, ") S 1 (2 3"), 0);
    assert_done(process_start_time(&again, getpid()));
    assert_int_equal(again, start);
}

static void dead_before_it_is_reaped(void **state)
{
    (void)state;
    uint64_t start;
    siginfo_t info;
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    assert_done(process_start_time(&start, child));
    assert_true(process_is_alive(child, start));
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_false(process_is_alive(child, start)); /* a zombie */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(process_is_alive(child, start));
    assert_refused(process_start_time(&start, child), ST_RESOURCE, "No such file");
}

static void *wait_in_thread(void *arg)
{
    if (write(*(int *)arg, "x", 1) != 1)
        return arg;
    for (;;)
        pause();
}

/* Its first thread has ended, another may still write to a slice. */
static void alive_without_its_leader(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    uint64_t start;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_in_thread, &ready[1]) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_done(process_start_time(&start, child));
    assert_true(process_is_alive(child, start));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(process_is_alive(child, start));
    close(ready[0]);
    close(ready[1]);
}

static void boot_and_clock(void **state)
{
    (void)state;
    uint8_t a[BOOT_ID_BYTES], b[BOOT_ID_BYTES], zero[BOOT_ID_BYTES] = {0};
    uint64_t x, y;
    assert_done(process_boot_id(a));
    assert_done(process_boot_id(b));
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, zero, sizeof a);
    x = process_monotonic_ns();
    assert_true(process_monotonic_ns() >= x);
    assert_done(process_random(&x));
    assert_done(process_random(&y));
    assert_true(x != 0 && y != 0 && x != y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process),
        cmocka_unit_test(dead_before_it_is_reaped),
        cmocka_unit_test(alive_without_its_leader),
        cmocka_unit_test(boot_and_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
