/* The format of the ledger: the one shared object whose bytes have a meaning to several programs.
 *
 *   +--------+---------------------+----------------------+
 *   | header | client table        | slot table           |
 *   | 4 KiB  | client_count x 64 B | slot_count x 512 B   |   each part starts on a 4 KiB boundary
 *   +--------+---------------------+----------------------+
 *
 * Both tables publish by one word, stored atomically after the rest of the entry:
 *
 *   bits   0..7   8..15           16..31   32..63
 *   slot   state  flags           client   generation
 *   client state  role            0        generation
 *
 * Integers are little-endian and of the host. Everything that one process writes while another may
 * read is an _Atomic word; the header's plain fields are written before its magic and never after.
 * Who may write, and in which order, is in ledger_write.h; how to read is in ledger.h. A change of
 * any size, offset or meaning here needs a new LEDGER_VERSION. */
#ifndef PINION_SHM_LAYOUT_H
#define PINION_SHM_LAYOUT_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEDGER_MAGIC UINT64_C(0x674c6e6f696e6970) /* "pinionLg" */
#define LEDGER_VERSION 1U

enum {
    LEDGER_HEADER_BYTES = 4096,
    LEDGER_ALIGN = 4096, /* of both tables and of the whole object */
    LEDGER_CLIENT_BYTES = 64,
    LEDGER_SLOT_BYTES = 512,
    LEDGER_MAX_CLIENTS = 4096,
    LEDGER_MAX_SLOTS = 65536,
    ARENA_NAME_BYTES = 512, /* with the terminating NUL */
    SLICE_MAX_EXTENTS = 24, /* of w and of a, b, c together */
    SLICE_ALIGN = 256,      /* of a, b and c inside the slice */
    CLIENT_NONE = 0xffff,   /* in a slot's word: no client holds it */
    BOOT_ID_BYTES = 16,
};

/* A registration chunk is the unit in which a daemon pins the arena; drivers refuse one of 512 GiB
 * and more. */
#define ARENA_MAX_CHUNK (UINT64_C(64) << 30)

/* ---- the word ---- */

enum slot_state {
    SLOT_FREE,       /* no meaning but the generation, which the next grant will carry */
    SLOT_WRITING,    /* its client writes a, b, c, w */
    SLOT_SUBMITTED,  /* complete; nobody writes */
    SLOT_COPYING,    /* the daemon of `epoch` copies it to `device` */
    SLOT_PROVING,    /* copied; all extents are still held */
    SLOT_LEAN,       /* copied; the extents of a, b, c are given back, those of w are held */
    SLOT_QUARANTINE, /* perhaps a process that is not yet known to be dead writes it */
    SLOT_STATES
};

enum slot_flag {
    SLOT_SUSPECT = 1, /* a daemon died with it: runs alone */
    SLOT_SCRUB = 2,   /* holds bytes of another submitter: its next holder clears it first */
    SLOT_NO_ABC = 4,  /* the extents of a, b, c are given back: set with LEAN, kept until FREE */
    SLOT_FLAGS = SLOT_SUSPECT | SLOT_SCRUB | SLOT_NO_ABC
};

enum client_state {
    CLIENT_FREE,
    CLIENT_LIVE,
    CLIENT_DYING, /* told to end, or killed; not yet confirmed dead, so it may still write */
    CLIENT_STATES
};

enum client_role { CLIENT_SYNTH = 1, CLIENT_GPUD = 2, CLIENT_ROLES = 3 };

static inline uint64_t word_make(unsigned state, unsigned flags, uint16_t client,
                                 uint32_t generation)
{
    return (uint64_t)(state & 0xff) | (uint64_t)(flags & 0xff) << 8 | (uint64_t)client << 16 |
           (uint64_t)generation << 32;
}

static inline unsigned word_state(uint64_t word)
{
    return word & 0xff;
}

/* A client's role in the word of a client. */
static inline unsigned word_flags(uint64_t word)
{
    return word >> 8 & 0xff;
}

static inline uint16_t word_client(uint64_t word)
{
    return (uint16_t)(word >> 16);
}

static inline uint32_t word_generation(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

/* A slot whose generation has come to the end is never granted again: no handle ever means two
 * slices. Generation 0 is in no handle. */
#define GENERATION_FIRST UINT32_C(1)
#define GENERATION_RETIRED UINT32_MAX

/* ---- the header ---- */

/* Bytes of the arena: [offset, offset + bytes), both multiples of its page, inside one chunk. */
struct extent {
    uint64_t offset;
    uint64_t bytes;
};

enum arena_kind {
    ARENA_AUTO,    /* only when asking: huge pages, else POSIX shared memory with a warning */
    ARENA_HUGETLB, /* a file on hugetlbfs */
    ARENA_POSIX,   /* POSIX shared memory */
    ARENA_PRIVATE, /* an anonymous memory file of one process; never in a ledger */
    ARENA_KINDS
};

/* Which arena a ledger speaks of. The object behind the name is the right one only if device and
 * inode agree: one that was deleted and made again under the name does not. */
struct arena_desc {
    uint32_t kind;     /* enum arena_kind: HUGETLB, POSIX or PRIVATE */
    uint32_t reserved; /* 0 */
    uint64_t bytes;    /* size of the object, a multiple of page */
    uint64_t page;     /* bytes of a page, a power of two: the unit of extents */
    uint64_t chunk;    /* bytes of a registration chunk: a multiple of page, a power of two,
                          at most ARENA_MAX_CHUNK; chunk i is [i chunk, (i + 1) chunk) */
    uint64_t device;   /* st_dev of the object */
    uint64_t inode;    /* st_ino of the object */
    char name[ARENA_NAME_BYTES]; /* HUGETLB: its path; POSIX: its name for shm_open; NUL-padded */
};

struct ledger_header {
    /* Frozen: these fields keep offset and meaning in every version, so that any program can tell
     * whose object this is and which processes still use it. */
    _Atomic uint64_t magic;         /* LEDGER_MAGIC; 0 until the object is complete */
    uint32_t version;               /* LEDGER_VERSION */
    uint32_t header_bytes;          /* LEDGER_HEADER_BYTES */
    uint64_t total_bytes;           /* of the object */
    uint8_t boot_id[BOOT_ID_BYTES]; /* of the kernel that ran when it was made */
    uint32_t owner_uid;             /* effective user of the coordinator */
    uint32_t clients_offset;        /* of the client table, from the start */
    uint32_t client_bytes;          /* stride of the client table */
    uint32_t client_count;          /* 1 .. LEDGER_MAX_CLIENTS */
    _Atomic uint64_t coord_pid;     /* the coordinator, a new one after each adoption ... */
    _Atomic uint64_t coord_start;   /* ... and its start time, as in struct client_entry */
    /* Of this version. */
    uint32_t slots_offset; /* of the slot table, from the start */
    uint32_t slot_bytes;   /* stride of the slot table */
    uint32_t slot_count;   /* 1 .. LEDGER_MAX_SLOTS */
    uint32_t reserved;     /* 0 */
    uint64_t instance;     /* random, another one for each ledger made; survives adoption */
    struct arena_desc arena;
    uint8_t padding[LEDGER_HEADER_BYTES - 96 - sizeof(struct arena_desc)]; /* 0 */
};

/* ---- the tables ---- */

/* A process known to the coordinator. word, pid and start_time are frozen like the header's first
 * fields. */
struct client_entry {
    _Atomic uint64_t word;        /* state, role, 0, generation; see above */
    _Atomic uint64_t pid;         /* in the coordinator's pid namespace */
    _Atomic uint64_t start_time;  /* field 22 of /proc/PID/stat: clock ticks since the boot */
    _Atomic uint64_t incarnation; /* random, drawn by the process when it starts */
    _Atomic uint64_t sequence;    /* highest sequence number taken from it; 0: none yet */
    _Atomic uint64_t added_ns;    /* CLOCK_MONOTONIC */
    uint64_t reserved[2];         /* 0 */
};

/* A slice of the arena: fixed from grant to FREE, but for epoch, changed_ns and the device in
 * counts. */
struct slot_entry {
    _Atomic uint64_t word;    /* state, flags, client, generation; see above */
    _Atomic uint64_t edition; /* grows before each change of the fields below */
    /* fixed from grant to FREE */
    _Atomic uint64_t job[2];  /* the job's id, 16 bytes in memory order */
    _Atomic uint64_t circuit; /* the store's tag of the circuit */
    _Atomic uint64_t w_bytes; /* sizes of the vectors, unpadded; 0: absent */
    _Atomic uint64_t a_bytes;
    _Atomic uint64_t b_bytes;
    _Atomic uint64_t c_bytes;
    _Atomic uint64_t a_offset; /* in the mapped slice; w is at 0 */
    _Atomic uint64_t b_offset;
    _Atomic uint64_t c_offset;
    _Atomic uint64_t granted_ns; /* CLOCK_MONOTONIC */
    /* changed again */
    _Atomic uint64_t epoch;      /* the daemon's incarnation; means nothing before COPYING */
    _Atomic uint64_t changed_ns; /* CLOCK_MONOTONIC just before the store of the word */
    _Atomic uint64_t counts;     /* extents of w 8, of a/b/c 8, 0 16, device 32 */
    struct {
        _Atomic uint64_t offset;
        _Atomic uint64_t bytes;
    } extent[SLICE_MAX_EXTENTS]; /* those of w, then those of a, b, c; fixed from grant to FREE */
};

static inline uint64_t counts_make(uint32_t w, uint32_t abc, uint32_t device)
{
    return (uint64_t)(w & 0xff) | (uint64_t)(abc & 0xff) << 8 | (uint64_t)device << 32;
}

#define PINION_AT(type, field, at) static_assert(offsetof(type, field) == (at), #field)
static_assert(sizeof(struct extent) == 16, "extent");
static_assert(sizeof(_Atomic uint64_t) == 8, "atomic words add nothing");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "atomic words work across processes");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian hosts only");
static_assert(sizeof(struct arena_desc) == 48 + ARENA_NAME_BYTES, "arena_desc");
PINION_AT(struct arena_desc, bytes, 8);
PINION_AT(struct arena_desc, page, 16);
PINION_AT(struct arena_desc, chunk, 24);
PINION_AT(struct arena_desc, device, 32);
PINION_AT(struct arena_desc, inode, 40);
PINION_AT(struct arena_desc, name, 48);
static_assert(sizeof(struct ledger_header) == LEDGER_HEADER_BYTES, "ledger_header");
PINION_AT(struct ledger_header, magic, 0);
PINION_AT(struct ledger_header, version, 8);
PINION_AT(struct ledger_header, header_bytes, 12);
PINION_AT(struct ledger_header, total_bytes, 16);
PINION_AT(struct ledger_header, boot_id, 24);
PINION_AT(struct ledger_header, owner_uid, 40);
PINION_AT(struct ledger_header, clients_offset, 44);
PINION_AT(struct ledger_header, client_bytes, 48);
PINION_AT(struct ledger_header, client_count, 52);
PINION_AT(struct ledger_header, coord_pid, 56);
PINION_AT(struct ledger_header, coord_start, 64);
PINION_AT(struct ledger_header, slots_offset, 72);
PINION_AT(struct ledger_header, slot_bytes, 76);
PINION_AT(struct ledger_header, slot_count, 80);
PINION_AT(struct ledger_header, reserved, 84);
PINION_AT(struct ledger_header, instance, 88);
PINION_AT(struct ledger_header, arena, 96);
static_assert(sizeof(struct client_entry) == LEDGER_CLIENT_BYTES, "client_entry");
PINION_AT(struct client_entry, word, 0);
PINION_AT(struct client_entry, pid, 8);
PINION_AT(struct client_entry, start_time, 16);
PINION_AT(struct client_entry, incarnation, 24);
PINION_AT(struct client_entry, sequence, 32);
PINION_AT(struct client_entry, added_ns, 40);
static_assert(sizeof(struct slot_entry) == LEDGER_SLOT_BYTES, "slot_entry");
PINION_AT(struct slot_entry, word, 0);
PINION_AT(struct slot_entry, edition, 8);
PINION_AT(struct slot_entry, job, 16);
PINION_AT(struct slot_entry, circuit, 32);
PINION_AT(struct slot_entry, w_bytes, 40);
PINION_AT(struct slot_entry, a_offset, 72);
PINION_AT(struct slot_entry, granted_ns, 96);
PINION_AT(struct slot_entry, epoch, 104);
PINION_AT(struct slot_entry, changed_ns, 112);
PINION_AT(struct slot_entry, counts, 120);
PINION_AT(struct slot_entry, extent, 128);
#undef PINION_AT

static inline uint64_t ledger_round_up(uint64_t n)
{
    return (n + LEDGER_ALIGN - 1) / LEDGER_ALIGN * LEDGER_ALIGN;
}

static inline uint64_t ledger_slots_offset(uint32_t clients)
{
    return LEDGER_HEADER_BYTES + ledger_round_up((uint64_t)clients * LEDGER_CLIENT_BYTES);
}

/* Size of the whole object; counts within their limits. */
static inline uint64_t ledger_total_bytes(uint32_t clients, uint32_t slots)
{
    return ledger_slots_offset(clients) + ledger_round_up((uint64_t)slots * LEDGER_SLOT_BYTES);
}

#endif
