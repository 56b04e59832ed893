/* The life of a slice: coordinator, two synthesis processes, the daemon, a user, and an adversary who
 * kills any of them, loses, repeats and delays messages, and lets a lease pass. run.sh checks it
 * exhaustively with spin, and that each of the broken variants below is caught.
 *
 * What is modelled, and where it lives:
 *   the ledger     slot states, generations, the client table (incarnation, highest sequence): shared
 *                  memory, so it survives the coordinator
 *   the journal    what a job is; `disk` survives the coordinator, `journal` is the open transaction
 *   the arena      one unit for vectors, so that two jobs compete for it; it holds the job that was
 *                  written last, or DIRTY in the midst of writing
 *   the network    per client the request it waits for (which may be served any number of times, as
 *                  often as the adversary's budget allows) and the one before (served late)
 *
 * What must hold:
 *   a proof is of its own job's vectors, completely written (assert in DONE);
 *   a job ends once (assert in record_result);
 *   granted units are never granted again (assert in grant);
 *   when nothing can happen any more, every accepted job is done and every slot free (Finished).
 *
 * Variants, each a mistake: NO_IDENTITY (a message means the slot's number, whoever sent it whenever:
 * neither generation nor incarnation is looked at), RECLAIM_ON_DISCONNECT, DOUBLE_GRANT (a restarted
 * coordinator takes slots in WRITING for free), ACK_BEFORE_STORE, DROP_SUBMITTED (with a dead
 * synthesis process goes what it had submitted), LATE_TAKE (an old take is served like a new one). */

#define SYNTHS 2
#define GPUD 2    /* the daemon's place in the client table */
#define CLIENTS 3
#define SLOTS 2
#define JOBS 2    /* numbered from 1 */
#define NONE 255
#define DIRTY 100

#ifndef KILLS
#define KILLS 2   /* of any process */
#endif
#ifndef NOISE
#define NOISE 2   /* lost, repeated and late messages */
#endif
#ifndef LEASES
#define LEASES 1
#endif

mtype = { FREE, WRITING, SUBMITTED, COPYING, PROVING, LEAN, QUARANTINE };
mtype = { ABSENT, WAITING, RUNNING, ENDED };
mtype = { TAKE, SUBMIT, NEXT, COPIED, GAVE_BACK, DONE };
mtype = { OK, GRANT, STALE };

/* ---- the ledger ---- */
typedef Slot {
    mtype state = FREE;
    byte client = NONE;
    byte generation = 0;
    byte job = 0;
    bool vectors = false; /* holds the arena's unit */
    byte writer = NONE    /* only DROP_SUBMITTED looks at it */
};
Slot slot[SLOTS];

typedef Client {
    byte incarnation = 0;
    byte sequence = 0;
    bool used = false;
    bool dying = false
};
Client client[CLIENTS];

/* ---- the arena ---- */
byte arena = 0;

/* ---- the journal ---- */
mtype journal[JOBS + 1] = ABSENT;
mtype disk[JOBS + 1] = ABSENT;
bool recorded[JOBS + 1] = false;      /* a result is in the open transaction */
bool recorded_disk[JOBS + 1] = false; /* ... on disk */
bool accepted[JOBS + 1] = false;      /* what the user was told */
bool coordinator = true;
byte lives = 0; /* how often it has started again */

/* ---- the network ---- */
typedef Request {
    bool there = false;
    mtype op = TAKE;
    byte incarnation = 0;
    byte sequence = 0;
    byte slot = NONE; /* the handle that it is about, or that is held: at most one at a time */
    byte generation = 0
};
Request now[CLIENTS];
Request late[CLIENTS];
bool served[CLIENTS] = false; /* the present request has got its reply on the way */

typedef Reply {
    bool there = false;
    mtype kind = OK;
    byte slot = NONE;
    byte generation = 0;
    byte job = 0
};
Reply reply[CLIENTS];

/* ---- the adversary ---- */
byte kills = KILLS;
byte noise = NOISE;
byte leases = LEASES;
bool doomed[CLIENTS] = false; /* SIGKILL is on its way */
bool killed[CLIENTS] = false; /* dead; from the next step on nothing runs there */
bool gone[CLIENTS] = false;   /* ... and the coordinator does not know yet */

/* ---- the coordinator's deeds; each is one step, as its loop is one thread ---- */

inline commit()
{
    for (ci : 1 .. JOBS) {
        disk[ci] = journal[ci];
        recorded_disk[ci] = recorded[ci]
    }
    ci = 0
}

inline free_slot(s)
{
    slot[s].state = FREE;
    slot[s].client = NONE;
    slot[s].writer = NONE;
    slot[s].job = 0;
    slot[s].vectors = false
}

/* The job of a slot waits again, unless it has ended. */
#define REQUEUE(s) \
    if \
    :: journal[slot[s].job] == RUNNING -> journal[slot[s].job] = WAITING \
    :: else \
    fi

/* A slice that its client has lost, by death or by not listing it. */
inline lose(s)
{
    if
    :: slot[s].state == WRITING ->
        REQUEUE(s);
        free_slot(s)
    :: slot[s].state == QUARANTINE ->
        free_slot(s)
    :: slot[s].state == LEAN ->
        REQUEUE(s);
        free_slot(s)
    :: (slot[s].state == COPYING || slot[s].state == PROVING) && disk[slot[s].job] == ENDED ->
        free_slot(s)
    :: (slot[s].state == COPYING || slot[s].state == PROVING) && disk[slot[s].job] != ENDED ->
        /* of a job that has ended: nobody takes it, and it is free after the commit */
        slot[s].state = SUBMITTED;
        slot[s].client = NONE
    :: else
    fi
}

#define UNIT_FREE (!slot[0].vectors && !slot[1].vectors)
#define SLOT_FREE (slot[0].state == FREE || slot[1].state == FREE)
/* A job is queued once it is on disk. */
#define QUEUED(j) (journal[j] == WAITING && disk[j] != ABSENT)
#define JOB_WAITING (QUEUED(1) || QUEUED(2))
#define CAN_GRANT (UNIT_FREE && SLOT_FREE && JOB_WAITING)
#define READY(i) (slot[i].state == SUBMITTED && journal[slot[i].job] == RUNNING)
#define CAN_HAND_OUT (READY(0) || READY(1))
#define WANTS_BACK (JOB_WAITING && !UNIT_FREE)

/* Grants to client c the first waiting job and the first free slot. */
inline grant(c)
{
    s = (slot[0].state == FREE -> 0 : 1);
    j = (QUEUED(1) -> 1 : 2);
    assert(UNIT_FREE);
    journal[j] = RUNNING;
    slot[s].generation++;
    slot[s].client = c;
    slot[s].writer = c;
    slot[s].job = j;
    slot[s].vectors = true;
    slot[s].state = WRITING;
    kind = GRANT
}

inline hand_out(c)
{
    s = (READY(0) -> 0 : 1);
    slot[s].state = COPYING;
    slot[s].client = c;
    kind = GRANT
}

#define LISTED(q, i) (q.slot == i && q.generation == slot[i].generation)

#define LOAD(from) \
    q.op = from[c].op; \
    q.incarnation = from[c].incarnation; \
    q.sequence = from[c].sequence; \
    q.slot = from[c].slot; \
    q.generation = from[c].generation

/* Slices that the sender has and does not list are taken back. */
inline take_in_holding(c)
{
    for (i : 0 .. SLOTS - 1) {
        if
        :: slot[i].state != FREE && slot[i].client == c && !LISTED(q, i) -> lose(i)
        :: else
        fi
    }
    i = 0
}

#ifdef NO_IDENTITY
#define OWN(q, c) (slot[q.slot].state != FREE)
#define KNOWN(q, c) (client[c].used)
#else
#define OWN(q, c) (slot[q.slot].generation == q.generation && slot[q.slot].client == c)
#define KNOWN(q, c) (client[c].used && client[c].incarnation == q.incarnation)
#endif

/* One slot that a lost reply had granted, or NONE. */
inline find_lost(c, wanted)
{
    s = NONE;
    for (i : 0 .. SLOTS - 1) {
        if
        :: slot[i].state == wanted && slot[i].client == c && !LISTED(q, i) -> s = i
        :: else
        fi
    }
    i = 0
}

/* Records that job j has ended with the vectors `result`; its slot may go after the commit. */
inline record_result(j)
{
    if
    :: journal[j] == RUNNING ->
        assert(result == j);
        assert(!recorded[j]);
        recorded[j] = true;
        journal[j] = ENDED
    :: else
    fi
}

/* Serves request q of client c. `durable`: the reply waits for the commit. */
inline serve(c)
{
    kind = STALE;
    durable = false;
    s = NONE;
    j = 0;
    if
    :: !KNOWN(q, c) -> skip
#ifndef LATE_TAKE
    :: KNOWN(q, c) && q.sequence < client[c].sequence -> skip
    :: KNOWN(q, c) && q.sequence >= client[c].sequence ->
#else
    :: KNOWN(q, c) ->
#endif
        repeated = (q.sequence == client[c].sequence);
        client[c].sequence = (q.sequence > client[c].sequence -> q.sequence : client[c].sequence);
        if
        :: !(repeated && (q.op == TAKE || q.op == NEXT)) -> take_in_holding(c)
        :: else
        fi;
        if
        :: q.op == TAKE ->
            find_lost(c, WRITING);
            if
            :: repeated && s != NONE -> kind = GRANT
            :: (!repeated || s == NONE) && CAN_GRANT && !client[c].dying -> grant(c)
            :: (!repeated || s == NONE) && !(CAN_GRANT && !client[c].dying) -> kind = OK
            fi
        :: q.op == SUBMIT ->
            if
            :: OWN(q, c) && slot[q.slot].state == WRITING ->
                slot[q.slot].state = SUBMITTED;
                slot[q.slot].client = NONE;
                kind = OK
            :: slot[q.slot].generation == q.generation && slot[q.slot].state != WRITING &&
               slot[q.slot].state != QUARANTINE && slot[q.slot].state != FREE ->
                kind = OK /* again: its reply was lost */
            :: else
            fi
        :: q.op == NEXT ->
            find_lost(c, COPYING);
            if
            :: repeated && s != NONE -> kind = GRANT
            :: (!repeated || s == NONE) && CAN_HAND_OUT -> hand_out(c)
            :: (!repeated || s == NONE) && !CAN_HAND_OUT -> kind = OK
            fi
        :: q.op == COPIED ->
            if
            :: OWN(q, c) && slot[q.slot].state == COPYING ->
                slot[q.slot].state = PROVING;
                kind = OK
            :: OWN(q, c) && (slot[q.slot].state == PROVING || slot[q.slot].state == LEAN) -> kind = OK
            :: else
            fi
        :: q.op == GAVE_BACK ->
            if
            :: OWN(q, c) && slot[q.slot].state == PROVING ->
                slot[q.slot].state = LEAN;
                slot[q.slot].vectors = false;
                kind = OK
            :: OWN(q, c) && slot[q.slot].state == LEAN -> kind = OK
            :: else
            fi
        :: q.op == DONE ->
            if
            :: OWN(q, c) && (slot[q.slot].state == PROVING || slot[q.slot].state == LEAN) ->
                j = slot[q.slot].job;
                record_result(j);
                durable = true;
                ending = j;
                kind = OK
            :: else
            fi
        fi
    fi
}

/* ---- processes ---- */

/* A request that has nothing to get yet, and from whose holding list nothing follows. */
#define HAS(c, i) \
    (slot[i].state != FREE && slot[i].state != QUARANTINE && slot[i].client == c && \
     !LISTED(now[c], i))
#define PARKED(c) \
    (!HAS(c, 0) && !HAS(c, 1) && \
     ((now[c].op == TAKE && (!CAN_GRANT || client[c].dying)) || \
      (now[c].op == NEXT && !CAN_HAND_OUT)))

byte result = 0; /* what the daemon's last proof was made of: carried by DONE */

/* Spent values would only make states differ. */
inline clear()
{
    s = NONE;
    j = 0;
    kind = OK;
    durable = false;
    repeated = false;
    life = 0;
    q.op = TAKE;
    q.incarnation = 0;
    q.sequence = 0;
    q.slot = NONE;
    q.generation = 0
}

/* The slots of the job whose end is on disk now. */
inline free_ended()
{
    for (i : 0 .. SLOTS - 1) {
        if
        :: ending != NONE && slot[i].state != FREE && slot[i].state != QUARANTINE &&
           slot[i].job == ending -> free_slot(i)
        :: else
        fi
    }
    i = 0;
    ending = NONE
}

#define ALIVE (coordinator && life == lives)

/* The commit that the reply waits for; what was not committed is lost with the coordinator. */
inline finish()
{
    if
    :: ALIVE && durable -> commit(); free_ended()
    :: else -> ending = NONE
    fi
}

#define ASKED (now[c].there && now[c].incarnation == q.incarnation && now[c].sequence == q.sequence)
#define NOTHING (kind == OK && (q.op == TAKE || q.op == NEXT))

/* To the client, or lost, and then the client asks again. A dead coordinator sends nothing. */
inline send_reply(c)
{
    if
    :: NOTHING || !ALIVE || !ASKED /* it is served again */
    :: !NOTHING && ALIVE && ASKED ->
        served[c] = true;
        reply[c].kind = kind;
        reply[c].slot = (kind == GRANT -> s : NONE);
        reply[c].generation = (kind == GRANT -> slot[s].generation : 0);
        reply[c].job = (kind == GRANT -> slot[s].job : 0);
        reply[c].there = true
    :: !NOTHING && ALIVE && ASKED && noise > 0 -> noise--
    fi
}

/* The coordinator's answers to client c. */
proctype Desk(byte c)
{
    byte s, j, i, ci, ending = NONE;
    Request q;
    mtype kind;
    bool durable, repeated;
    byte life;
    do
    :: atomic {
           coordinator && now[c].there && !served[c] && !PARKED(c) && !killed[c] ->
           life = lives;
           LOAD(now);
           serve(c)
       };
#ifdef ACK_BEFORE_STORE
       atomic { send_reply(c) };
       atomic { finish(); clear() }
#else
       atomic { finish() };
       atomic { send_reply(c); clear() }
#endif
    :: atomic { /* an older request arrives late; nobody waits for its reply */
           coordinator && late[c].there && noise > 0 ->
           noise--;
           LOAD(late);
           serve(c);
           late[c].there = false;
           if
           :: durable -> commit(); free_ended()
           :: else
           fi;
           clear()
       }
    od
}

inline say_hello(c)
{
    client[c].incarnation++;
    client[c].sequence = 0;
    client[c].used = true;
    client[c].dying = false;
    sequence = 0
}

/* Sends and waits. The request before stays about in the network. */
inline ask(c, what, about, its_generation)
{
    atomic {
        if
        :: sequence > 0 && noise > 0 ->
            late[c].op = last_op;
            late[c].incarnation = client[c].incarnation;
            late[c].sequence = sequence;
            late[c].slot = last_slot;
            late[c].generation = last_generation;
            late[c].there = true
        :: else
        fi;
        sequence++;
        last_op = what;
        last_slot = about;
        last_generation = its_generation;
        now[c].op = what;
        now[c].incarnation = client[c].incarnation;
        now[c].sequence = sequence;
        now[c].slot = about;
        now[c].generation = its_generation;
        served[c] = false;
        now[c].there = true
    };
    atomic { reply[c].there -> reply[c].there = false; now[c].there = false }
}

inline forget(c)
{
    now[c].there = false;
    served[c] = false;
    reply[c].there = false
}

proctype Synth(byte c)
{
    byte sequence, last_slot, last_generation, mine, generation, job;
    mtype last_op;
    atomic { coordinator -> say_hello(c) };
work:
    {
        do
        :: ask(c, TAKE, NONE, 0);
           if
           :: reply[c].kind == GRANT ->
               atomic {
                   mine = reply[c].slot;
                   generation = reply[c].generation;
                   job = reply[c].job
               };
               arena = DIRTY;
               arena = job;
               ask(c, SUBMIT, mine, generation)
           :: else
           fi
        od
    } unless { killed[c] };
    atomic { forget(c); gone[c] = true; mine = NONE; generation = 0; job = 0 };
    /* another process takes the place once the coordinator has seen the death */
    atomic { coordinator && !killed[c] -> say_hello(c); goto work }
}

proctype Daemon()
{
    byte sequence, last_slot, last_generation, mine, generation, job, copy;
    mtype last_op;
    bool lean;
    atomic { coordinator -> say_hello(GPUD) };
work:
    {
        do
        :: ask(GPUD, NEXT, NONE, 0);
           if
           :: reply[GPUD].kind == GRANT ->
               atomic {
                   mine = reply[GPUD].slot;
                   generation = reply[GPUD].generation;
                   copy = arena
               };
               ask(GPUD, COPIED, mine, generation);
               if
               :: WANTS_BACK -> ask(GPUD, GAVE_BACK, mine, generation)
               :: skip
               fi;
               atomic { result = copy; copy = 0 };
               ask(GPUD, DONE, mine, generation)
           :: else
           fi
        od
    } unless { killed[GPUD] };
    atomic { forget(GPUD); gone[GPUD] = true; mine = NONE; generation = 0; copy = 0 };
    atomic { coordinator && !killed[GPUD] -> say_hello(GPUD); goto work }
}

/* Submits both jobs; repeats what was not answered. */
proctype User()
{
    byte n, ci;
    for (n : 1 .. JOBS) {
again:
        if
        :: atomic {
               coordinator && journal[n] == ABSENT ->
               journal[n] = WAITING;
#ifdef ACK_BEFORE_STORE
               accepted[n] = true
#endif
           }
        :: atomic { coordinator && journal[n] != ABSENT }
        fi;
        if
        :: atomic { coordinator && journal[n] != ABSENT -> commit(); accepted[n] = true }
        :: atomic { coordinator && journal[n] == ABSENT && !accepted[n] -> goto again }
        :: atomic { coordinator && journal[n] == ABSENT && accepted[n] }
        fi
    }
}

/* The kernel tells of a death, beyond doubt. */
proctype Deaths()
{
    byte c, i, ci;
    do
    :: atomic {
           coordinator && (gone[0] || gone[1] || gone[GPUD]) ->
           if
           :: gone[0] -> c = 0
           :: gone[1] -> c = 1
           :: gone[GPUD] -> c = GPUD
           fi;
           for (i : 0 .. SLOTS - 1) {
               if
               :: slot[i].state != FREE && slot[i].client == c -> lose(i)
#ifdef DROP_SUBMITTED
               :: slot[i].state == SUBMITTED && slot[i].writer == c -> free_slot(i)
#endif
               :: else
               fi
           }
           i = 0;
           client[c].used = false;
           client[c].dying = false;
           doomed[c] = false;
           killed[c] = false;
           gone[c] = false;
           c = 0
       }
    od
}

#define HOLDS(n, j) (slot[n].state != FREE && slot[n].state != QUARANTINE && slot[n].job == j)

/* What a new coordinator makes of ledger and journal. */
inline recover()
{
    for (i : 0 .. SLOTS - 1) {
        if
        :: slot[i].state == FREE || slot[i].state == QUARANTINE
#ifdef DOUBLE_GRANT
        :: slot[i].state == WRITING ->
            REQUEUE(i);
            if
            :: journal[slot[i].job] == WAITING || journal[slot[i].job] == ENDED -> free_slot(i)
            :: else
            fi
#endif
        :: else ->
            if
            :: journal[slot[i].job] == WAITING -> journal[slot[i].job] = RUNNING
            :: journal[slot[i].job] == ENDED && slot[i].state == SUBMITTED -> free_slot(i)
            :: else
            fi
        fi
    }
    for (i : 1 .. JOBS) {
        if
        :: journal[i] == RUNNING && !HOLDS(0, i) && !HOLDS(1, i) -> journal[i] = WAITING
        :: else
        fi
    }
    i = 0
}

proctype Adversary()
{
    byte c, i, ci;
    do
    /* SIGKILL to a worker: it dies now */
    :: atomic { kills > 0 && client[0].used && !killed[0] -> kills--; killed[0] = true }
    :: atomic { kills > 0 && client[1].used && !killed[1] -> kills--; killed[1] = true }
    :: atomic { kills > 0 && client[GPUD].used && !killed[GPUD] -> kills--; killed[GPUD] = true }
    /* a lease passes: quarantined, told to die, which takes its time */
    :: atomic {
           leases > 0 && coordinator && slot[0].state == WRITING && !killed[slot[0].client] ->
           leases--;
           c = slot[0].client;
           client[c].dying = true;
           slot[0].state = QUARANTINE;
           REQUEUE(0);
           doomed[c] = true;
           c = 0
       }
    :: atomic { doomed[0] && !killed[0] -> killed[0] = true }
    :: atomic { doomed[1] && !killed[1] -> killed[1] = true }
#ifdef RECLAIM_ON_DISCONNECT
    :: atomic {
           noise > 0 && coordinator && slot[0].state == WRITING && !killed[slot[0].client] ->
           noise--;
           lose(0)
       }
#endif
    /* the coordinator dies: the open transaction is lost */
    :: atomic {
           kills > 0 && coordinator ->
           kills--;
           coordinator = false;
           for (i : 1 .. JOBS) {
               journal[i] = disk[i];
               recorded[i] = recorded_disk[i]
           }
           i = 0
       };
       atomic { coordinator = true; lives++; recover() }
    od
}

/* When nobody can do anything any more, all must be well. */
proctype Finished()
{
    timeout ->
    assert(disk[1] == ENDED && disk[2] == ENDED && recorded_disk[1] && recorded_disk[2] &&
        slot[0].state == FREE && slot[1].state == FREE && !killed[0] && !killed[1] && !killed[GPUD])
}

init {
    atomic {
        run Desk(0);
        run Desk(1);
        run Desk(GPUD);
        run Synth(0);
        run Synth(1);
        run Daemon();
        run User();
        run Deaths();
        run Adversary();
        run Finished()
    }
}
