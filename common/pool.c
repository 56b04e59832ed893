#include "common/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_MAX_THREADS = 1024 };

struct pool {
    unsigned threads;
    pthread_mutex_t lock;
    pthread_cond_t start, finish;
    unsigned long round; /* under lock: number of the current loop */
    unsigned busy;       /* under lock: workers still in it */
    bool stop;           /* under lock */

    void (*task)(void *arg, size_t i, unsigned thread);
    void *arg;
    size_t n;
    atomic_size_t next;

    struct worker {
        struct pool *pool;
        pthread_t id;
        unsigned index;
    } worker[];
};

static void run_tasks(struct pool *pool, unsigned thread)
{
    for (;;) {
        /* relaxed: only the ticket matters; task, arg and n were published under the lock */
        size_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->n)
            return;
        pool->task(pool->arg, i, thread);
    }
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct pool *pool = w->pool;
    unsigned long seen = 0;
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        while (pool->round == seen && !pool->stop)
            pthread_cond_wait(&pool->start, &pool->lock);
        seen = pool->round;
        bool stop = pool->stop;
        pthread_mutex_unlock(&pool->lock);
        if (stop)
            return NULL;

        run_tasks(pool, w->index);

        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->finish);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void stop_workers(struct pool *pool, unsigned started)
{
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < started; i++)
        pthread_join(pool->worker[i].id, NULL);
}

static enum status start_workers(struct pool *pool)
{
    sigset_t others, old;
    sigfillset(&others);
    /* what the thread itself causes must reach its handler: a mapped file may become shorter */
    const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, &old);
    unsigned started = 0;
    int error = 0;
    while (started < pool->threads - 1 && !error) {
        struct worker *w = &pool->worker[started];
        *w = (struct worker){.pool = pool, .index = started + 1};
        error = pthread_create(&w->id, NULL, worker_main, w);
        started += !error;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!error)
        return ST_OK;
    stop_workers(pool, started);
    return fail(ST_RESOURCE, "cannot start thread %u of %u: %s (use --threads)", started + 2,
                pool->threads, strerror(error));
}

enum status pool_create(struct pool **out, unsigned threads)
{
    if (threads == 0)
        threads = pool_available_threads();
    if (threads > POOL_MAX_THREADS)
        threads = POOL_MAX_THREADS;
    struct pool *pool = calloc(1, sizeof *pool + (threads - 1) * sizeof pool->worker[0]);
    if (!pool)
        return fail(ST_RESOURCE, "no memory for %u threads", threads);
    pool->threads = threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->finish, NULL);
    enum status st = start_workers(pool);
    if (st != ST_OK) {
        free(pool);
        return st;
    }
    *out = pool;
    return ST_OK;
}

void pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    stop_workers(pool, pool->threads - 1);
    pthread_cond_destroy(&pool->finish);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned pool_threads(const struct pool *pool)
{
    return pool->threads;
}

void pool_run(struct pool *pool, size_t n, void (*task)(void *arg, size_t i, unsigned thread),
              void *arg)
{
    if (pool->threads == 1 || n <= 1) {
        for (size_t i = 0; i < n; i++)
            task(arg, i, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->arg = arg;
    pool->n = n;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed); /* published by the unlock below */
    pool->busy = pool->threads - 1;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);

    run_tasks(pool, 0);

    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->finish, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static unsigned affinity_threads(void)
{
    /* a kernel built for more CPUs than CPU_SETSIZE refuses the small set */
    for (int cpus = CPU_SETSIZE; cpus <= 1 << 16; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (!set)
            return 1;
        size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        int n = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (n > 0)
            return (unsigned)n;
    }
    return 1;
}

/* Reads "quota period" of a cgroup directory; threads it allows, 0 for no limit. */
static unsigned quota_of(const char *dir, bool v2)
{
    char path[4352];
    long long quota = -1, period = 0;
    snprintf(path, sizeof path, "%s/%s", dir, v2 ? "cpu.max" : "cpu.cfs_quota_us");
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    int got = fscanf(f, v2 ? "%lld %lld" : "%lld", &quota, &period);
    fclose(f);
    if (!v2 && got == 1) {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", dir);
        f = fopen(path, "re");
        if (!f)
            return 0;
        got += fscanf(f, "%lld", &period);
        fclose(f);
    }
    if (got != 2 || quota <= 0 || period <= 0)
        return 0;
    long long n = (quota + period - 1) / period;
    return n > POOL_MAX_THREADS ? POOL_MAX_THREADS : (unsigned)n;
}

/* The tightest limit from a cgroup up to the root of its hierarchy. dir is shortened on the way. */
static unsigned quota_up(const char *root, char *dir, bool v2)
{
    unsigned limit = 0;
    for (;;) {
        unsigned q = quota_of(dir, v2);
        if (q && (!limit || q < limit))
            limit = q;
        char *slash = strrchr(dir, '/');
        if (strlen(dir) <= strlen(root) || !slash)
            return limit;
        *slash = '\0';
    }
}

static unsigned cgroup_threads(void)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f)
        return 0;
    unsigned limit = 0;
    char line[4096], dir[4200];
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        controllers++;
        bool v2 = *controllers == '\0';
        if (!v2 && strcmp(controllers, "cpu") != 0 && strncmp(controllers, "cpu,", 4) != 0)
            continue;
        const char *root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
        snprintf(dir, sizeof dir, "%s%s", root, path);
        unsigned q = quota_up(root, dir, v2);
        if (q && (!limit || q < limit))
            limit = q;
    }
    fclose(f);
    return limit;
}

unsigned pool_available_threads(void)
{
    unsigned n = affinity_threads(), q = cgroup_threads();
    return q && q < n ? q : n;
}
