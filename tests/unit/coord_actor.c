/* A process of its own for the tests of the server: the coordinator with the tests' kind of key, or
 * a synthesis process that takes a job and then does nothing. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shm/coord/coord.h"
#include "tests/unit/coord_client.h"
#include "tests/unit/test_key.h"

static int coordinate(const char *dir)
{
    struct coord_options options = {.dir = dir,
                                    .arena_kind = ARENA_POSIX,
                                    .arena_bytes = 1 << 20,
                                    .slots = 16,
                                    .clients = 8,
                                    .upload_max = 1 << 20,
                                    .admin_group = "",
                                    .inspect = test_key_inspect,
                                    .desk = {.version = "test",
                                             .source = "",
                                             .backend = "cpu",
                                             .devices = "all",
                                             .ageing_ms = 60000,
                                             .lease_ms = 60000,
                                             .term_ms = 1000,
                                             .kill_ms = 1000,
                                             .stuck_factor = 10,
                                             .stuck_ms = 30000,
                                             .upload_idle_ms = 60000,
                                             .journal_keep = 100,
                                             .journal_keep_ms = 86400000}};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    enum status st = coord_run(&options);
    if (st != ST_OK)
        (void)fprintf(stderr, "coordinator: %s\n", status_message());
    return status_exit_code(st);
}

static int synthesize(const char *dir)
{
    struct coord_client c;
    coord_client_open(&c, dir);
    coord_client_hello(&c, "synth", 0x5eed);
    json_t *reply = coord_client_ask(&c, "take", ",\"wait_ms\":1000", NULL);
    bool got = json_is_object(json_object_get(reply, "job"));
    json_decref(reply);
    (void)puts(got ? "writing" : "nothing");
    (void)fflush(stdout);
    if (got)
        pause(); /* until it is killed */
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "coord") == 0)
        return coordinate(argv[2]);
    if (argc == 3 && strcmp(argv[1], "synth") == 0)
        return synthesize(argv[2]);
    return 2;
}
