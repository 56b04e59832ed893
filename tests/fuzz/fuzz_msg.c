/* Fuzzes the decoder of messages: whatever arrives on the socket is refused or read within bounds.
 */
#include <stdlib.h>

#include "common/msg.h"
#include "tests/fuzz/fuzz.h"

/* Every reader on the same object, whatever it holds. */
static void read_members(const json_t *body)
{
    struct msg_head head;
    const char *text;
    int64_t n;
    uint64_t bits;
    uint8_t raw[32];
    bool flag;
    enum status st[] = {
        msg_read_head(&head, body),
        msg_string(&text, body, "id", 1, 64),
        msg_string_opt(&text, body, "circuit", 64, ""),
        msg_int(&n, body, "size", 0, INT64_MAX),
        msg_int_opt(&n, body, "offset", INT64_MIN, INT64_MAX, 0),
        msg_hex64(&bits, body, "incarnation"),
        msg_hex(raw, sizeof raw, body, "sha256"),
        msg_bool_opt(&flag, body, "json", false),
        msg_reply_status(body),
    };
    (void)st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct msg m;
    void *bytes;
    size_t len;
    status_clear();
    if (msg_decode(&m, data, size) != ST_OK)
        return 0;
    read_members(m.body);
    /* what was decoded can be sent again, and means the same */
    if (msg_encode(&bytes, &len, m.body, m.payload, m.payload_len) == ST_OK) {
        struct msg again;
        CHECK(msg_decode(&again, bytes, len) == ST_OK);
        CHECK(json_equal(m.body, again.body) && m.payload_len == again.payload_len);
        msg_fini(&again);
        free(bytes);
    }
    msg_fini(&m);
    return 0;
}
