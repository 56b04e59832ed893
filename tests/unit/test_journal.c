/* What the journal promises: ids decide, transitions check, batches are whole, faults have names.
 */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/journal.h"
#include "tests/unit/scratch.h"

struct fixture {
    void *scratch;
    char path[PATH_MAX];
    struct journal *j;
};

static int set_up(void **state)
{
    static struct fixture f;
    assert_int_equal(scratch_setup(&f.scratch), 0);
    snprintf(f.path, sizeof f.path, "%s", scratch_path(&f.scratch, "journal.db"));
    assert_int_equal(journal_open(&f.j, NULL, f.path), ST_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    journal_close(f->j);
    scratch_teardown(&f->scratch);
    status_clear();
    return 0;
}

static void reopen(struct fixture *f)
{
    journal_close(f->j);
    f->j = NULL;
    assert_int_equal(journal_open(&f->j, NULL, f->path), ST_OK);
}

/* Expects a failure of st whose message holds part. */
static void expect(enum status got, enum status st, const char *part)
{
    assert_int_equal(got, st);
    if (strstr(status_message(), part) == NULL)
        print_error("message: %s\n", status_message());
    assert_non_null(strstr(status_message(), part));
    status_clear();
}

static struct job_request request(const char *id, uint8_t content)
{
    struct job_request r = {.id = id, .uid = 1000, .circuit = "chain", .spool_bytes = 96};
    r.priority = PRIORITY_HIGH;
    r.deadline = 77;
    memset(r.request, content, sizeof r.request);
    return r;
}

static struct job submit(struct journal *j, const char *id)
{
    struct job job;
    bool fresh;
    struct job_request r = request(id, 1);
    assert_int_equal(journal_submit(j, &job, &fresh, &r, 5), ST_OK);
    assert_true(fresh);
    return job;
}

static void commit(struct journal *j)
{
    assert_int_equal(journal_commit(j), ST_OK);
    assert_int_equal(journal_due(j), 0);
}

static struct job get(struct journal *j, const char *id)
{
    struct job job;
    assert_int_equal(journal_find(j, &job, id), ST_OK);
    return job;
}

/* --- submitting --- */

static void keeps_what_was_submitted(void **state)
{
    struct fixture *f = *state;
    char seed[JOURNAL_SEED_DIGITS + 1];
    struct job_request r = request("first", 9);
    struct job job;
    bool fresh;
    memset(seed, 'a', sizeof seed);
    seed[JOURNAL_SEED_DIGITS] = '\0';
    r.seed = seed;
    assert_int_equal(journal_submit(f->j, &job, &fresh, &r, 12345), ST_OK);
    uint64_t instance = journal_instance(f->j);
    commit(f->j);
    reopen(f);
    struct job kept = get(f->j, "first");
    assert_memory_equal(&kept, &job, sizeof job);
    assert_int_equal(kept.number, 1);
    assert_int_equal(kept.uid, 1000);
    assert_string_equal(kept.circuit, "chain");
    assert_memory_equal(kept.request, r.request, sizeof kept.request);
    assert_int_equal(kept.priority, PRIORITY_HIGH);
    assert_int_equal(kept.state, JOB_WAITING);
    assert_int_equal(kept.deadline, 77);
    assert_int_equal(kept.submitted, 12345);
    assert_int_equal(kept.spool_bytes, 96);
    assert_string_equal(kept.seed, seed);
    assert_int_equal(journal_instance(f->j), instance);
}

static void same_id_is_the_same_job(void **state)
{
    struct fixture *f = *state;
    struct job_request same = request("twice", 1), other = request("twice", 2);
    struct job_request stranger = request("twice", 1);
    struct job first = submit(f->j, "twice"), again;
    bool fresh;
    stranger.uid = 1001;
    for (int pass = 0; pass < 2; pass++) { /* in the open batch, then from disk */
        assert_int_equal(journal_submit(f->j, &again, &fresh, &same, 6), ST_OK);
        assert_false(fresh);
        assert_int_equal(again.number, first.number);
        assert_int_equal(again.submitted, 5);
        expect(journal_submit(f->j, &again, &fresh, &other, 6), ST_INPUT, "another request");
        expect(journal_submit(f->j, &again, &fresh, &stranger, 6), ST_INPUT, "another request");
        commit(f->j);
        reopen(f);
    }
}

static void generates_ids(void **state)
{
    struct fixture *f = *state;
    struct job a = submit(f->j, NULL), b = submit(f->j, NULL);
    assert_int_equal(strlen(a.id), 32);
    assert_string_not_equal(a.id, b.id);
    assert_int_equal(b.number, a.number + 1);
}

static void refuses_malformed_requests(void **state)
{
    struct fixture *f = *state;
    struct job job;
    bool fresh;
    struct job_request r = request("../etc", 1);
    expect(journal_submit(f->j, &job, &fresh, &r, 0), ST_INPUT, "job id");
    r = request("x", 1);
    r.circuit = "a;b";
    expect(journal_submit(f->j, &job, &fresh, &r, 0), ST_INPUT, "circuit");
    r.circuit = "chain";
    r.seed = "12";
    expect(journal_submit(f->j, &job, &fresh, &r, 0), ST_INPUT, "seed");
    expect(journal_find(f->j, &job, "x"), ST_INPUT, "there is none of this id");
    expect(journal_find(f->j, &job, "x' OR '1'='1"), ST_INPUT, "job id");
    expect(journal_get(f->j, &job, 1), ST_INPUT, "there is none of this id");
}

/* --- transitions --- */

typedef enum status (*mutation)(struct journal *j, uint64_t number);

static enum status start(struct journal *j, uint64_t n)
{
    return journal_start(j, n, 20);
}
static enum status requeue(struct journal *j, uint64_t n)
{
    return journal_requeue(j, n, (struct job_blame){.synth_death = true});
}
static enum status blame(struct journal *j, uint64_t n)
{
    return journal_blame(j, n, (struct job_blame){.gpud_death_alone = true, .suspect = true});
}
static enum status hold(struct journal *j, uint64_t n)
{
    return journal_hold(j, n, "three deaths");
}
static enum status done(struct journal *j, uint64_t n)
{
    const struct job_result r = {.proof = "{}", .publics = "[]", .stages = "{\"h2d\":1}"};
    return journal_finish(j, n, JOB_DONE, &r, 30);
}
static enum status failed(struct journal *j, uint64_t n)
{
    const struct job_result r = {.error = "constraint 3"};
    return journal_finish(j, n, JOB_FAILED, &r, 30);
}
static enum status cancelled(struct journal *j, uint64_t n)
{
    const struct job_result r = {0};
    return journal_finish(j, n, JOB_CANCELLED, &r, 30);
}

/* Every mutation in every state: allowed as the table says, otherwise refused without effect. */
static void transitions_check_the_state(void **state)
{
    struct fixture *f = *state;
    static const struct {
        mutation apply;
        int to[JOB_STATES]; /* by the state it leaves; -1 refused, in order of enum job_state */
    } table[] = {
        {start, {JOB_RUNNING, -1, -1, -1, -1, -1}},
        {requeue, {-1, JOB_WAITING, -1, -1, -1, -1}},
        {blame, {JOB_WAITING, JOB_RUNNING, -1, -1, -1, JOB_HELD}},
        {hold, {JOB_HELD, JOB_HELD, -1, -1, -1, -1}},
        {journal_retry, {-1, -1, -1, -1, -1, JOB_WAITING}},
        {done, {JOB_DONE, JOB_DONE, -1, -1, -1, JOB_DONE}},
        {failed, {JOB_FAILED, JOB_FAILED, -1, -1, -1, JOB_FAILED}},
        {cancelled, {JOB_CANCELLED, JOB_CANCELLED, -1, -1, -1, JOB_CANCELLED}},
    };
    static const mutation reach[JOB_STATES] = {NULL, start, done, failed, cancelled, hold};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        expect(table[i].apply(f->j, 123456), ST_INPUT, "there is none of this id");
        for (int from = 0; from < JOB_STATES; from++) {
            struct job before, after, job = submit(f->j, NULL);
            if (reach[from] != NULL)
                assert_int_equal(reach[from](f->j, job.number), ST_OK);
            before = get(f->j, job.id);
            assert_int_equal(before.state, from);
            enum status st = table[i].apply(f->j, job.number);
            after = get(f->j, job.id);
            if (table[i].to[from] >= 0) {
                assert_int_equal(st, ST_OK);
                assert_int_equal(after.state, table[i].to[from]);
            } else {
                expect(st, ST_INVALID, job_state_name((enum job_state)from));
                assert_memory_equal(&before, &after, sizeof before);
            }
        }
    }
    commit(f->j);
}

static void counts_attempts_and_deaths(void **state)
{
    struct fixture *f = *state;
    struct job job = submit(f->j, "blamed");
    assert_int_equal(start(f->j, job.number), ST_OK);
    assert_int_equal(requeue(f->j, job.number), ST_OK);
    assert_int_equal(start(f->j, job.number), ST_OK);
    assert_int_equal(blame(f->j, job.number), ST_OK);
    job = get(f->j, "blamed");
    assert_int_equal(job.attempts, 2);
    assert_int_equal(job.started, 20);
    assert_int_equal(job.synth_deaths, 1);
    assert_int_equal(job.gpud_deaths_alone, 1);
    assert_true(job.suspect);
    assert_int_equal(hold(f->j, job.number), ST_OK);
    struct job_result result;
    assert_int_equal(journal_result(f->j, &result, job.number), ST_OK);
    assert_string_equal(result.error, "three deaths");
    job_result_fini(&result);
    assert_int_equal(journal_retry(f->j, job.number), ST_OK);
    job = get(f->j, "blamed");
    assert_true(job.synth_deaths == 0 && job.gpud_deaths_alone == 0 && !job.suspect);
    assert_int_equal(journal_result(f->j, &result, job.number), ST_OK);
    assert_null(result.error);
    job_result_fini(&result);
}

static void keeps_results_and_forgets_seeds(void **state)
{
    struct fixture *f = *state;
    char seed[JOURNAL_SEED_DIGITS + 1];
    struct job_request r = request("seeded", 3);
    struct job job;
    struct job_result result;
    bool fresh;
    memset(seed, 'c', sizeof seed);
    seed[JOURNAL_SEED_DIGITS] = '\0';
    r.seed = seed;
    assert_int_equal(journal_submit(f->j, &job, &fresh, &r, 1), ST_OK);
    assert_int_equal(done(f->j, job.number), ST_OK);
    commit(f->j);
    reopen(f);
    job = get(f->j, "seeded");
    assert_string_equal(job.seed, "");
    assert_int_equal(job.ended, 30);
    assert_int_equal(journal_result(f->j, &result, job.number), ST_OK);
    assert_string_equal(result.proof, "{}");
    assert_string_equal(result.publics, "[]");
    assert_string_equal(result.stages, "{\"h2d\":1}");
    assert_null(result.error);
    job_result_fini(&result);
}

static void bounds_results(void **state)
{
    struct fixture *f = *state;
    struct job job = submit(f->j, "long");
    char *text = malloc(JOURNAL_RESULT_MAX + 2);
    memset(text, 'x', JOURNAL_RESULT_MAX + 1);
    text[JOURNAL_RESULT_MAX + 1] = '\0';
    const struct job_result r = {.proof = text};
    expect(journal_finish(f->j, job.number, JOB_DONE, &r, 1), ST_INPUT, "proof");
    text[JOURNAL_RESULT_MAX] = '\0';
    assert_int_equal(journal_finish(f->j, job.number, JOB_DONE, &r, 1), ST_OK);
    free(text);
}

/* --- reading --- */

struct seen {
    uint64_t numbers[64];
    size_t count;
};

static enum status see(void *arg, const struct job *job)
{
    struct seen *s = arg;
    s->numbers[s->count++] = job->number;
    return ST_OK;
}

static void lists_in_order(void **state)
{
    struct fixture *f = *state;
    struct seen open = {0}, mine = {0}, page = {0};
    uint64_t counts[JOB_STATES];
    for (int i = 1; i <= 6; i++) {
        struct job_request r = request(NULL, 1);
        struct job job;
        bool fresh;
        r.uid = i % 2 ? 1000 : 2000;
        assert_int_equal(journal_submit(f->j, &job, &fresh, &r, i), ST_OK);
    }
    assert_int_equal(start(f->j, 2), ST_OK);
    assert_int_equal(done(f->j, 3), ST_OK);
    assert_int_equal(hold(f->j, 4), ST_OK);
    commit(f->j);
    reopen(f);
    assert_int_equal(journal_each_open(f->j, see, &open), ST_OK);
    static const uint64_t expected[] = {1, 2, 4, 5, 6};
    assert_int_equal(open.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(open.numbers[i], expected[i]);
    assert_int_equal(journal_list(f->j, see, &mine, 0, 100, false, 2000), ST_OK);
    assert_int_equal(mine.count, 3);
    assert_int_equal(mine.numbers[0], 6);
    assert_int_equal(journal_list(f->j, see, &page, 5, 2, true, 0), ST_OK);
    assert_int_equal(page.count, 2);
    assert_int_equal(page.numbers[0], 4);
    assert_int_equal(page.numbers[1], 3);
    assert_int_equal(journal_count(f->j, counts, true, 0), ST_OK);
    assert_true(counts[JOB_WAITING] == 3 && counts[JOB_RUNNING] == 1 && counts[JOB_DONE] == 1 &&
                counts[JOB_HELD] == 1 && counts[JOB_FAILED] == 0 && counts[JOB_CANCELLED] == 0);
}

static enum status refuse_second(void *arg, const struct job *job)
{
    (void)job;
    return ++*(int *)arg == 2 ? ST_INTERNAL : ST_OK;
}

static void a_visitor_can_stop(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    for (int i = 0; i < 4; i++)
        submit(f->j, NULL);
    assert_int_equal(journal_each_open(f->j, refuse_second, &calls), ST_INTERNAL);
    assert_int_equal(calls, 2);
}

static void prunes_the_oldest_ended(void **state)
{
    struct fixture *f = *state;
    size_t removed;
    struct job job;
    struct job_result result;
    for (uint64_t i = 1; i <= 300; i++) {
        submit(f->j, NULL);
        if (i != 10) /* an open job among them stays whatever its age */
            assert_int_equal(
                journal_finish(f->j, i, JOB_DONE, &(struct job_result){.proof = "p"}, (int64_t)i),
                ST_OK);
    }
    commit(f->j);
    assert_int_equal(journal_prune(f->j, &removed, 1000, 0), ST_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(journal_prune(f->j, &removed, 20, 0), ST_OK);
    assert_int_equal(removed, 256);
    assert_int_equal(journal_prune(f->j, &removed, 20, 0), ST_OK);
    assert_int_equal(removed, 23);
    assert_int_equal(journal_prune(f->j, &removed, 20, 291), ST_OK);
    assert_int_equal(removed, 10); /* 281 to 290, by age */
    commit(f->j);
    reopen(f);
    expect(journal_get(f->j, &job, 280), ST_INPUT, "there is none of this id");
    assert_int_equal(journal_get(f->j, &job, 10), ST_OK);
    assert_int_equal(journal_get(f->j, &job, 291), ST_OK);
    assert_int_equal(journal_result(f->j, &result, 280), ST_OK);
    assert_null(result.proof); /* went with its job */
    job_result_fini(&result);
    assert_int_equal(journal_prune(f->j, &removed, 0, 0), ST_OK);
    assert_int_equal(removed, 10);
    assert_int_equal(submit(f->j, NULL).number, 301); /* numbers are not used again */
}

/* --- batches --- */

struct told {
    int count;
    enum status st;
    char message[256];
    struct journal *submit_to;
};

static void tell(void *arg, enum status st)
{
    struct told *t = arg;
    t->count++;
    t->st = st;
    snprintf(t->message, sizeof t->message, "%s", status_message());
    status_clear();
    if (t->submit_to != NULL)
        submit(t->submit_to, "from-callback");
}

static void commits_in_groups(void **state)
{
    struct fixture *f = *state;
    struct told a = {0}, b = {.submit_to = f->j};
    assert_int_equal(journal_due(f->j), 0);
    submit(f->j, "a");
    int64_t due = journal_due(f->j);
    assert_true(due > 0);
    assert_int_equal(journal_after_commit(f->j, tell, &a), ST_OK);
    submit(f->j, "b");
    assert_int_equal(journal_after_commit(f->j, tell, &b), ST_OK);
    assert_int_equal(journal_due(f->j), due); /* the first one's */
    assert_int_equal(a.count, 0);
    assert_int_equal(journal_commit(f->j), ST_OK);
    assert_true(a.count == 1 && a.st == ST_OK && b.count == 1 && b.st == ST_OK);
    assert_true(journal_due(f->j) > 0); /* the callback's own batch */
    reopen(f);
    get(f->j, "a");
    get(f->j, "b");
    struct job job;
    expect(journal_find(f->j, &job, "from-callback"), ST_INPUT,
           "there is none of this id"); /* never committed */
}

/* --- faults --- */

static int write_error; /* errno that the nth write gives, 0 for none */
static int writes_until_error;
static ssize_t (*true_pwrite)(int, const void *, size_t, off_t);

static ssize_t failing_pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    if (write_error != 0 && writes_until_error-- <= 0) {
        errno = write_error;
        return -1;
    }
    return true_pwrite(fd, bytes, len, at);
}

static void intercept_writes(void)
{
    static const char *const names[] = {"pwrite64", "pwrite"};
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    true_pwrite = pwrite;
    for (int i = 0; i < 2; i++)
        vfs->xSetSystemCall(vfs, names[i], (sqlite3_syscall_ptr)failing_pwrite);
    vfs->xSetSystemCall(vfs, "write", NULL);
}

static void restore_writes(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, NULL, NULL);
    write_error = 0;
}

/* The disk fills at the nth write, for every n: the batch is lost as a whole, everybody who waits
 * is told, and the journal goes on when there is room again. */
static void a_full_disk_loses_whole_batches(void **state)
{
    struct fixture *f = *state;
    bool lost = true;
    submit(f->j, "before");
    commit(f->j);
    intercept_writes();
    for (int n = 0; lost; n++) {
        char a[32], b[32];
        struct told told = {0};
        struct job job;
        snprintf(a, sizeof a, "a%d", n);
        snprintf(b, sizeof b, "b%d", n);
        submit(f->j, a);
        submit(f->j, b);
        assert_int_equal(journal_after_commit(f->j, tell, &told), ST_OK);
        write_error = ENOSPC;
        writes_until_error = n;
        enum status st = journal_commit(f->j);
        lost = st != ST_OK;
        write_error = 0;
        assert_int_equal(told.count, 1);
        assert_int_equal(told.st, st);
        if (!lost) {
            assert_true(n > 0);
            break;
        }
        assert_int_equal(journal_fault(f->j), JOURNAL_FULL);
        assert_non_null(strstr(told.message, "no space left"));
        expect(st, ST_RESOURCE, f->path);
        reopen(f);
        expect(journal_find(f->j, &job, a), ST_INPUT, "there is none of this id");
        expect(journal_find(f->j, &job, b), ST_INPUT, "there is none of this id");
        get(f->j, "before");
    }
    assert_int_equal(journal_fault(f->j), JOURNAL_SOUND);
    restore_writes();
}

static void names_a_read_only_file(void **state)
{
    struct fixture *f = *state;
    submit(f->j, "x");
    intercept_writes();
    write_error = EROFS;
    writes_until_error = 0;
    expect(journal_commit(f->j), ST_RESOURCE, "not writable");
    assert_int_equal(journal_fault(f->j), JOURNAL_READ_ONLY);
    restore_writes();
    submit(f->j, "x");
    commit(f->j);
    assert_int_equal(journal_fault(f->j), JOURNAL_SOUND);
}

static void refuse_open(struct fixture *f, enum status st, enum journal_fault fault,
                        const char *part)
{
    struct journal *j = NULL;
    enum journal_fault got = JOURNAL_SOUND;
    expect(journal_open(&j, &got, f->path), st, part);
    assert_int_equal(got, fault);
    assert_null(j);
}

static void second_owner_is_refused(void **state)
{
    struct fixture *f = *state;
    pid_t child = fork();
    if (child == 0) {
        struct journal *j = NULL;
        enum journal_fault fault;
        enum status st = journal_open(&j, &fault, f->path);
        _exit(st == ST_RESOURCE && fault == JOURNAL_BUSY ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    submit(f->j, "still-mine");
    commit(f->j);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void close_journal(struct fixture *f)
{
    journal_close(f->j);
    f->j = NULL;
}

static void refuses_other_versions(void **state)
{
    struct fixture *f = *state;
    close_journal(f);
    run_sql(f->path, "PRAGMA user_version = 2");
    refuse_open(f, ST_INPUT, JOURNAL_FOREIGN, "schema version 2, this program reads 1");
    run_sql(f->path, "PRAGMA user_version = 1; PRAGMA application_id = 7");
    refuse_open(f, ST_INPUT, JOURNAL_FOREIGN, "another program");
    assert_int_equal(unlink(f->path), 0);
    run_sql(f->path, "CREATE TABLE t (x)");
    refuse_open(f, ST_INPUT, JOURNAL_FOREIGN, "another program");
}

static void refuses_what_is_no_database(void **state)
{
    struct fixture *f = *state;
    close_journal(f);
    assert_int_equal(unlink(f->path), 0);
    int fd = open(f->path, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(write(fd, "not a database, ", 16), 16);
    close(fd);
    refuse_open(f, ST_INPUT, JOURNAL_CORRUPT, "damaged");
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(symlink("/dev/null", f->path), 0);
    refuse_open(f, ST_INPUT, JOURNAL_FOREIGN, "not a regular file");
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    refuse_open(f, ST_INPUT, JOURNAL_FOREIGN, "not a regular file");
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkdir(f->path, 0700), 0);
    refuse_open(f, ST_INPUT, JOURNAL_FOREIGN, "not a regular file");
    assert_int_equal(rmdir(f->path), 0);
    snprintf(f->path, sizeof f->path, "%s", scratch_path(&f->scratch, "none/journal.db"));
    refuse_open(f, ST_RESOURCE, JOURNAL_BROKEN, "cannot be opened");
}

/* One page after another is overwritten: opening or reading fails by name, or nothing is missing.
 */
static void damaged_pages_are_named(void **state)
{
    enum { JOBS = 40, PAGE = 4096 };
    struct fixture *f = *state;
    uint8_t junk[PAGE], kept[PAGE];
    int refused = 0;
    for (int i = 0; i < JOBS; i++)
        submit(f->j, NULL);
    commit(f->j);
    close_journal(f);
    memset(junk, 0xa5, sizeof junk);
    struct stat info;
    assert_int_equal(stat(f->path, &info), 0);
    for (off_t at = 0; at < info.st_size; at += PAGE) {
        int fd = open(f->path, O_RDWR);
        assert_int_equal(pread(fd, kept, PAGE, at), PAGE);
        assert_int_equal(pwrite(fd, junk, PAGE, at), PAGE);
        struct seen seen = {0};
        enum journal_fault fault;
        struct journal *j = NULL;
        enum status st = journal_open(&j, &fault, f->path);
        if (st == ST_OK) {
            st = journal_each_open(j, see, &seen);
            fault = journal_fault(j);
        }
        if (st == ST_OK) {
            assert_int_equal(seen.count, JOBS);
        } else {
            assert_int_equal(fault, JOURNAL_CORRUPT);
            expect(st, ST_INPUT, "damaged");
            refused++;
        }
        journal_close(j);
        assert_int_equal(pwrite(fd, kept, PAGE, at), PAGE);
        close(fd);
    }
    assert_true(refused >= 3);
    assert_int_equal(journal_open(&f->j, NULL, f->path), ST_OK);
}

static void is_private(void **state)
{
    struct fixture *f = *state;
    struct stat info;
    submit(f->j, "x");
    commit(f->j);
    assert_int_equal(stat(f->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(scratch_path(&f->scratch, "journal.db-wal"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeps_what_was_submitted),
        TEST(same_id_is_the_same_job),
        TEST(generates_ids),
        TEST(refuses_malformed_requests),
        TEST(transitions_check_the_state),
        TEST(counts_attempts_and_deaths),
        TEST(keeps_results_and_forgets_seeds),
        TEST(bounds_results),
        TEST(lists_in_order),
        TEST(a_visitor_can_stop),
        TEST(prunes_the_oldest_ended),
        TEST(commits_in_groups),
        TEST(a_full_disk_loses_whole_batches),
        TEST(names_a_read_only_file),
        TEST(second_owner_is_refused),
        TEST(refuses_other_versions),
        TEST(refuses_what_is_no_database),
        TEST(damaged_pages_are_named),
        TEST(is_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
