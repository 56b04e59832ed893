/* pinion-synth: one synthesis process. */
#include "common/file/map.h"
#include "common/service.h"
#include "synth/worker.h"

int main(int argc, char **argv)
{
    struct service_options options;
    file_map_guard();
    enum status st = service_begin(&options, "pinion-synth", 0, argc, argv);
    if (st == ST_OK) {
        const struct worker_options worker = {
            .where = options.where, .threads = options.threads, .stop = service_stop()};
        st = worker_run(&worker);
    }
    return service_end(st);
}
