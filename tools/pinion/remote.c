#include "tools/pinion/remote.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_MS = 30000, PROTOCOL = 1 };

enum status remote_dial(struct client **out, const char *where)
{
    char address[CLIENT_ADDRESS_MAX];
    enum status st = client_address(address, where ? where : client_default_where());
    return st == ST_OK ? client_dial(out, address, CLIENT_NOW) : st;
}

enum status remote_call(struct client *c, struct client_reply *reply, const char *op,
                        json_t *members, const void *payload, size_t payload_len)
{
    const struct client_limit limit = {.ms = CALL_MS};
    json_t *request = json_pack("{s:s, s:i}", "op", op, "protocol", PROTOCOL);
    if (members)
        json_object_update(request, members);
    json_decref(members);
    return client_call(c, reply, request, payload, payload_len, &limit);
}

enum status remote_ask(const char *where, struct client_reply *reply, const char *op,
                       json_t *members)
{
    struct client *c = NULL;
    enum status st = remote_dial(&c, where);
    if (st == ST_OK)
        st = remote_call(c, reply, op, members, NULL, 0);
    else
        json_decref(members);
    client_close(c);
    return st;
}

enum status remote_absolute(char **out, const char *path)
{
    *out = realpath(path, NULL);
    return *out ? ST_OK : fail(ST_INPUT, "%s: %m", path);
}
