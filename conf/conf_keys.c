#include "conf/conf.h"

#define KIB (1ULL << 10)
#define MIB (1ULL << 20)
#define GIB (1ULL << 30)
#define TIB (1ULL << 40)

static const char *const arena_kinds[] = {"auto", "hugetlb", "shm", NULL};
static const char *const backends[] = {"auto", "cpu", "cuda", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};

#define AT(member) offsetof(struct conf, member)

const struct conf_key conf_keys[] = {
    {"arena.size", CONF_SIZE, AT(arena.size), 2 * MIB, 64 * TIB, NULL, "\"1G\""},
    {"arena.kind", CONF_CHOICE, AT(arena.kind), 0, 0, arena_kinds, "\"auto\""},
    {"arena.huge_mount", CONF_STRING, AT(arena.huge_mount), 1, CONF_STRING_MAX, NULL,
     "\"/dev/hugepages\""},
    {"arena.chunk", CONF_SIZE, AT(arena.chunk), 2 * MIB, 64 * GIB, NULL, "\"1G\""},
    {"slots", CONF_INT, AT(slots), 1, 65536, NULL, "1024"},
    {"clients", CONF_INT, AT(clients), 2, 1024, NULL, "64"},
    {"budget.host_memory", CONF_SIZE_AUTO, AT(budget.host_memory), 64 * MIB, 64 * TIB, NULL,
     "\"auto\""},
    {"queue.ageing_seconds", CONF_INT, AT(queue.ageing_seconds), 1, 86400, NULL, "60"},
    {"lease.seconds", CONF_INT, AT(lease.seconds), 1, 604800, NULL, "3600"},
    {"lease.term_seconds", CONF_INT, AT(lease.term_seconds), 1, 86400, NULL, "60"},
    {"lease.kill_seconds", CONF_INT, AT(lease.kill_seconds), 1, 86400, NULL, "10"},
    {"gpud.backend", CONF_CHOICE, AT(gpud.backend), 0, 0, backends, "\"auto\""},
    {"gpud.devices", CONF_STRING, AT(gpud.devices), 1, CONF_STRING_MAX, NULL, "\"all\""},
    {"gpud.key_budget", CONF_SIZE_AUTO, AT(gpud.key_budget), MIB, 64 * TIB, NULL, "\"auto\""},
    {"gpud.threads", CONF_INT, AT(gpud.threads), 0, 4096, NULL, "0"},
    {"synth.threads", CONF_INT, AT(synth.threads), 0, 4096, NULL, "0"},
    {"log.format", CONF_CHOICE, AT(log.format), 0, 0, log_formats, "\"text\""},
    {"log.level", CONF_CHOICE, AT(log.level), 0, 0, log_levels, "\"info\""},
    {"allow_seed", CONF_BOOL, AT(allow_seed), 0, 0, NULL, "false"},
    {"admin_group", CONF_STRING, AT(admin_group), 0, 32, NULL, "\"pinion-admin\""},
    {"journal.keep", CONF_INT, AT(journal.keep), 0, 100000000, NULL, "10000"},
    {"journal.keep_days", CONF_INT, AT(journal.keep_days), 1, 36500, NULL, "30"},
    {"upload.max_bytes", CONF_SIZE, AT(upload.max_bytes), 4 * KIB, 64 * TIB, NULL, "\"16G\""},
    {"upload.idle_seconds", CONF_INT, AT(upload.idle_seconds), 1, 86400, NULL, "60"},
    {"timeouts.stuck_factor", CONF_INT, AT(timeouts.stuck_factor), 2, 1000, NULL, "10"},
    {"timeouts.stuck_seconds", CONF_INT, AT(timeouts.stuck_seconds), 1, 86400, NULL, "30"},
};

const size_t conf_key_count = sizeof conf_keys / sizeof conf_keys[0];
