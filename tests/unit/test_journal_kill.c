/* A process that submits, finishes and reports jobs is killed at random moments, again and again on
 * one journal: whatever it reported after a commit is there afterwards, in the state it reported.
 */
#include "tests/unit/test.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/journal.h"
#include "tests/unit/random.h"
#include "tests/unit/scratch.h"

enum { KILLS = 40, REPORTS_MAX = 100000, BATCH = 4 };

struct report {
    uint64_t number;
    enum job_state state;
    char id[JOB_ID_MAX + 1];
};

/* What the callbacks of one batch will report. */
struct promise {
    struct report report;
    int pipe;
};

static void keep(void *arg, enum status st)
{
    struct promise *p = arg;
    if (st != ST_OK || write(p->pipe, &p->report, sizeof p->report) != sizeof p->report)
        _exit(1);
}

/* Child: batches of new jobs, some of which end at once. Never returns. */
static void submit_for_ever(const char *path, int pipe)
{
    struct journal *j;
    if (journal_open(&j, NULL, path) != ST_OK)
        _exit(2);
    for (;;) {
        struct promise promises[BATCH];
        for (int i = 0; i < BATCH; i++) {
            struct job job;
            bool fresh;
            const struct job_request r = {.circuit = "c", .uid = 1};
            const struct job_result result = {.proof = "{\"pi_a\":[]}", .publics = "[]"};
            if (journal_submit(j, &job, &fresh, &r, 1) != ST_OK)
                _exit(3);
            promises[i] = (struct promise){.pipe = pipe};
            promises[i].report.number = job.number;
            promises[i].report.state = i % 2 ? JOB_DONE : JOB_WAITING;
            memcpy(promises[i].report.id, job.id, sizeof job.id);
            if (i % 2 && journal_finish(j, job.number, JOB_DONE, &result, 2) != ST_OK)
                _exit(4);
            if (journal_after_commit(j, keep, &promises[i]) != ST_OK)
                _exit(5);
        }
        if (journal_commit(j) != ST_OK)
            _exit(6);
    }
}

/* Kills the child some time after its first report; appends what it reported. */
static size_t run_and_kill(const char *path, struct report *reports, size_t count, long delay_us)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        submit_for_ever(path, ends[1]);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &reports[count], sizeof *reports), sizeof *reports);
    count++;
    const struct timespec delay = {.tv_nsec = delay_us * 1000};
    nanosleep(&delay, NULL); /* chooses the moment of death; nothing waits for it */
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    while (count < REPORTS_MAX &&
           read(ends[0], &reports[count], sizeof *reports) == sizeof *reports)
        count++;
    close(ends[0]);
    return count;
}

static void check_reports(struct journal *j, const struct report *reports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct job job;
        assert_int_equal(journal_find(j, &job, reports[i].id), ST_OK);
        assert_int_equal(job.number, reports[i].number);
        assert_int_equal(job.state, reports[i].state);
        if (job.state == JOB_DONE) {
            struct job_result r;
            assert_int_equal(journal_result(j, &r, job.number), ST_OK);
            assert_string_equal(r.proof, "{\"pi_a\":[]}");
            job_result_fini(&r);
        }
    }
}

static void nothing_reported_is_lost(void **state)
{
    (void)state;
    uint64_t seed = (uint64_t)time(NULL);
    print_message("seed %llu\n", (unsigned long long)seed);
    static struct report reports[REPORTS_MAX];
    void *scratch = NULL;
    size_t count = 0;
    assert_int_equal(scratch_setup(&scratch), 0);
    const char *path = scratch_path(&scratch, "journal.db");
    for (int i = 0; i < KILLS; i++) {
        struct journal *j;
        count = run_and_kill(path, reports, count, (long)(random_u64(&seed) % 20000));
        assert_int_equal(journal_open(&j, NULL, path), ST_OK);
        check_reports(j, reports, count);
        journal_close(j);
    }
    print_message("%d kills, %zu reports, none lost\n", KILLS, count);
    scratch_teardown(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_reported_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
