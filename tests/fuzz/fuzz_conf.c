/* Fuzzes the loader of the configuration. */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conf conf;
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    status_clear();
    if (conf_parse(&conf, "fuzz", text) == ST_OK)
        CHECK(conf.slots >= 1 && conf.clients >= 2 && conf.arena.size > 0);
    free(text);
    return 0;
}
