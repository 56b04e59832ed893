/* How both files of a pair appear or neither does: each is complete and synced under its temporary
 * name first; then the first trades places with its old target (so that the old one lives on under
 * the temporary name), the second is renamed over its target, and only if that worked is the old
 * first one removed. */
#include "common/file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Temporary files that exist, for the signal handler: static, so that it never reads freed memory.
 */
enum { SLOT_FREE, SLOT_CLAIMED, SLOT_LIVE };
struct slot {
    atomic_int state;
    char path[PATH_MAX];
};
static struct slot slots[OUTPUT_MAX_OPEN];

struct output {
    const char *path;      /* as given, for messages */
    char target[PATH_MAX]; /* resolved; "" if written directly */
    struct slot *slot;     /* holds the temporary path; NULL if written directly */
    FILE *stream;          /* NULL once finished */
    bool old_under_temporary_name;
};

static enum status fail_errno(const char *path, const char *what)
{
    return fail(ST_RESOURCE, "%s: %s: %m", path, what);
}

static void slot_free(struct slot *slot)
{
    if (slot)
        atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release); /* slot_claim */
}

static struct slot *slot_claim(void)
{
    for (size_t i = 0; i < OUTPUT_MAX_OPEN; i++) {
        int expected = SLOT_FREE;
        /* acquire: pairs with slot_free */
        if (atomic_compare_exchange_strong_explicit(&slots[i].state, &expected, SLOT_CLAIMED,
                                                    memory_order_acquire, memory_order_relaxed))
            return &slots[i];
    }
    return NULL;
}

/* The descriptor that /dev/stdout or /dev/fd/N names, -1 if path is neither. Opening such a name
 * would give a regular file a second, independent position. */
static int named_descriptor(const char *path)
{
    static const char prefix[] = "/dev/fd/";
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return -1;
    const char *digits = path + sizeof prefix - 1;
    size_t length = strspn(digits, "0123456789");
    return length > 0 && length < 9 && digits[length] == '\0' ? (int)strtol(digits, NULL, 10) : -1;
}

/* Opens a target that cannot be renamed over. */
static enum status open_directly(struct output *o)
{
    int named = named_descriptor(o->path);
    int fd = named >= 0 ? fcntl(named, F_DUPFD_CLOEXEC, 3)
                        : open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail(ST_RESOURCE, "%s: cannot open for writing: %m", o->path);
    o->stream = fdopen(fd, "w");
    if (!o->stream) {
        close(fd);
        return fail(ST_RESOURCE, "%s: no memory", o->path);
    }
    return ST_OK;
}

/* The target of a path that names nothing yet: its directory, resolved, and its last component. */
static enum status resolve_new(const char *path, char target[PATH_MAX])
{
    char copy[PATH_MAX], directory[PATH_MAX];
    struct stat st;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof copy || path[length - 1] == '/')
        return fail(ST_RESOURCE, "\"%s\": not the name of a file", path);
    if (lstat(path, &st) == 0)
        return fail(ST_RESOURCE, "%s: is a symbolic link to nothing", path);
    memcpy(copy, path, length + 1);
    if (!realpath(dirname(copy), directory))
        return fail_errno(path, "cannot create");
    const char *slash = strrchr(path, '/');
    int n = snprintf(target, PATH_MAX, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory,
                     slash ? slash + 1 : path);
    if (n < 0 || n >= PATH_MAX)
        return fail(ST_RESOURCE, "%s: the path is too long", path);
    return ST_OK;
}

/* Fills in o->target; leaves it empty if o->path is to be written directly. */
static enum status resolve(struct output *o)
{
    struct stat st;
    o->target[0] = '\0';
    if (named_descriptor(o->path) >= 0)
        return ST_OK;
    if (stat(o->path, &st) != 0)
        return errno == ENOENT ? resolve_new(o->path, o->target)
                               : fail_errno(o->path, "cannot create");
    if (S_ISDIR(st.st_mode))
        return fail(ST_RESOURCE, "%s: is a directory", o->path);
    if (S_ISREG(st.st_mode) && !realpath(o->path, o->target))
        return fail_errno(o->path, "cannot resolve");
    return ST_OK;
}

static enum status name_temporary(const struct output *o, char path[PATH_MAX])
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return fail(ST_RESOURCE, "%s: no random name: %m", o->path);
    size_t directory = (size_t)(strrchr(o->target, '/') - o->target);
    int n = snprintf(path, PATH_MAX, "%.*s/.pinion-%016" PRIx64 ".tmp", (int)directory, o->target,
                     random);
    if (n < 0 || n >= PATH_MAX)
        return fail(ST_RESOURCE, "%s: the path is too long", o->path);
    return ST_OK;
}

static enum status open_temporary(struct output *o)
{
    o->slot = slot_claim();
    if (!o->slot)
        return fail(ST_RESOURCE, "%s: %d outputs are open already", o->path, OUTPUT_MAX_OPEN);
    enum status st = name_temporary(o, o->slot->path);
    if (st != ST_OK)
        return st;
    /* live before the file exists: a signal in between finds nothing to remove. release: pairs
     * with on_signal */
    atomic_store_explicit(&o->slot->state, SLOT_LIVE, memory_order_release);
    int fd = open(o->slot->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_errno(o->path, "cannot create");
    o->stream = fdopen(fd, "w");
    if (!o->stream) {
        close(fd);
        unlink(o->slot->path);
        return fail(ST_RESOURCE, "%s: no memory", o->path);
    }
    return ST_OK;
}

static void destroy(struct output *o)
{
    slot_free(o->slot);
    free(o);
}

enum status output_open(struct output **out, const char *path)
{
    struct output *o = calloc(1, sizeof *o);
    if (!o)
        return fail(ST_RESOURCE, "%s: no memory", path);
    o->path = path;
    enum status st = resolve(o);
    if (st == ST_OK)
        st = o->target[0] ? open_temporary(o) : open_directly(o);
    if (st != ST_OK) {
        destroy(o);
        return st;
    }
    *out = o;
    return ST_OK;
}

FILE *output_stream(struct output *o)
{
    return o->stream;
}

void output_abandon(struct output *o)
{
    if (!o)
        return;
    if (o->stream)
        fclose(o->stream);
    if (o->slot)
        unlink(o->slot->path);
    destroy(o);
}

/* Everything written is on disk after. */
static enum status finish(struct output *o)
{
    errno = EIO; /* of a failed write long ago nothing better is known */
    bool ok = !ferror(o->stream) && fflush(o->stream) == 0;
    if (ok && o->slot)
        ok = fsync(fileno(o->stream)) == 0;
    int error = errno;
    if (fclose(o->stream) != 0 && ok) {
        ok = false;
        error = errno;
    }
    o->stream = NULL;
    errno = error;
    return ok ? ST_OK : fail(ST_RESOURCE, "%s: cannot write: %m", o->path);
}

/* Makes the rename itself durable. Some file systems cannot; the data is safe either way. */
static void sync_directory(const struct output *o)
{
    char copy[PATH_MAX];
    memcpy(copy, o->target, sizeof copy);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

static enum status put_in_place(struct output *o)
{
    if (o->slot && rename(o->slot->path, o->target) != 0)
        return fail_errno(o->path, "cannot replace");
    return ST_OK;
}

/* As put_in_place, but take_back can undo it. */
static enum status put_in_place_for_now(struct output *o)
{
    if (!o->slot)
        return ST_OK;
    o->old_under_temporary_name =
        renameat2(AT_FDCWD, o->slot->path, AT_FDCWD, o->target, RENAME_EXCHANGE) == 0;
    /* no old target, or a file system that cannot exchange */
    return o->old_under_temporary_name ? ST_OK : put_in_place(o);
}

static void take_back(struct output *o)
{
    if (!o->slot)
        return;
    if (o->old_under_temporary_name)
        (void)rename(o->slot->path, o->target);
    else
        (void)unlink(o->target);
}

/* Removes what is left under the temporary name. */
static void settle(struct output *o)
{
    if (!o->slot)
        return;
    if (o->old_under_temporary_name)
        unlink(o->slot->path);
    sync_directory(o);
}

enum status output_commit(struct output *o)
{
    enum status st = finish(o);
    if (st == ST_OK)
        st = put_in_place(o);
    if (st != ST_OK) {
        output_abandon(o);
        return st;
    }
    settle(o);
    destroy(o);
    return ST_OK;
}

static const int guarded_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
enum { GUARDED_SIGNALS = sizeof guarded_signals / sizeof guarded_signals[0] };

/* Keeps the guarded signals back, so that none falls between two renames. */
static void hold_signals(sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < GUARDED_SIGNALS; i++)
        sigaddset(&set, guarded_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, old);
}

static enum status finish_pair(struct output *a, struct output *b)
{
    if (a->slot && b->slot && strcmp(a->target, b->target) == 0)
        return fail(ST_INPUT, "%s and %s are the same file: two outputs need two names", a->path,
                    b->path);
    /* files before pipes: what went into a pipe cannot be taken back */
    bool b_first = !a->slot && b->slot;
    enum status st = finish(b_first ? b : a);
    return st == ST_OK ? finish(b_first ? a : b) : st;
}

static enum status rename_pair(struct output *a, struct output *b)
{
    enum status st = put_in_place_for_now(a);
    if (st != ST_OK)
        return st;
    st = put_in_place(b);
    if (st != ST_OK)
        take_back(a);
    return st;
}

enum status output_commit_pair(struct output *a, struct output *b)
{
    sigset_t old;
    enum status st = finish_pair(a, b);
    hold_signals(&old);
    if (st == ST_OK)
        st = rename_pair(a, b);
    if (st == ST_OK) {
        settle(a);
        settle(b);
        destroy(a);
        destroy(b);
    } else {
        output_abandon(a);
        output_abandon(b);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return st;
}

enum status output_write_pair(const char *path_a, const char *a, const char *path_b, const char *b)
{
    struct output *out_a, *out_b;
    enum status st = output_open(&out_a, path_a);
    if (st != ST_OK)
        return st;
    st = output_open(&out_b, path_b);
    if (st != ST_OK) {
        output_abandon(out_a);
        return st;
    }
    /* a failed write shows in the commit */
    (void)fputs(a, out_a->stream);
    (void)fputs(b, out_b->stream);
    return output_commit_pair(out_a, out_b);
}

enum status output_write(const char *path, const char *text)
{
    struct output *o;
    enum status st = output_open(&o, path);
    if (st != ST_OK)
        return st;
    (void)fputs(text, o->stream);
    return output_commit(o);
}

/* Async-signal-safe. The signal is blocked here, so raise takes effect when this returns. */
static void on_signal(int signal_number)
{
    for (size_t i = 0; i < OUTPUT_MAX_OPEN; i++)
        /* acquire: pairs with the release store in open_temporary */
        if (atomic_load_explicit(&slots[i].state, memory_order_acquire) == SLOT_LIVE)
            unlink(slots[i].path);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void output_guard(void)
{
    for (size_t i = 0; i < GUARDED_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = on_signal}, old;
        sigfillset(&action.sa_mask);
        CHECK(sigaction(guarded_signals[i], NULL, &old) == 0);
        if (old.sa_handler != SIG_IGN)
            CHECK(sigaction(guarded_signals[i], &action, NULL) == 0);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, not a death */
}
