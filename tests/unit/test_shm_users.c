/* Nobody but its owner gets at the ledger or the arena, root included: needs root, who becomes
 * other users. */
#include "tests/unit/shm_fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "shm/arena.h"

enum { OWNER = 65533, OTHER = 65534, MIB = 1 << 20 };

static char ledger_name[64], arena_name[64];
static struct arena_desc desc;

/* Runs in a child that has become the user for good; its status is the answer. */
static bool as_user(uid_t uid, bool (*what)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(setuid(uid) == 0 && what() ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static bool is_refused(enum status st, const char *text)
{
    bool ok = st == ST_RESOURCE && strstr(status_message(), text) != NULL;
    if (!ok)
        print_error("status %d, message: %s\n", st, status_message());
    status_clear();
    return ok;
}

static bool owner_attaches(void)
{
    struct ledger *l;
    struct arena *a;
    if (ledger_attach(&l, ledger_name) != ST_OK ||
        arena_attach(&a, ledger_arena(l), ARENA_WRITE) != ST_OK) {
        print_error("%s\n", status_message());
        return false;
    }
    arena_detach(a);
    ledger_detach(l);
    return true;
}

static bool others_cannot_attach_or_replace(void)
{
    struct ledger *l;
    struct arena *a;
    struct arena_options o = {.kind = ARENA_POSIX, .bytes = MIB, .name = arena_name};
    return is_refused(ledger_attach(&l, ledger_name), "belongs to another user") &&
           is_refused(arena_attach(&a, &desc, ARENA_READ), "belongs to another user") &&
           is_refused(arena_attach(&a, &desc, ARENA_WRITE), "belongs to another user") &&
           is_refused(arena_create(&a, &o), "run as its owner");
}

static bool is_refused_everywhere(const char *text)
{
    struct ledger *l;
    struct arena *a;
    return is_refused(ledger_attach(&l, ledger_name), text) &&
           is_refused(arena_attach(&a, &desc, ARENA_READ), text) &&
           is_refused(arena_attach(&a, &desc, ARENA_WRITE), text);
}

static bool sees_that_it_is_anothers(void)
{
    return is_refused_everywhere("belongs to user 65533, this process is user");
}

/* Objects of the owner, made with its rights. */
static void the_owners_alone(void **state)
{
    (void)state;
    struct arena_options o = {.kind = ARENA_POSIX, .bytes = MIB, .name = arena_name};
    struct ledger_lock *lock, *second;
    struct ledger *l;
    struct arena *a;
    assert_int_equal(seteuid(OWNER), 0);
    assert_done(ledger_lock_acquire(&lock, fixture_lock_path()));
    assert_done(arena_create(&a, &o));
    desc = *arena_desc(a);
    assert_done(ledger_create(&l, lock, ledger_name, 1, 1, &desc));
    ledger_detach(l);
    arena_detach(a);
    assert_int_equal(seteuid(0), 0);

    assert_true(as_user(OWNER, owner_attaches));
    assert_true(as_user(OTHER, others_cannot_attach_or_replace));
    /* root may open them, and does not use or remove them by mistake */
    assert_true(sees_that_it_is_anothers());
    assert_true(is_refused(arena_create(&a, &o), "belongs to user 65533: remove it"));
    assert_true(is_refused(ledger_create(&l, lock, ledger_name, 1, 1, &desc), "another user's"));
    assert_true(is_refused(ledger_adopt(&l, lock, ledger_name), "belongs to user 65533"));
    assert_true(is_refused(ledger_lock_acquire(&second, fixture_lock_path()), "runs already"));
    /* nor does anyone when the owner's umask was lax */
    char path[128];
    snprintf(path, sizeof path, "/dev/shm%s", ledger_name);
    assert_int_equal(chmod(path, 0666), 0);
    snprintf(path, sizeof path, "/dev/shm%s", arena_name);
    assert_int_equal(chmod(path, 0666), 0);
    assert_true(as_user(OTHER, sees_that_it_is_anothers));

    shm_unlink(ledger_name);
    shm_unlink(arena_name);
    ledger_lock_release(lock);
    unlink(fixture_lock_path());
}

int main(void)
{
    if (geteuid() != 0) {
        printf("skipped: needs root, to become other users\n");
        return 77;
    }
    snprintf(ledger_name, sizeof ledger_name, "%s", fixture_name("users-ledger"));
    snprintf(arena_name, sizeof arena_name, "%s", fixture_name("users-arena"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_owners_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
