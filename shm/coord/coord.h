/* The coordinator's parts, opened in the one right order, and the server around its desk. */
#ifndef PINION_SHM_COORD_COORD_H
#define PINION_SHM_COORD_COORD_H

#include "shm/arena.h"
#include "shm/coord/desk.h"
#include "shm/names.h"
#include "shm/store.h"

struct coord_options {
    const char *dir; /* made, 0755, if it is not there */
    enum arena_kind arena_kind;
    uint64_t arena_bytes, arena_chunk;
    const char *huge_mount; /* NULL: any */
    uint32_t slots, clients;
    uint64_t upload_max;
    const char *admin_group; /* "" for none */
    store_inspector *inspect;
    /* Reads the configuration again, on SIGHUP: what may change, into *desk and into the texts that
     * admin_group and desk point to. NULL: SIGHUP does nothing. */
    enum status (*reread)(void *arg, struct desk_config *desk) MUST_CHECK;
    void *reread_arg;
    struct desk_config desk; /* ledger_name and owner are filled in; host_memory 0 is what the
                                machine has less a tenth, key_budget 0 half of what that leaves */
};

struct coord {
    struct coord_options options;
    char *dir; /* owned: absolute */
    struct names names;
    struct ledger_lock *lock;
    struct ledger *ledger;
    struct arena *arena;
    struct journal *journal;
    struct spool *spool;
    struct store *store;
    bool arena_is_new;
};

/* Opens everything below dir: becomes the one coordinator, adopts what an earlier one left or makes
 * it, opens journal, spool and store. wake as for store_open. Failures name what is in the way and
 * the remedy; nothing is left open then. *out stays where it is: its parts point into it. */
enum status coord_open(struct coord *out, const struct coord_options *options,
                       void (*wake)(void *arg), void *arg) MUST_CHECK;

/* Closes; removes ledger and arena too when nobody needs them any more. */
void coord_close(struct coord *c, bool remove);

/* Serves DIR/coord.sock until SIGTERM or SIGINT; SIGHUP rereads the configuration. It must be able to
 * take them: the caller has blocked all three before any thread started. The first of the former
 * drains, the second ends at once. */
enum status coord_run(const struct coord_options *options) MUST_CHECK;

/* Bytes of memory this process may use: what the machine has, or its cgroup. */
uint64_t coord_host_memory(void);

/* Root, owner and members of the group. */
bool coord_is_admin(uint32_t uid, uint32_t owner, const char *group);

#endif
