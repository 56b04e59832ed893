/* What the machine lacks is named, with the remedy: needs root, who makes small file systems in a
 * mount namespace of its own. */
#include "tests/unit/shm_fixture.h"

#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "shm/arena.h"

#define MIB (UINT64_C(1) << 20)

static const char pages_path[] = "/proc/sys/vm/nr_hugepages";
static char directory[64];
static unsigned long pages_before;

static bool write_pages(unsigned long n)
{
    FILE *f = fopen(pages_path, "we");
    if (!f)
        return false;
    bool ok = fprintf(f, "%lu", n) > 0;
    return fclose(f) == 0 && ok;
}

static unsigned long read_pages(void)
{
    unsigned long n = 0;
    FILE *f = fopen(pages_path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%lu", &n) != 1)
        n = 0;
    fclose(f);
    return n;
}

/* Mounts, in this namespace only; the last one on the directory goes again with unmount. */
static void mount_on(const char *path, const char *type, const char *options)
{
    int rc = mount("none", path, type, MS_NOSUID | MS_NODEV, options);
    if (rc != 0)
        print_error("mount -t %s -o %s none %s failed\n", type, options, path);
    assert_int_equal(rc, 0);
}

static struct arena_options options(enum arena_kind kind, uint64_t bytes)
{
    return (struct arena_options){.kind = kind, .bytes = bytes, .name = fixture_name("host")};
}

static void small_dev_shm(void **state)
{
    (void)state;
    struct arena_options o = options(ARENA_POSIX, 128 * MIB);
    struct arena_desc desc = fixture_arena();
    struct arena *a;
    struct ledger_lock *lock;
    struct ledger *l;
    mount_on("/dev/shm", "tmpfs", "size=64m");
    assert_refused(arena_create(&a, &o), ST_RESOURCE,
                   "128 MiB needed, /dev/shm has 64 of 64 MiB free (df /dev/shm; enlarge it: mount "
                   "-o remount,size=129M /dev/shm, in a container --shm-size=129m");
    o.bytes = 60 * MIB;
    assert_done(arena_create(&a, &o));
    /* and the ledger finds no more room */
    assert_done(ledger_lock_acquire(&lock, fixture_lock_path()));
    assert_refused(ledger_create(&l, lock, fixture_name("ledger"), 1, 20000, &desc), ST_RESOURCE,
                   "No space left on device (df /dev/shm");
    assert_int_equal(shm_open(fixture_name("ledger"), O_RDONLY, 0), -1);
    ledger_lock_release(lock);
    unlink(fixture_lock_path());
    assert_done(arena_unlink(a));
    arena_detach(a);
    assert_int_equal(umount("/dev/shm"), 0);
}

static void no_hugetlbfs(void **state)
{
    (void)state;
    struct arena_options o = options(ARENA_HUGETLB, 4 * MIB);
    struct arena *a;
    assert_refused(arena_create(&a, &o), ST_RESOURCE, "no hugetlbfs is mounted (mkdir");
    o.mount = directory;
    assert_refused(arena_create(&a, &o), ST_RESOURCE, "is not a hugetlbfs mount (mount -t");
}

static void no_huge_pages(void **state)
{
    (void)state;
    struct arena_options o = options(ARENA_HUGETLB, 4 * MIB);
    struct arena *a;
    if (pages_before != 0) {
        print_message("skipped: this machine's huge pages are in use\n");
        skip();
    }
    mount_on(directory, "hugetlbfs", "pagesize=2M");
    assert_refused(arena_create(&a, &o), ST_RESOURCE,
                   "huge pages: 2 of 2 MiB needed, 0 of 0 are free (sysctl -w vm.nr_hugepages=2)");
    o.kind = ARENA_AUTO;
    assert_done(arena_create(&a, &o));
    assert_int_equal(arena_desc(a)->kind, ARENA_POSIX);
    assert_non_null(strstr(arena_warning(a), "sysctl -w vm.nr_hugepages=2"));
    assert_done(arena_unlink(a));
    arena_detach(a);
    assert_int_equal(umount(directory), 0);
}

/* Bytes through two views of an arena on huge pages, and what of them the system says. */
static void use_huge_pages(struct arena_options o)
{
    struct arena *a, *reader;
    struct arena_map map, all;
    assert_done(arena_create(&a, &o));
    const struct arena_desc *d = arena_desc(a);
    const struct extent extents[] = {{6 * MIB, 2 * MIB}, {0, 4 * MIB}};
    assert_int_equal(d->kind, ARENA_HUGETLB);
    assert_int_equal(d->page, 2 * MIB);
    assert_string_equal(arena_warning(a), "");
    assert_done(arena_attach(&reader, d, ARENA_READ));
    assert_done(arena_map_slice(&map, a, extents, 2, ARENA_WRITE));
    memset(map.base, 0x5a, map.bytes);
    assert_done(arena_map_all(&all, reader));
    const unsigned char *bytes = all.base;
    assert_int_equal(bytes[0], 0x5a);
    assert_int_equal(bytes[4 * MIB], 0);
    assert_int_equal(bytes[8 * MIB - 1], 0x5a);
    const struct extent small = {4096, 4096};
    assert_refused(arena_map_slice(&map, a, &small, 1, ARENA_READ), ST_INPUT, "whole pages");
    arena_unmap(&all);
    arena_unmap(&map);
    arena_detach(reader);
    arena_detach(a); /* not unlinked: the next one finds a dead run's object */
}

static void huge_pages(void **state)
{
    (void)state;
    struct arena_options o = options(ARENA_HUGETLB, 8 * MIB);
    struct arena *a;
    if (pages_before != 0 || !write_pages(6) || read_pages() < 6) {
        print_message("skipped: huge pages are in use or cannot be reserved here\n");
        skip();
    }
    mount_on(directory, "hugetlbfs", "pagesize=2M");
    use_huge_pages(o);
    o.kind = ARENA_AUTO;
    use_huge_pages(o);
    /* the leftover holds 4 of 6 pages: another kind of arena frees them all the same */
    o.kind = ARENA_POSIX;
    assert_done(arena_create(&a, &o));
    arena_detach(a);
    o.kind = ARENA_HUGETLB;
    o.bytes = 12 * MIB;
    assert_done(arena_create(&a, &o));
    assert_int_equal(shm_open(o.name, O_RDONLY, 0), -1);
    assert_done(arena_unlink(a));
    arena_detach(a);
    o.bytes = 14 * MIB;
    assert_refused(arena_create(&a, &o), ST_RESOURCE, "7 of 2 MiB needed, 6 of 6 are free");
    o.bytes = 3 * MIB;
    assert_refused(arena_create(&a, &o), ST_INPUT, "multiple of its page, 2097152");
    struct arena_options p = {.kind = ARENA_PRIVATE, .bytes = 8 * MIB};
    assert_done(arena_create(&a, &p));
    assert_int_equal(arena_desc(a)->page, 2 * MIB);
    arena_detach(a);
    assert_int_equal(umount(directory), 0);

    /* a mount whose own size is too small: the reservation itself says no */
    mount_on(directory, "hugetlbfs", "pagesize=2M,size=4M");
    o.bytes = 8 * MIB;
    assert_refused(arena_create(&a, &o), ST_RESOURCE, "reserving 8 MiB: No space left");
    char path[128];
    snprintf(path, sizeof path, "%s%s", directory, o.name);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(umount(directory), 0);
}

static void unwritable_mount(void **state)
{
    (void)state;
    struct arena_options o = options(ARENA_HUGETLB, 4 * MIB);
    struct arena *a;
    mount_on(directory, "hugetlbfs", "pagesize=2M,mode=0755");
    assert_int_equal(seteuid(65534), 0);
    enum status st = arena_create(&a, &o);
    assert_int_equal(seteuid(0), 0);
    assert_refused(st, ST_RESOURCE, "Permission denied for user 65534 (mount -o remount,uid=65534");
    assert_int_equal(umount(directory), 0);
}

static int enter(void **state)
{
    (void)state;
    pages_before = read_pages();
    snprintf(directory, sizeof directory, "/tmp/pinion-test-%ld-huge", (long)getpid());
    return mkdir(directory, 0755);
}

static int leave(void **state)
{
    (void)state;
    if (pages_before == 0 && read_pages() != 0)
        write_pages(0);
    return rmdir(directory);
}

/* Unmounts every hugetlbfs, in this namespace only. */
static bool unmount_hugetlbfs(void)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    struct mntent *entry;
    bool ok = mounts != NULL;
    while (ok && (entry = getmntent(mounts)))
        if (strcmp(entry->mnt_type, "hugetlbfs") == 0)
            ok = umount2(entry->mnt_dir, MNT_DETACH) == 0;
    if (mounts)
        endmntent(mounts);
    return ok;
}

/* What this machine or user lacks for the tests, NULL if nothing. */
static const char *prepare(void)
{
    if (geteuid() != 0)
        return "needs root";
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return "needs a mount namespace of its own";
    return unmount_hugetlbfs() ? NULL : "needs to unmount every hugetlbfs";
}

int main(void)
{
    const char *lacks = prepare();
    if (lacks) {
        printf("skipped: %s\n", lacks);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_dev_shm),    cmocka_unit_test(no_hugetlbfs),
        cmocka_unit_test(no_huge_pages),    cmocka_unit_test(huge_pages),
        cmocka_unit_test(unwritable_mount),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
