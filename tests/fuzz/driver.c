/* Runs a fuzz target without libFuzzer: every seed as it is, then mutations that are the same on
 * every machine.
 *
 *     fuzz_NAME MUTATIONS FILE_OR_DIRECTORY... */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

enum { MAX_SEEDS = 256, GROWTH = 64 };

struct seed {
    uint8_t *data;
    size_t size;
};
static struct seed seeds[MAX_SEEDS];
static size_t n_seeds;

/* xorshift64* (Vigna, 2016) */
static uint64_t state = 0x9e3779b97f4a7c15ULL;

static uint64_t random_below(uint64_t n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545f4914f6cdd1dULL >> 16) % n;
}

static void add_file(const char *path)
{
    struct file_map map;
    if (file_map(&map, path) != ST_OK) {
        fprintf(stderr, "%s\n", status_message());
        exit(1);
    }
    CHECK(n_seeds < MAX_SEEDS);
    struct seed *seed = &seeds[n_seeds++];
    seed->data = malloc(map.size);
    CHECK(seed->data != NULL);
    memcpy(seed->data, map.data, map.size);
    seed->size = map.size;
    file_unmap(&map);
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void add(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, visible, alphasort);
    if (n < 0) {
        add_file(path);
        return;
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        add_file(name);
        free(entries[i]);
    }
    free(entries);
}

/* A copy of exactly its size, so that a sanitizer sees a read behind the end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    CHECK(copy != NULL);
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void put_interesting(uint8_t *data, size_t size)
{
    static const uint64_t values[] = {0,       1,          2,          0x7f,
                                      0xff,    0x7fffffff, 0x80000000, 0xffffffff,
                                      1 << 16, 1ULL << 63, UINT64_MAX, UINT64_MAX - 11};
    size_t width = random_below(2) ? 4 : 8;
    if (size < width)
        return;
    uint64_t value = values[random_below(sizeof values / sizeof values[0])];
    memcpy(data + random_below(size - width + 1), &value, width);
}

/* Moves up to 64 bytes from anywhere to anywhere. */
static void copy_within(uint8_t *data, size_t size)
{
    size_t length = 1 + random_below(size < 64 ? size : 64);
    memmove(data + random_below(size - length + 1), data + random_below(size - length + 1), length);
}

/* data has GROWTH more bytes than size; returns the new size. */
static size_t mutate(uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    switch (random_below(6)) {
    case 0:
        data[random_below(size)] ^= (uint8_t)(1U << random_below(8));
        return size;
    case 1:
        data[random_below(size)] = (uint8_t)random_below(256);
        return size;
    case 2:
        put_interesting(data, size);
        return size;
    case 3:
        copy_within(data, size);
        return size;
    case 4:
        return random_below(size) + 1;
    default: {
        size_t grow = random_below(GROWTH);
        for (size_t i = 0; i < grow; i++)
            data[size + i] = (uint8_t)random_below(256);
        return size + grow;
    }
    }
}

static void run_mutation(const struct seed *seed)
{
    enum { MAX_STEPS = 4 };
    size_t size = seed->size;
    uint8_t *data = malloc(size + (size_t)MAX_STEPS * GROWTH);
    CHECK(data != NULL);
    memcpy(data, seed->data, size);
    for (uint64_t steps = 1 + random_below(MAX_STEPS); steps > 0; steps--)
        size = mutate(data, size);
    run(data, size);
    free(data);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s MUTATIONS FILE_OR_DIRECTORY...\n", argv[0]);
        return 2;
    }
    unsigned long mutations = strtoul(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++)
        add(argv[i]);
    const size_t n = n_seeds;
    if (n == 0) {
        fprintf(stderr, "no seeds\n");
        return 2;
    }
    printf("%zu seeds, %lu mutations, random seed 0x%llx\n", n, mutations,
           (unsigned long long)state);
    run((const uint8_t *)"", 0);
    for (size_t i = 0; i < n; i++)
        run(seeds[i].data, seeds[i].size);
    for (unsigned long i = 0; i < mutations; i++)
        run_mutation(&seeds[i % n]);
    for (size_t i = 0; i < n; i++)
        free(seeds[i].data);
    return 0;
}
