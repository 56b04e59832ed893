/* Every task of a loop runs exactly once, on threads that the pool has, loop after loop. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/pool.h"

enum { TASKS = 1000 };

struct loop {
    atomic_uint ran[TASKS];
    atomic_uint inside[64];
    unsigned threads;
};

static void task(void *arg, size_t i, unsigned thread)
{
    struct loop *loop = arg;
    assert_true(thread < loop->threads);
    /* no two calls with the same thread overlap */
    const memory_order relaxed = memory_order_relaxed; /* only the counts matter */
    assert_int_equal(atomic_fetch_add_explicit(&loop->inside[thread], 1, relaxed), 0);
    atomic_fetch_add_explicit(&loop->ran[i], 1, relaxed);
    atomic_fetch_sub_explicit(&loop->inside[thread], 1, relaxed);
}

static void runs_each_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 9; threads += 4) {
        struct pool *pool;
        assert_int_equal(pool_create(&pool, threads), ST_OK);
        assert_int_equal(pool_threads(pool), threads);
        for (size_t n = 0; n <= TASKS; n += 111) {
            struct loop *loop = calloc(1, sizeof *loop);
            assert_non_null(loop);
            loop->threads = threads;
            pool_run(pool, n, task, loop);
            for (size_t i = 0; i < TASKS; i++)
                assert_int_equal(loop->ran[i], i < n);
            free(loop);
        }
        pool_destroy(pool);
    }
}

/* Both threads meet in the barrier, so the worker runs one of the two tasks. */
static void look_at_signals(void *arg, size_t i, unsigned thread)
{
    (void)i;
    sigset_t blocked;
    pthread_barrier_wait(arg);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    assert_int_equal(sigismember(&blocked, SIGBUS), 0);
    assert_int_equal(sigismember(&blocked, SIGINT), thread != 0);
}

static void workers_leave_signals_to_main(void **state)
{
    (void)state;
    struct pool *pool;
    pthread_barrier_t both;
    assert_int_equal(pthread_barrier_init(&both, NULL, 2), 0);
    assert_int_equal(pool_create(&pool, 2), ST_OK);
    pool_run(pool, 2, look_at_signals, &both);
    pool_destroy(pool);
    pthread_barrier_destroy(&both);
}

static void chunks_cover(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++) {
        for (size_t count = 1; count < 9; count++) {
            size_t expect = 0, begin, end;
            for (size_t i = 0; i < count; i++) {
                pool_chunk(n, i, count, &begin, &end);
                assert_int_equal(begin, expect);
                assert_true(end >= begin && end - begin <= n / count + 1);
                expect = end;
            }
            assert_int_equal(expect, n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_each_once),
        cmocka_unit_test(workers_leave_signals_to_main),
        cmocka_unit_test(chunks_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
