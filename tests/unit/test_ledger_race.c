/* A record that was read is never made of two: a writer publishes in a loop while threads and
 * processes read, and each read must be one of those published, whole. */
#include "tests/unit/shm_fixture.h"

#include <pthread.h>
#include <sys/wait.h>

enum { SLOTS = 2, READERS = 2, PAGES = 1 << 20 };

#ifdef __SANITIZE_THREAD__
enum { READS = 4000 }; /* it needs few to see an order that is not promised, and is slow */
#else
enum { READS = 40000 };
#endif

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The record with number k: every field follows from it. */
static struct slice_record numbered(uint64_t k)
{
    uint64_t h = mix(k);
    struct slice_record r = {.circuit = k, .w_extents = 1 + h % 12, .abc_extents = 1 + h / 16 % 12};
    struct slice_plan plan = {.w_bytes = (uint64_t)r.w_extents * FIXTURE_PAGE - h % 4000,
                              .a_bytes = (uint64_t)r.abc_extents * FIXTURE_PAGE - h % 4000};
    assert_int_equal(slice_plan(&plan, FIXTURE_PAGE), ST_OK);
    r.w_bytes = plan.w_bytes;
    r.a_bytes = plan.a_bytes;
    r.a_offset = plan.a_offset;
    r.b_offset = plan.b_offset;
    r.c_offset = plan.c_offset;
    uint64_t first = h % (PAGES - 64);
    for (uint32_t i = 0; i < r.w_extents + r.abc_extents; i++)
        r.extent[i] = (struct extent){(first + UINT64_C(2) * i) * FIXTURE_PAGE, FIXTURE_PAGE};
    memcpy(r.job, &k, 8);
    memcpy(r.job + 8, &h, 8);
    return r;
}

/* Whether everything in r belongs together; epoch and device are those of one assignment. */
static bool is_whole(const struct slice_record *r)
{
    struct slice_record e = numbered(r->circuit);
    bool same = memcmp(r->job, e.job, 16) == 0 && r->w_bytes == e.w_bytes &&
                r->a_bytes == e.a_bytes && r->a_offset == e.a_offset && r->b_offset == e.b_offset &&
                r->w_extents == e.w_extents && r->abc_extents == e.abc_extents &&
                memcmp(r->extent, e.extent, sizeof e.extent) == 0;
    if (r->state < SLOT_COPYING)
        return same && r->epoch == 0 && r->device == 0;
    return same && r->epoch != 0 && r->device == (uint32_t)mix(r->epoch);
}

/* Reads until READS live records were seen; how many were not whole. */
static unsigned read_many(const struct ledger *l)
{
    unsigned torn = 0;
    for (unsigned seen = 0, i = 0; seen < READS; i++) {
        struct slice_record r;
        if (ledger_read_slot(l, i % SLOTS, &r) != ST_OK) {
            torn++;
            seen++;
            status_clear();
        } else if (r.state != SLOT_FREE) {
            torn += !is_whole(&r);
            seen++;
        }
    }
    return torn;
}

struct fixture {
    struct ledger_lock *lock;
    struct ledger *writer;
    uint16_t synth;
};

static void step(struct fixture *f, struct handle h, enum slot_state to, uint64_t epoch)
{
    struct publication p = {
        .state = to, .client = CLIENT_NONE, .epoch = epoch, .device = (uint32_t)mix(epoch)};
    assert_done(ledger_publish(f->writer, h, &p));
}

/* The life of record k: either cancelled at once, or its daemon dies a few times. */
static void one_life(struct fixture *f, uint64_t k)
{
    struct slice_record r = numbered(k);
    struct handle h;
    assert_done(ledger_grant(f->writer, &h, f->synth, &r));
    uint64_t deaths = k % 8 == 0 ? 12 : 0;
    if (deaths)
        step(f, h, SLOT_SUBMITTED, 0);
    for (; deaths > 0; deaths--) {
        step(f, h, SLOT_COPYING, 16 * k + deaths);
        step(f, h, SLOT_PROVING, 0);
        step(f, h, SLOT_SUBMITTED, 0);
    }
    assert_done(ledger_free(f->writer, h));
}

static int make_ledger(void **state)
{
    static struct fixture f;
    struct arena_desc arena = fixture_arena();
    arena.bytes = (uint64_t)PAGES * FIXTURE_PAGE;
    assert_done(ledger_lock_acquire(&f.lock, fixture_lock_path()));
    assert_done(ledger_create(&f.writer, f.lock, fixture_name("race"), 1, SLOTS, &arena));
    assert_done(ledger_client_add(f.writer, &f.synth, CLIENT_SYNTH, 1, 1, 1));
    *state = &f;
    return 0;
}

static int remove_ledger(void **state)
{
    struct fixture *f = *state;
    ledger_detach(f->writer);
    assert_done(ledger_unlink(fixture_name("race")));
    ledger_lock_release(f->lock);
    unlink(fixture_lock_path());
    return 0;
}

static _Atomic unsigned threads_done, threads_torn;

static void *reader_thread(void *arg)
{
    unsigned torn = read_many(arg);
    atomic_fetch_add_explicit(&threads_torn, torn, memory_order_relaxed);
    /* release: pairs with the writer's acquire load */
    atomic_fetch_add_explicit(&threads_done, 1, memory_order_release);
    return NULL;
}

/* Through the very mapping of the writer, so that a race is one for ThreadSanitizer too. */
static void threads_read_whole_records(void **state)
{
    struct fixture *f = *state;
    pthread_t thread[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, reader_thread, f->writer), 0);
    uint64_t k = 1;
    while (atomic_load_explicit(&threads_done, memory_order_acquire) < READERS)
        one_life(f, k++);
    for (int i = 0; i < READERS; i++)
        pthread_join(thread[i], NULL);
    print_message("%" PRIu64 " lives\n", k);
    assert_int_equal(atomic_load_explicit(&threads_torn, memory_order_relaxed), 0);
}

static void processes_read_whole_records(void **state)
{
    struct fixture *f = *state;
    char name[64];
    pid_t child[READERS];
    _Atomic unsigned *done =
        mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(done != MAP_FAILED);
    snprintf(name, sizeof name, "%s", fixture_name("race"));
    for (int i = 0; i < READERS; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            struct ledger *l;
            unsigned torn = ledger_attach(&l, name) == ST_OK ? read_many(l) : READS;
            atomic_fetch_add_explicit(done, 1, memory_order_release);
            _exit(torn ? 1 : 0);
        }
        assert_true(child[i] > 0);
    }
    uint64_t k = 1;
    while (atomic_load_explicit(done, memory_order_acquire) < READERS)
        one_life(f, k++);
    print_message("%" PRIu64 " lives\n", k);
    for (int i = 0; i < READERS; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    munmap(done, sizeof *done);
}

int main(void)
{
#define WITH_LEDGER(test) cmocka_unit_test_setup_teardown(test, make_ledger, remove_ledger)
    const struct CMUnitTest tests[] = {
        WITH_LEDGER(processes_read_whole_records), /* forks, so before there are threads */
        WITH_LEDGER(threads_read_whole_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
