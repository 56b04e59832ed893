/* pinion-gpud: the daemon that proves. */
#include "common/file/map.h"
#include "common/service.h"
#include "gpud/daemon.h"

int main(int argc, char **argv)
{
    struct service_options options;
    file_map_guard();
    enum status st = service_begin(&options, "pinion-gpud", 1, argc, argv);
    if (st == ST_OK) {
        const struct daemon_options daemon = {.where = options.where,
                                              .backend = options.backend,
                                              .threads = options.threads,
                                              .stop = service_stop()};
        st = daemon_run(&daemon);
    }
    return service_end(st);
}
