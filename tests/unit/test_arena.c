/* The arena in POSIX shared memory and in private: whole when it is made, mapped as granted, and
 * refused when it is not the one meant. */
#include "tests/unit/shm_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "shm/arena.h"

#define MIB (UINT64_C(1) << 20)

static struct arena_options posix_options(void)
{
    return (struct arena_options){
        .kind = ARENA_POSIX, .bytes = 4 * MIB, .chunk = MIB, .name = fixture_name("arena")};
}

static int make_arena(void **state)
{
    struct arena_options o = posix_options();
    struct arena *a;
    assert_done(arena_create(&a, &o));
    *state = a;
    return 0;
}

static int remove_arena(void **state)
{
    assert_done(arena_unlink(*state));
    assert_done(arena_unlink(*state));
    arena_detach(*state);
    return 0;
}

/* The flags that the kernel shows for the mapping at this address. */
static void mapping_flags(char out[512], const void *address)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    char line[512], start[32];
    bool inside = false;
    assert_non_null(f);
    snprintf(start, sizeof start, "%08lx-", (unsigned long)(uintptr_t)address);
    out[0] = '\0';
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, start, strlen(start)) == 0)
            inside = true;
        if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            snprintf(out, sizeof line, "%s", line);
            break;
        }
    }
    fclose(f);
}

static void reserved_when_made(void **state)
{
    const struct arena_desc *d = arena_desc(*state);
    struct stat s;
    int fd = shm_open(d->name, O_RDONLY | O_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &s), 0);
    close(fd);
    assert_int_equal(d->kind, ARENA_POSIX);
    assert_int_equal(d->page, sysconf(_SC_PAGESIZE));
    assert_int_equal(s.st_size, 4 * MIB);
    assert_true(s.st_blocks * 512 >= s.st_size);
    assert_int_equal(s.st_mode & 07777, 0600);
    assert_int_equal(d->inode, s.st_ino);
    assert_string_equal(arena_warning(*state), "");
}

static void slices_are_mapped_back_to_back(void **state)
{
    struct arena *writer, *reader;
    struct arena_map w, r, all, none = {0};
    const struct arena_desc *d = arena_desc(*state);
    const struct extent extents[] = {{7 * d->page, 2 * d->page}, {3 * d->page, d->page}};
    assert_done(arena_attach(&writer, d, ARENA_WRITE));
    assert_done(arena_attach(&reader, d, ARENA_READ));
    assert_done(arena_map_slice(&w, writer, extents, 2, ARENA_WRITE));
    assert_int_equal(w.bytes, 3 * d->page);
    for (size_t i = 0; i < w.bytes; i++)
        ((unsigned char *)w.base)[i] = (unsigned char)(i / d->page + 1);
    assert_refused(arena_map_slice(&r, reader, extents, 2, ARENA_WRITE), ST_INTERNAL, "read-only");
    assert_done(arena_map_slice(&r, reader, extents, 2, ARENA_READ));
    assert_memory_equal(r.base, w.base, w.bytes);
    assert_done(arena_map_all(&all, reader));
    assert_int_equal(all.bytes, d->bytes);
    const unsigned char *bytes = all.base;
    assert_int_equal(bytes[7 * d->page], 1);
    assert_int_equal(bytes[8 * d->page], 2);
    assert_int_equal(bytes[3 * d->page], 3);
    assert_int_equal(bytes[4 * d->page], 0);

    char flags[512];
    mapping_flags(flags, w.base);
    assert_true(strstr(flags, " wr") && strstr(flags, " dc") && strstr(flags, " dd"));
    mapping_flags(flags, all.base);
    assert_true(!strstr(flags, " wr") && strstr(flags, " dc") && strstr(flags, " dd"));

    assert_done(arena_scrub(writer, &extents[0], 1));
    assert_int_equal(bytes[7 * d->page], 0);
    assert_int_equal(bytes[9 * d->page - 1], 0);
    assert_int_equal(bytes[3 * d->page], 3);
    assert_refused(arena_scrub(reader, extents, 1), ST_INTERNAL, "read-only");
    arena_detach(writer);
    assert_int_equal(((unsigned char *)w.base)[2 * d->page], 3); /* outlives the view */
    arena_unmap(&w);
    assert_null(w.base);
    arena_unmap(&w);
    arena_unmap(&none);
    arena_unmap(&r);
    arena_unmap(&all);
    arena_detach(reader);
    arena_detach(NULL);
}

/* A forked child has none of it: not mapped at all. */
static void children_inherit_no_slice(void **state)
{
    struct arena_map map;
    const struct arena_desc *d = arena_desc(*state);
    const struct extent e = {0, 2 * d->page};
    assert_done(arena_map_slice(&map, *state, &e, 1, ARENA_WRITE));
    assert_int_equal(msync(map.base, map.bytes, MS_ASYNC), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(msync(map.base, map.bytes, MS_ASYNC) == -1 && errno == ENOMEM ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    arena_unmap(&map);
}

static void hostile_extents(void **state)
{
    struct arena_map map = {.base = NULL, .bytes = 7};
    const uint64_t page = arena_desc(*state)->page, end = 4 * MIB;
    const struct extent good = {0, page};
    const struct extent bad[] = {{0, 0},
                                 {1, page},
                                 {0, page - 1},
                                 {end, page},
                                 {end - page, 2 * page},
                                 {0, end + page},
                                 {page, end},
                                 {UINT64_MAX - page + 1, page},
                                 {page, UINT64_MAX - page + 1},
                                 {0, UINT64_MAX},
                                 {0, (uint64_t)1 << 63}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct extent pair[] = {good, bad[i]};
        assert_refused(arena_map_slice(&map, *state, pair, 2, ARENA_READ), ST_INPUT, "extent 1");
    }
    assert_refused(arena_map_slice(&map, *state, &good, 0, ARENA_READ), ST_INPUT, "no extents");
    assert_true(map.base == NULL && map.bytes == 7);
}

static void other_objects_are_refused(void **state)
{
    struct arena *a = NULL;
    const struct arena_desc *good = arena_desc(*state);
    struct arena_desc d = *good;
    d.bytes += d.page;
    assert_refused(arena_attach(&a, &d, ARENA_READ), ST_RESOURCE, "truncated");
    d = *good;
    d.inode++;
    assert_refused(arena_attach(&a, &d, ARENA_READ), ST_RESOURCE, "made again");
    d = *good;
    d.device++;
    assert_refused(arena_attach(&a, &d, ARENA_READ), ST_RESOURCE, "made again");
    d = *good;
    snprintf(d.name, sizeof d.name, "/pinion-test-no-such-arena");
    assert_refused(arena_attach(&a, &d, ARENA_READ), ST_RESOURCE, "restart pinion-coord");
    d = *good;
    d.kind = ARENA_HUGETLB;
    snprintf(d.name, sizeof d.name, "/dev/shm%s", fixture_name("arena"));
    assert_refused(arena_attach(&a, &d, ARENA_READ), ST_RESOURCE, "pages");
    d.kind = ARENA_PRIVATE;
    assert_refused(arena_attach(&a, &d, ARENA_READ), ST_INPUT, "kind");

    int fd = shm_open(good->name, O_RDWR | O_CLOEXEC, 0);
    assert_int_equal(fchmod(fd, 0660), 0);
    assert_refused(arena_attach(&a, good, ARENA_READ), ST_RESOURCE, "mode 0660");
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_int_equal(ftruncate(fd, MIB), 0);
    assert_refused(arena_attach(&a, good, ARENA_READ), ST_RESOURCE, "truncated");
    close(fd);
    assert_null(a);
}

static void deleted_and_made_again(void **state)
{
    struct arena_options o = posix_options();
    struct arena *old = *state, *again, *a;
    assert_done(arena_unlink(old));
    assert_refused(arena_attach(&a, arena_desc(old), ARENA_READ), ST_RESOURCE, "No such file");
    assert_done(arena_create(&again, &o));
    assert_refused(arena_attach(&a, arena_desc(old), ARENA_READ), ST_RESOURCE, "made again");
    assert_done(arena_attach(&a, arena_desc(again), ARENA_READ));
    arena_detach(a);
    arena_detach(again);
}

/* One that a process uses is refused, naming it; once it was killed, the object is replaced. */
static void leftovers(void **state)
{
    struct arena_options o = posix_options();
    struct arena *a;
    const struct arena_desc d = *arena_desc(*state);
    int ready[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    arena_detach(*state);
    pid_t child = fork();
    if (child == 0) {
        if (arena_attach(&a, &d, ARENA_WRITE) != ST_OK || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    char text[64];
    snprintf(text, sizeof text, "1 process of an earlier run still uses it: stop pid %ld",
             (long)child);
    assert_refused(arena_create(&a, &o), ST_RESOURCE, text);
    o.kind = ARENA_AUTO;
    assert_refused(arena_create(&a, &o), ST_RESOURCE, text);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    o.kind = ARENA_POSIX;
    assert_done(arena_create(&a, &o));
    assert_true(arena_desc(a)->inode != d.inode);
    *state = a;
}

static void private_arena(void **state)
{
    (void)state;
    struct arena_options o = {.kind = ARENA_PRIVATE, .bytes = 2 * MIB};
    struct arena *a;
    struct arena_map map;
    assert_done(arena_create(&a, &o));
    const struct extent e = {MIB, MIB};
    uint64_t page = arena_desc(a)->page;
    assert_int_equal(arena_desc(a)->chunk, 1 << 30);
    if (page <= MIB) {
        assert_done(arena_map_slice(&map, a, &e, 1, ARENA_WRITE));
        memset(map.base, 1, map.bytes);
        arena_unmap(&map);
    }
    assert_done(arena_map_all(&map, a));
    assert_int_equal(((unsigned char *)map.base)[2 * MIB - 1], page <= MIB);
    arena_unmap(&map);
    assert_done(arena_unlink(a));
    arena_detach(a);
}

static void auto_says_what_was_lost(void **state)
{
    (void)state;
    struct arena_options o = {.kind = ARENA_AUTO, .bytes = 4 * MIB, .name = fixture_name("auto")};
    struct arena *a;
    assert_done(arena_create(&a, &o));
    if (arena_desc(a)->kind == ARENA_POSIX) {
        assert_non_null(strstr(arena_warning(a), "pages of 4 KiB"));
        assert_non_null(strstr(arena_warning(a), "huge pages: "));
    } else {
        assert_string_equal(arena_warning(a), "");
    }
    assert_done(arena_unlink(a));
    arena_detach(a);
}

static void impossible_requests(void **state)
{
    (void)state;
    struct arena *a = NULL;
    struct arena_options o;
#define WITH(change, status, text)                                                                 \
    o = posix_options(), o.name = fixture_name("bad"), change,                                     \
    assert_refused(arena_create(&a, &o), status, text)
    WITH(o.bytes = 0, ST_INPUT, "0 bytes");
    WITH(o.bytes = 5000, ST_INPUT, "multiple");
    WITH(o.bytes = UINT64_MAX - 4095, ST_INPUT, "multiple");
    WITH(o.bytes = UINT64_C(1) << 60, ST_RESOURCE, "needed");
    WITH(o.chunk = 5000, ST_INPUT, "chunk of 5000");
    WITH(o.chunk = 1024, ST_INPUT, "chunk of 1024");
    WITH(o.chunk = UINT64_C(1) << 37, ST_INPUT, "chunk");
    WITH(o.name = NULL, ST_INPUT, "name");
    WITH(o.name = "arena", ST_INPUT, "name");
    WITH(o.name = "/", ST_INPUT, "name");
    WITH(o.name = "/a/b", ST_INPUT, "name");
    WITH(o.kind = ARENA_KINDS, ST_INPUT, "kind");
    o = (struct arena_options){
        .kind = ARENA_HUGETLB, .bytes = 4 * MIB, .name = fixture_name("bad"), .mount = "/proc"};
    assert_refused(arena_create(&a, &o), ST_RESOURCE, "/proc is not a hugetlbfs mount");
    o = (struct arena_options){.kind = ARENA_PRIVATE, .bytes = UINT64_C(1) << 60};
    assert_refused(arena_create(&a, &o), ST_RESOURCE, "needed");
#undef WITH
    assert_null(a);
    assert_int_equal(shm_open(fixture_name("bad"), O_RDONLY, 0), -1);
}

int main(void)
{
#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make_arena, remove_arena)
    const struct CMUnitTest tests[] = {
        WITH_ARENA(reserved_when_made),
        WITH_ARENA(slices_are_mapped_back_to_back),
        WITH_ARENA(children_inherit_no_slice),
        WITH_ARENA(hostile_extents),
        WITH_ARENA(other_objects_are_refused),
        WITH_ARENA(deleted_and_made_again),
        WITH_ARENA(leftovers),
        cmocka_unit_test(private_arena),
        cmocka_unit_test(auto_says_what_was_lost),
        cmocka_unit_test(impossible_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
