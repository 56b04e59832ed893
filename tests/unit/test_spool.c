/* Uploads arrive whole or not at all, whatever is repeated, skipped or named. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sha256.h"
#include "shm/spool.h"
#include "tests/unit/scratch.h"

enum { SIZE = 3000, MAX = 10000 };

struct fixture {
    void *scratch;
    char dir[PATH_MAX];
    struct spool *s;
    uint8_t bytes[SIZE];
    struct spool_upload upload; /* of bytes, id "job" */
};

static void digest(uint8_t out[32], const void *bytes, size_t len)
{
    struct sha256 h;
    sha256_init(&h);
    sha256_update(&h, bytes, len);
    sha256_final(&h, out);
}

static int set_up(void **state)
{
    static struct fixture f;
    assert_int_equal(scratch_setup(&f.scratch), 0);
    snprintf(f.dir, sizeof f.dir, "%s", scratch_path(&f.scratch, "spool"));
    assert_int_equal(spool_open(&f.s, f.dir, MAX), ST_OK);
    for (int i = 0; i < SIZE; i++)
        f.bytes[i] = (uint8_t)(i * 7 + i / 256);
    f.upload = (struct spool_upload){.id = "job", .uid = 7, .size = SIZE};
    digest(f.upload.sha256, f.bytes, SIZE);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    spool_close(f->s);
    void *spool = strdup(f->dir); /* its level first */
    scratch_teardown(&spool);
    scratch_teardown(&f->scratch);
    status_clear();
    return 0;
}

static void expect(enum status got, enum status st, const char *part)
{
    assert_int_equal(got, st);
    assert_non_null(strstr(status_message(), part));
    status_clear();
}

static void begin(struct fixture *f, uint64_t offset)
{
    uint64_t got = 99999;
    assert_int_equal(spool_begin(f->s, &got, &f->upload, 0), ST_OK);
    assert_int_equal(got, offset);
}

/* Writes bytes [from, to) as the uploader; returns the next offset. */
static uint64_t send(struct fixture *f, size_t from, size_t to)
{
    uint64_t next = 99999;
    assert_int_equal(spool_write(f->s, &next, "job", 7, from, f->bytes + from, to - from, 0),
                     ST_OK);
    return next;
}

static bool exists(struct fixture *f, const char *name)
{
    struct stat info;
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return lstat(path, &info) == 0;
}

static void put_file(struct fixture *f, const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
}

static void upload_becomes_a_file(void **state)
{
    struct fixture *f = *state;
    char path[PATH_MAX + 64];
    uint8_t read_back[SIZE + 1];
    struct stat info;
    uint64_t size;
    begin(f, 0);
    assert_int_equal(send(f, 0, 1000), 1000);
    assert_true(exists(f, "job~"));
    assert_false(exists(f, "job"));
    assert_int_equal(send(f, 1000, SIZE), SIZE);
    assert_int_equal(spool_commit(f->s, "job", 7), ST_OK);
    assert_false(exists(f, "job~"));
    assert_int_equal(spool_path(f->s, path, sizeof path, "job"), ST_OK);
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, read_back, sizeof read_back), SIZE);
    assert_memory_equal(read_back, f->bytes, SIZE);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    close(fd);
    assert_int_equal(spool_size(f->s, &size, "job"), ST_OK);
    assert_int_equal(size, SIZE);
    assert_int_equal(spool_remove(f->s, "job"), ST_OK);
    assert_int_equal(spool_remove(f->s, "job"), ST_OK);
    expect(spool_size(f->s, &size, "job"), ST_INPUT, "no file");
    expect(spool_path(f->s, path, 10, "job"), ST_INPUT, "too long");
}

static void repeats_are_fine_and_gaps_are_not(void **state)
{
    struct fixture *f = *state;
    uint64_t next;
    begin(f, 0);
    send(f, 0, 1000);
    assert_int_equal(send(f, 0, 1000), 1000);
    assert_int_equal(send(f, 200, 300), 1000);
    begin(f, 1000); /* an uploader that lost its connection */
    expect(spool_write(f->s, &next, "job", 7, 1001, f->bytes, 5, 0), ST_INPUT, "goes to 1000");
    expect(spool_write(f->s, &next, "job", 7, 999, f->bytes, 5, 0), ST_INPUT, "goes to 1000");
    expect(spool_write(f->s, &next, "job", 7, 1000, f->bytes, 2001, 0), ST_INPUT, "announced 3000");
    expect(spool_write(f->s, &next, "job", 7, UINT64_MAX, f->bytes, 5, 0), ST_INPUT, "announced");
    expect(spool_commit(f->s, "job", 7), ST_INPUT, "1000 of 3000");
    send(f, 1000, SIZE);
    assert_int_equal(spool_commit(f->s, "job", 7), ST_OK);
    assert_int_equal(spool_commit(f->s, "job", 7), ST_OK); /* all of them may be repeated */
    assert_int_equal(send(f, 1000, SIZE), SIZE);
    begin(f, SIZE);
    f->upload.size--;
    expect(spool_begin(f->s, &next, &f->upload, 0), ST_INPUT, "another request");
}

static void strangers_are_refused(void **state)
{
    struct fixture *f = *state;
    uint64_t next;
    struct spool_upload other = f->upload;
    begin(f, 0);
    other.uid = 8;
    expect(spool_begin(f->s, &next, &other, 0), ST_INPUT, "another upload");
    other = f->upload;
    other.sha256[0] ^= 1;
    expect(spool_begin(f->s, &next, &other, 0), ST_INPUT, "another upload");
    other = f->upload;
    other.size--;
    expect(spool_begin(f->s, &next, &other, 0), ST_INPUT, "another upload");
    expect(spool_write(f->s, &next, "job", 8, 0, f->bytes, 5, 0), ST_INPUT, "another user");
    expect(spool_commit(f->s, "job", 8), ST_INPUT, "another user");
    expect(spool_write(f->s, &next, "none", 7, 0, f->bytes, 5, 0), ST_INPUT, "no upload");
    expect(spool_commit(f->s, "none", 7), ST_INPUT, "no upload");
}

static void digest_is_checked(void **state)
{
    struct fixture *f = *state;
    uint64_t next;
    begin(f, 0);
    f->bytes[5] ^= 1;
    send(f, 0, SIZE);
    expect(spool_commit(f->s, "job", 7), ST_INPUT, "SHA-256");
    assert_false(exists(f, "job~") || exists(f, "job"));
    expect(spool_write(f->s, &next, "job", 7, 0, f->bytes, 5, 0), ST_INPUT, "begin again");
}

static void sizes_and_numbers_are_bounded(void **state)
{
    struct fixture *f = *state;
    uint64_t next;
    struct spool_upload u = f->upload;
    static const uint64_t bad[] = {0, MAX + 1, UINT64_MAX};
    for (int i = 0; i < 3; i++) {
        u.size = bad[i];
        expect(spool_begin(f->s, &next, &u, 0), ST_INPUT, "1 to 10000");
    }
    u.size = MAX;
    for (int i = 0; i < SPOOL_UPLOADS; i++) {
        char id[16];
        snprintf(id, sizeof id, "u%d", i);
        u.id = id;
        u.uid = (uint32_t)(i / SPOOL_UPLOADS_OF_USER);
        assert_int_equal(spool_begin(f->s, &next, &u, i), ST_OK);
    }
    u.id = "more";
    u.uid = 0;
    expect(spool_begin(f->s, &next, &u, 0), ST_RESOURCE, "user 0");
    u.uid = 100;
    expect(spool_begin(f->s, &next, &u, 0), ST_RESOURCE, "try again");
    assert_int_equal(spool_expire(f->s, 100, 100), 1); /* u0 */
    assert_false(exists(f, "u0~"));
    assert_int_equal(spool_begin(f->s, &next, &u, 100), ST_OK);
    spool_abandon(f->s, "more");
    spool_abandon(f->s, "more");
    assert_false(exists(f, "more~"));
    assert_int_equal(spool_expire(f->s, 10000, 100), SPOOL_UPLOADS - 1);
}

static void unsafe_names_never_reach_the_disk(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"", ".", "..", "../x", "/etc/passwd", "a/b", "job~", ".x"};
    char path[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t n;
        struct spool_upload u = f->upload;
        u.id = bad[i];
        expect(spool_begin(f->s, &n, &u, 0), ST_INPUT, "job id");
        expect(spool_write(f->s, &n, bad[i], 7, 0, "x", 1, 0), ST_INPUT, "job id");
        expect(spool_commit(f->s, bad[i], 7), ST_INPUT, "job id");
        expect(spool_remove(f->s, bad[i]), ST_INPUT, "job id");
        expect(spool_size(f->s, &n, bad[i]), ST_INPUT, "job id");
        expect(spool_path(f->s, path, sizeof path, bad[i]), ST_INPUT, "job id");
        spool_abandon(f->s, bad[i]);
    }
}

static void links_are_not_followed(void **state)
{
    struct fixture *f = *state;
    char link[PATH_MAX + 64], target[PATH_MAX + 64];
    uint64_t size;
    snprintf(target, sizeof target, "%s", scratch_path(&f->scratch, "target"));
    snprintf(link, sizeof link, "%s/job~", f->dir);
    assert_int_equal(symlink(target, link), 0);
    begin(f, 0); /* replaces the link */
    send(f, 0, SIZE);
    assert_int_not_equal(access(target, F_OK), 0);
    assert_int_equal(spool_commit(f->s, "job", 7), ST_OK);
    snprintf(link, sizeof link, "%s/linked", f->dir);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    expect(spool_size(f->s, &size, "linked"), ST_RESOURCE, "not a regular file");
}

static bool keep_a(void *arg, const char *id)
{
    ++*(int *)arg;
    return strcmp(id, "a") == 0;
}

static void sweep_leaves_open_jobs(void **state)
{
    struct fixture *f = *state;
    int asked = 0;
    size_t removed;
    char sub[PATH_MAX + 64];
    uint64_t next;
    put_file(f, "a");
    put_file(f, "b");
    put_file(f, "a~");
    put_file(f, ".hidden");
    snprintf(sub, sizeof sub, "%s/directory", f->dir);
    assert_int_equal(mkdir(sub, 0700), 0);
    begin(f, 0);
    assert_int_equal(spool_sweep(f->s, &removed, keep_a, &asked), ST_OK);
    assert_int_equal(removed, 3); /* b, a~, .hidden; the upload went before */
    assert_int_equal(asked, 3);   /* a, b, directory */
    assert_true(exists(f, "a") && exists(f, "directory"));
    assert_false(exists(f, "b") || exists(f, "a~") || exists(f, ".hidden") || exists(f, "job~"));
    expect(spool_write(f->s, &next, "job", 7, 0, f->bytes, 5, 0), ST_INPUT, "begin again");
}

static void directory_must_be_private(void **state)
{
    struct fixture *f = *state;
    struct spool *s = NULL;
    char link[PATH_MAX + 64];
    assert_int_equal(chmod(f->dir, 0750), 0);
    expect(spool_open(&s, f->dir, MAX), ST_RESOURCE, "chmod 700");
    assert_int_equal(chmod(f->dir, 0700), 0);
    snprintf(link, sizeof link, "%s", scratch_path(&f->scratch, "link"));
    assert_int_equal(symlink(f->dir, link), 0);
    expect(spool_open(&s, link, MAX), ST_RESOURCE, "cannot be opened");
    expect(spool_open(&s, scratch_path(&f->scratch, "no/where"), MAX), ST_RESOURCE, "created");
    assert_null(s);
}

static void closing_drops_uploads(void **state)
{
    struct fixture *f = *state;
    begin(f, 0);
    spool_close(f->s);
    f->s = NULL;
    assert_false(exists(f, "job~"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(upload_becomes_a_file),         TEST(repeats_are_fine_and_gaps_are_not),
        TEST(strangers_are_refused),         TEST(digest_is_checked),
        TEST(sizes_and_numbers_are_bounded), TEST(unsafe_names_never_reach_the_disk),
        TEST(links_are_not_followed),        TEST(sweep_leaves_open_jobs),
        TEST(directory_must_be_private),     TEST(closing_drops_uploads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
