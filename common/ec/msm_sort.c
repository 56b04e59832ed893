#include "common/ec/msm_sort.h"

enum { MAX_SLICES = 8 }; /* the prefix sum over slices * keys is serial */

size_t msm_sort_slices(unsigned group, unsigned threads)
{
    size_t slices = (2 * (size_t)threads + group - 1) / group;
    if (threads == 1)
        slices = 1;
    return slices < MAX_SLICES ? slices : MAX_SLICES;
}

/* One task's share of a window, and where its keys are counted. */
struct share {
    const uint16_t *digit;
    size_t begin, end;
    uint32_t half, *position;
};

static struct share share_of(const struct msm_sort *sort, size_t task)
{
    const struct msm_digits *digits = sort->digits;
    size_t w = task % sort->group, slice = task / sort->group;
    struct share s = {
        .digit = digits->digit[sort->first + w],
        .half = (uint32_t)1 << (digits->width - 1),
        .position = sort->position + (slice * sort->group + w) * sort->buckets,
    };
    pool_chunk(digits->count[sort->first + w], slice, sort->slices, &s.begin, &s.end);
    return s;
}

static void count_share(void *arg, size_t task, unsigned thread)
{
    (void)thread;
    const struct msm_sort *sort = arg;
    struct share s = share_of(sort, task);
    memset(s.position, 0, sort->buckets * sizeof *s.position);
    for (size_t i = s.begin; i < s.end; i++) {
        int32_t d = (int32_t)s.digit[i] - (int32_t)s.half;
        if (d != 0)
            s.position[(d < 0 ? -d : d) - 1]++;
    }
}

static void place_share(void *arg, size_t task, unsigned thread)
{
    (void)thread;
    const struct msm_sort *sort = arg;
    struct share s = share_of(sort, task);
    const uint32_t *entry = sort->digits->entry;
    for (size_t i = s.begin; i < s.end; i++) {
        int32_t d = (int32_t)s.digit[i] - (int32_t)s.half;
        if (d == 0)
            continue;
        uint32_t negative = d < 0, b = (uint32_t)(negative ? -d : d) - 1;
        sort->sorted[s.position[b]++] = entry[i] ^ negative << MSM_NEGATIVE_BIT;
    }
}

void msm_sort(struct msm_sort *sort, struct pool *pool)
{
    size_t tasks = sort->group * sort->slices, keys = sort->group * sort->buckets;
    pool_run(pool, tasks, count_share, sort);
    uint32_t next = 0;
    for (size_t key = 0; key < keys; key++) {
        for (size_t slice = 0; slice < sort->slices; slice++) {
            uint32_t count = sort->position[slice * keys + key];
            sort->position[slice * keys + key] = next;
            next += count;
        }
    }
    sort->total = next;
    pool_run(pool, tasks, place_share, sort);
    /* the last slice of a key has left its position at the key's end */
    sort->end = sort->position + (sort->slices - 1) * keys;
}
