/* No object that is foreign, old, cut off or edited is attached to or gone on with, each refused
 * by name; one that a killed coordinator left is. */
#include "tests/unit/shm_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "shm/ledger_view.h"
#include "shm/process.h"

static struct ledger_lock *lock;
static char name[64];

/* A ledger with one slice in each state, left by a coordinator that is gone. */
static int make_ledger(void **state)
{
    struct arena_desc arena = fixture_arena();
    struct ledger *l;
    uint16_t synth;
    (void)state;
    snprintf(name, sizeof name, "%s", fixture_name("attach"));
    assert_done(ledger_lock_acquire(&lock, fixture_lock_path()));
    assert_done(ledger_create(&l, lock, name, FIXTURE_CLIENTS, FIXTURE_SLOTS, &arena));
    assert_done(ledger_client_add(l, &synth, CLIENT_SYNTH, getpid(), 1, 5));
    for (enum slot_state end = SLOT_WRITING; end < SLOT_STATES; end++) {
        struct slice_record r = fixture_slice(end);
        struct handle h;
        assert_done(ledger_grant(l, &h, synth, &r));
        for (enum slot_state s = SLOT_SUBMITTED; s <= end && end != SLOT_QUARANTINE; s++) {
            struct publication p = {.state = s, .client = CLIENT_NONE, .epoch = 9};
            assert_done(ledger_publish(l, h, &p));
        }
    }
    ledger_detach(l);
    return 0;
}

static int remove_ledger(void **state)
{
    (void)state;
    assert_done(ledger_unlink(name));
    ledger_lock_release(lock);
    unlink(fixture_lock_path());
    return 0;
}

/* The object's bytes, to be edited. */
struct image {
    unsigned char *bytes;
    size_t size;
};

static struct image image_open(void)
{
    struct stat s;
    int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &s), 0);
    struct image image = {.size = (size_t)s.st_size};
    image.bytes = mmap(NULL, image.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(image.bytes != MAP_FAILED);
    close(fd);
    return image;
}

static enum status try_attach(void)
{
    struct ledger *l;
    enum status st = ledger_attach(&l, name);
    if (st == ST_OK)
        ledger_detach(l);
    return st;
}

static enum status try_adopt(void)
{
    struct ledger *l;
    enum status st = ledger_adopt(&l, lock, name);
    if (st == ST_OK)
        ledger_detach(l);
    return st;
}

static void good_object(void **state)
{
    (void)state;
    assert_done(try_attach());
    assert_done(try_adopt());
}

static void absent_and_incomplete(void **state)
{
    (void)state;
    struct image image = image_open();
    uint64_t magic = LEDGER_MAGIC, zero = 0;
    memcpy(image.bytes, &zero, 8);
    assert_refused(try_attach(), ST_NO_DAEMON, "not complete");
    assert_refused(try_adopt(), ST_NO_DAEMON, "not complete");
    memcpy(image.bytes, &magic, 8);
    munmap(image.bytes, image.size);
    int fd = shm_open(name, O_RDWR, 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    close(fd);
    assert_refused(try_attach(), ST_NO_DAEMON, "not complete");
    assert_done(ledger_unlink(name));
    assert_refused(try_attach(), ST_NO_DAEMON, "is pinion-coord running?");
    assert_refused(try_adopt(), ST_NO_DAEMON, "is pinion-coord running?");
}

/* One field of the header changed: attach and adopt both refuse, with this in the message. */
static void edited(size_t at, const void *bytes, size_t n, enum status status, const char *text)
{
    struct image image = image_open();
    unsigned char saved[64];
    assert_true(n <= sizeof saved && at + n <= image.size);
    memcpy(saved, image.bytes + at, n);
    memcpy(image.bytes + at, bytes, n);
    assert_refused(try_attach(), status, text);
    /* of another version, in which no client is alive: nothing that could be gone on with */
    bool version = at == offsetof(struct ledger_header, version);
    assert_refused(try_adopt(), version ? ST_NO_DAEMON : status, version ? "nobody uses it" : text);
    memcpy(image.bytes + at, saved, n);
    munmap(image.bytes, image.size);
    assert_done(try_attach());
}

static void edited_headers(void **state)
{
    (void)state;
#define EDIT(field, type, value, status, text)                                                     \
    edited(offsetof(struct ledger_header, field), &(type){value}, sizeof(type), status, text)
    EDIT(magic, uint64_t, LEDGER_MAGIC + 1, ST_INPUT, "not a ledger");
    EDIT(version, uint32_t, LEDGER_VERSION + 1, ST_RESOURCE, "layout version 2");
    EDIT(version, uint32_t, 0, ST_RESOURCE, "layout version 0");
    EDIT(header_bytes, uint32_t, 8192, ST_INPUT, "header size 8192");
    EDIT(total_bytes, uint64_t, 1, ST_INPUT, "total size 1");
    EDIT(total_bytes, uint64_t, UINT64_MAX, ST_INPUT, "total size");
    EDIT(boot_id, uint8_t, 0, ST_NO_DAEMON, "earlier boot");
    EDIT(owner_uid, uint32_t, geteuid() + 1, ST_RESOURCE, "runs as user");
    EDIT(clients_offset, uint32_t, 0, ST_INPUT, "client table's offset");
    EDIT(client_bytes, uint32_t, 0, ST_INPUT, "client size 0");
    EDIT(client_count, uint32_t, 0, ST_INPUT, "client count 0");
    EDIT(client_count, uint32_t, UINT32_MAX, ST_INPUT, "client count");
    EDIT(client_count, uint32_t, FIXTURE_CLIENTS + 64, ST_INPUT, "slot table's offset");
    EDIT(slots_offset, uint32_t, 4096, ST_INPUT, "slot table's offset 4096");
    EDIT(slot_bytes, uint32_t, 511, ST_INPUT, "slot size 511");
    EDIT(slot_count, uint32_t, 0, ST_INPUT, "slot count 0");
    EDIT(slot_count, uint32_t, UINT32_MAX, ST_INPUT, "slot count");
    EDIT(slot_count, uint32_t, FIXTURE_SLOTS + 8, ST_INPUT, "total size");
    EDIT(instance, uint64_t, 0, ST_INPUT, "instance 0");
    EDIT(arena.kind, uint32_t, ARENA_AUTO, ST_INPUT, "arena of kind 0");
    EDIT(arena.kind, uint32_t, ARENA_PRIVATE, ST_INPUT, "arena of kind 3");
    EDIT(arena.reserved, uint32_t, 1, ST_INPUT, "arena of kind");
    EDIT(arena.bytes, uint64_t, 0, ST_INPUT, "0 bytes");
    EDIT(arena.bytes, uint64_t, FIXTURE_PAGE + 1, ST_INPUT, "4097 bytes");
    EDIT(arena.bytes, uint64_t, UINT64_MAX - 4095, ST_INPUT, "arena of kind");
    EDIT(arena.page, uint64_t, 0, ST_INPUT, "page 0");
    EDIT(arena.page, uint64_t, 4097, ST_INPUT, "page 4097");
    EDIT(arena.chunk, uint64_t, 0, ST_INPUT, "chunk 0");
    EDIT(arena.chunk, uint64_t, 3 * FIXTURE_PAGE, ST_INPUT, "chunk 12288");
    EDIT(arena.chunk, uint64_t, UINT64_C(1) << 37, ST_INPUT, "chunk");
#undef EDIT
    struct image image = image_open();
    memset(image.bytes + offsetof(struct ledger_header, arena.name), 'x', ARENA_NAME_BYTES);
    assert_refused(try_attach(), ST_INPUT, "without an end");
    munmap(image.bytes, image.size);
}

static void every_length_but_its_own(void **state)
{
    (void)state;
    off_t whole = (off_t)ledger_total_bytes(FIXTURE_CLIENTS, FIXTURE_SLOTS);
    int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, whole + 1), 0);
    assert_refused(try_attach(), ST_INPUT, "truncated");
    for (off_t size = whole - 1; size > 0; size = size > 512 ? size - 509 : size - 1) {
        assert_int_equal(ftruncate(fd, size), 0);
        assert_refused(try_attach(), ST_INPUT, "truncated");
        assert_refused(try_adopt(), ST_INPUT, "truncated");
    }
    close(fd);
}

static void open_to_others(void **state)
{
    (void)state;
    int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
    assert_true(fd >= 0 && fchmod(fd, 0640) == 0);
    assert_refused(try_attach(), ST_RESOURCE, "mode 0640");
    close(fd);
}

/* Another version, and a client that lives: its pid, from the frozen part alone. */
static void other_version_in_use(void **state)
{
    (void)state;
    struct image image = image_open();
    uint32_t version = LEDGER_VERSION + 1;
    uint64_t start;
    char pid[32];
    memcpy(image.bytes + offsetof(struct ledger_header, version), &version, sizeof version);
    assert_done(process_start_time(&start, getpid()));
    memcpy(image.bytes + LEDGER_HEADER_BYTES + offsetof(struct client_entry, start_time), &start,
           8);
    snprintf(pid, sizeof pid, "stop pid %ld", (long)getpid());
    assert_refused(try_adopt(), ST_RESOURCE, pid);
    /* hostile tables are not followed */
    static const uint32_t hostile[] = {0, 1, 4, 23, 0x7ffffff8, 0xfffffff8, UINT32_MAX};
    for (size_t field = offsetof(struct ledger_header, clients_offset);
         field <= offsetof(struct ledger_header, client_count); field += 4) {
        for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
            uint32_t saved;
            memcpy(&saved, image.bytes + field, 4);
            memcpy(image.bytes + field, &hostile[i], 4);
            assert_int_not_equal(try_adopt(), ST_OK);
            status_clear();
            memcpy(image.bytes + field, &saved, 4);
        }
    }
    munmap(image.bytes, image.size);
}

/* A table entry changed: adopt refuses it. */
static void edited_entry(size_t at, uint64_t value, const char *text)
{
    struct image image = image_open();
    uint64_t saved;
    memcpy(&saved, image.bytes + at, 8);
    memcpy(image.bytes + at, &value, 8);
    assert_refused(try_adopt(), ST_INPUT, text);
    memcpy(image.bytes + at, &saved, 8);
    munmap(image.bytes, image.size);
    assert_done(try_adopt());
}

static void edited_records(void **state)
{
    (void)state;
    /* slot i is in state i + 1 */
    size_t slot = ledger_slots_offset(FIXTURE_CLIENTS), next = slot + LEDGER_SLOT_BYTES;
    size_t client = LEDGER_HEADER_BYTES;
#define SLOT(field, value, text)                                                                   \
    edited_entry(slot + offsetof(struct slot_entry, field), value, text)
    SLOT(word, word_make(99, 0, 0, 1), "slot 0: state 99");
    SLOT(word, word_make(SLOT_WRITING, 0x80, 0, 1), "flags");
    SLOT(word, word_make(SLOT_WRITING, 0, 0, 0), "generation 0");
    SLOT(word, word_make(SLOT_WRITING, 0, 0, GENERATION_RETIRED), "generation");
    SLOT(word, word_make(SLOT_FREE, 0, CLIENT_NONE, 0), "generation 0");
    SLOT(word, word_make(SLOT_WRITING, 0, 7, 1), "client 7, which does not exist");
    SLOT(word, word_make(SLOT_WRITING, 0, CLIENT_NONE, 1), "does not exist");
    SLOT(word, word_make(SLOT_COPYING, 0, CLIENT_NONE, 1), "without an epoch");
    SLOT(counts, counts_make(255, 255, 0), "more than");
    SLOT(w_bytes, UINT64_MAX, "too large");
    SLOT(extent[0].offset, UINT64_MAX, "whole pages");
    SLOT(extent[0].bytes, 0, "empty");
#undef SLOT
    edited_entry(next + offsetof(struct slot_entry, extent), 5 * FIXTURE_PAGE,
                 "slots 0 and 1 both hold");
    edited_entry(client, word_make(CLIENT_STATES, CLIENT_SYNTH, 0, 1), "client 0");
    edited_entry(client, word_make(CLIENT_LIVE, 0, 0, 1), "client 0");
    edited_entry(client + 8, 0, "pid 0");
    edited_entry(client + 8, UINT64_C(1) << 31, "pid");
    edited_entry(client + 24, 0, "incarnation 0");
    edited_entry(client, 0, "does not exist"); /* forgotten, but slot 0 names it */
}

/* Whatever the bytes: refused or walked, never a crash. */
static void random_damage(void **state)
{
    (void)state;
    uint64_t seed = fixture_seed(20262);
    struct image image = image_open();
    unsigned char *good = malloc(image.size);
    unsigned adopted = 0, refused = 0;
    assert_non_null(good);
    memcpy(good, image.bytes, image.size);
    for (int round = 0; round < 3000; round++) {
        unsigned hits = 1 + fixture_random(&seed) % 4;
        for (unsigned i = 0; i < hits; i++) {
            size_t part = fixture_random(&seed) % 3;
            size_t base = part == 0 ? 8 : part == 1 ? LEDGER_HEADER_BYTES : 8192;
            size_t span = part == 0 ? 160 : part == 1 ? 128 : 6 * LEDGER_SLOT_BYTES;
            image.bytes[base + fixture_random(&seed) % span] ^= 1U << fixture_random(&seed) % 8;
        }
        struct ledger *l;
        if (ledger_adopt(&l, lock, name) == ST_OK) {
            struct slice_record r;
            for (uint32_t i = 0; i < ledger_slots(l); i++)
                assert_done(ledger_read_slot(l, i, &r));
            ledger_detach(l);
            adopted++;
        } else {
            refused++;
        }
        status_clear();
        memcpy(image.bytes, good, image.size);
    }
    print_message("%u adopted, %u refused\n", adopted, refused);
    assert_true(adopted > 0 && refused > 0);
    munmap(image.bytes, image.size);
    free(good);
}

/* A coordinator is killed; the next one goes on with what it left. */
static void killed_coordinator(void **state)
{
    (void)state;
    const struct arena_desc arena = fixture_arena();
    struct handle h = {0};
    int ready[2];
    assert_done(ledger_unlink(name));
    ledger_lock_release(lock);
    const char *path = fixture_lock_path();
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        struct slice_record r = fixture_slice(1);
        struct ledger *l;
        uint16_t synth;
        if (ledger_lock_acquire(&lock, path) != ST_OK ||
            ledger_create(&l, lock, name, FIXTURE_CLIENTS, FIXTURE_SLOTS, &arena) != ST_OK ||
            ledger_client_add(l, &synth, CLIENT_SYNTH, 4, 4, 4) != ST_OK ||
            ledger_grant(l, &h, synth, &r) != ST_OK || write(ready[1], &h, sizeof h) != sizeof h)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &h, sizeof h), sizeof h);
    close(ready[0]);

    char pid[64];
    snprintf(pid, sizeof pid, "runs already (pid %ld)", (long)child);
    assert_refused(ledger_lock_acquire(&lock, path), ST_RESOURCE, pid);
    struct ledger *reader, *l;
    assert_done(ledger_attach(&reader, name));
    assert_int_equal(ledger_coordinator_pid(reader), child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);

    struct slice_record r;
    assert_done(ledger_lock_acquire(&lock, path));
    assert_done(ledger_adopt(&l, lock, name));
    assert_int_equal(ledger_instance(l), ledger_instance(reader));
    assert_int_equal(ledger_coordinator_pid(reader), getpid());
    assert_done(ledger_read(l, h, &r));
    assert_int_equal(r.state, SLOT_WRITING);
    assert_done(ledger_free(l, h));
    assert_refused(ledger_read(reader, h, &r), ST_STALE, "reclaimed");
    ledger_detach(reader);
    ledger_detach(l);
}

static void create_replaces_and_refuses(void **state)
{
    (void)state;
    struct arena_desc arena = fixture_arena();
    struct ledger *old, *l = NULL;
    assert_done(ledger_attach(&old, name));
    assert_done(ledger_create(&l, lock, name, 1, 1, &arena));
    assert_int_not_equal(ledger_instance(old), ledger_instance(l));
    ledger_detach(old);
    ledger_detach(l);
    l = NULL;
    assert_refused(ledger_create(&l, lock, name, 0, 1, &arena), ST_INPUT, "0 clients");
    assert_refused(ledger_create(&l, lock, name, 1, 0, &arena), ST_INPUT, "0 slots");
    assert_refused(ledger_create(&l, lock, name, 1, LEDGER_MAX_SLOTS + 1, &arena), ST_INPUT,
                   "slots");
    arena.page = 1000;
    assert_refused(ledger_create(&l, lock, name, 1, 1, &arena), ST_INPUT, "page 1000");
    assert_null(l);
    assert_refused(try_attach(), ST_NO_DAEMON, "there is none");
    assert_refused(ledger_lock_acquire(&(struct ledger_lock *){NULL}, "/nonexistent/coord.lock"),
                   ST_RESOURCE, "/nonexistent/coord.lock");
}

int main(void)
{
#define WITH_LEDGER(test) cmocka_unit_test_setup_teardown(test, make_ledger, remove_ledger)
    const struct CMUnitTest tests[] = {
        WITH_LEDGER(good_object),        WITH_LEDGER(absent_and_incomplete),
        WITH_LEDGER(edited_headers),     WITH_LEDGER(every_length_but_its_own),
        WITH_LEDGER(open_to_others),     WITH_LEDGER(other_version_in_use),
        WITH_LEDGER(edited_records),     WITH_LEDGER(random_damage),
        WITH_LEDGER(killed_coordinator), WITH_LEDGER(create_replaces_and_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
