/* Leases of synthesis and the stuck rule of the daemon: a live process is warned, terminated,
 * killed, but never robbed. What it may still write is quarantined until it is dead. */
#include <signal.h>

#include "shm/coord/desk_private.h"

/* When the client's oldest slice was granted, 0 when it holds none. */
static int64_t oldest_grant(const struct desk *d, uint16_t client)
{
    int64_t oldest = 0;
    for (uint32_t i = 0; i < d->slot_count; i++) {
        const struct desk_slot *s = &d->slots[i];
        int64_t granted = (int64_t)(s->granted_ns / 1000000);
        if (s->state != SLOT_FREE && s->client == client && (oldest == 0 || granted < oldest))
            oldest = granted;
    }
    return oldest;
}

static bool overstays(const struct desk *d, uint16_t client)
{
    int64_t granted = oldest_grant(d, client);
    return granted != 0 && desk_now(d) - granted >= d->config->lease_ms;
}

static int64_t patience(const struct desk *d, int64_t estimate)
{
    int64_t factor = d->config->stuck_factor;
    int64_t scaled = estimate > INT64_MAX / factor ? INT64_MAX : estimate * factor;
    return scaled > d->config->stuck_ms ? scaled : d->config->stuck_ms;
}

/* Only slices that the daemon says it works on: others wait inside it for those. */
static bool slot_is_stuck(const struct desk *d, const struct desk_slot *s)
{
    return s->state >= SLOT_COPYING && s->state <= SLOT_LEAN && s->stage[0] != '\0' &&
           desk_now(d) - s->stage_since >= patience(d, s->stage_estimate);
}

/* No word from it while there is work, or no progress in a slice. */
static bool is_stuck(const struct desk *d, uint16_t client)
{
    bool work = false, silent = desk_now(d) - d->clients[client].heard >= d->config->stuck_ms;
    for (uint32_t i = 0; i < d->slot_count; i++) {
        const struct desk_slot *s = &d->slots[i];
        work = work || (s->state >= SLOT_SUBMITTED && s->state <= SLOT_LEAN && !s->ended);
        if (s->client == client && slot_is_stuck(d, s))
            return true;
    }
    return work && silent;
}

/* Its jobs go to others; its slices stay until it is dead. */
static void quarantine(struct desk *d, uint16_t client)
{
    for (uint32_t i = 0; i < d->slot_count; i++) {
        struct desk_slot *s = &d->slots[i];
        if (s->state != SLOT_WRITING || s->client != client)
            continue;
        bool again = !s->ended && s->number != 0;
        slots_publish(d, i, SLOT_QUARANTINE, s->flags, client);
        if (again)
            jobs_requeue(d, s->number, (struct job_blame){.synth_death = true},
                         "its synthesis process overstayed its lease");
    }
}

static void advance(struct desk *d, uint16_t client, enum lease_stage to, const char *event)
{
    struct desk_client *c = &d->clients[client];
    c->lease = to;
    c->lease_since = desk_now(d);
    log_event(LEVEL_WARN, NULL, event, log_i64("pid", c->pid), log_u64("client", client));
}

static void terminate(struct desk *d, uint16_t client)
{
    advance(d, client, LEASE_TERMINATED, "client terminated");
    d->clients[client].dying = true;
    ledger_client_dying(d->ledger, client);
    quarantine(d, client);
    d->host->signal(d->host->arg, client, SIGTERM);
}

/* The daemon is terminated at once: its time was ten estimates long. */
static void check(struct desk *d, uint16_t client)
{
    struct desk_client *c = &d->clients[client];
    bool late = c->role == CLIENT_GPUD ? is_stuck(d, client) : overstays(d, client);
    int64_t since = desk_now(d) - c->lease_since;
    if (c->lease == LEASE_GOOD && late)
        advance(d, client, LEASE_WARNED,
                c->role == CLIENT_GPUD ? "daemon is stuck" : "lease overstayed");
    else if (c->lease == LEASE_WARNED && !late)
        c->lease = LEASE_GOOD;
    else if (c->lease == LEASE_WARNED && since >= (c->role == CLIENT_GPUD ? 0 : d->config->term_ms))
        terminate(d, client);
    else if (c->lease == LEASE_TERMINATED && since >= d->config->kill_ms) {
        advance(d, client, LEASE_KILLED, "client killed");
        d->host->signal(d->host->arg, client, SIGKILL);
    }
}

void lease_tick(struct desk *d)
{
    for (uint32_t i = 0; i < d->client_count; i++)
        if (d->clients[i].used)
            check(d, (uint16_t)i);
}
