/* Fuzzes the loader of the configuration. */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "tests/fuzz/fuzz.h"

const char *__lsan_default_suppressions(void);

/* libconfig 1.5 leaks what it had read when it meets a syntax error. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig\n";
}

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
