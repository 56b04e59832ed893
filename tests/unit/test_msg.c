/* Messages survive the trip, and hostile ones are refused by the name of what is wrong. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/msg.h"

static void expect(enum status got, enum status st, const char *part)
{
    assert_int_equal(got, st);
    if (strstr(status_message(), part) == NULL)
        print_error("message: %s\n", status_message());
    assert_non_null(strstr(status_message(), part));
    status_clear();
}

static json_t *object(const char *text)
{
    json_t *body = json_loads(text, 0, NULL);
    assert_non_null(body);
    return body;
}

/* --- framing --- */

static void round_trips(void **state)
{
    (void)state;
    json_t *body = object("{\"op\": \"upload\", \"name\": \"caf\xc3\xa9\"}");
    static const struct {
        const void *payload;
        size_t len;
    } cases[] = {{NULL, 0}, {"", 0}, {"\0\1{", 3}};
    for (size_t i = 0; i < 3; i++) {
        void *bytes;
        size_t len;
        struct msg m;
        assert_int_equal(msg_encode(&bytes, &len, body, cases[i].payload, cases[i].len), ST_OK);
        assert_int_equal(msg_decode(&m, bytes, len), ST_OK);
        assert_true(json_equal(m.body, body));
        assert_int_equal(m.payload != NULL, cases[i].payload != NULL);
        assert_int_equal(m.payload_len, cases[i].len);
        if (cases[i].len > 0)
            assert_memory_equal(m.payload, cases[i].payload, cases[i].len);
        msg_fini(&m);
        free(bytes);
    }
    json_decref(body);
}

static void refuses_broken_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "empty"},
        {"{", "not JSON"},
        {"[]", "must be a JSON object"},
        {"3", "not JSON"},
        {"{} x", "not JSON"},
        {"{\"a\": 1, \"a\": 2}", "duplicate"},
        {"{\"a\": \"\xff\"}", "not JSON"},
        {"{\"a\": \"\\u0000\"}", "not JSON"},
        {"{\"a\": 9223372036854775808}", "too big"},
    };
    struct msg m;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(msg_decode(&m, bad[i].text, strlen(bad[i].text)), ST_INPUT, bad[i].part);
    expect(msg_decode(&m, "\0payload", 8), ST_INPUT, "not JSON");
}

/* "{"a": [[...]]}" with depth brackets in all, the object's included. */
static enum status decode_depth(size_t depth, char open, char close)
{
    char text[64] = "{\"a\":";
    size_t len = strlen(text);
    struct msg m;
    for (size_t i = 1; i < depth; i++)
        text[len++] = open;
    for (size_t i = 1; i < depth; i++)
        text[len++] = close;
    text[len++] = '}';
    enum status st = msg_decode(&m, text, len);
    if (st == ST_OK)
        msg_fini(&m);
    return st;
}

static void bounds_text_payload_and_depth(void **state)
{
    (void)state;
    struct msg m;
    static char bytes[MSG_BYTES_MAX + 1];
    assert_int_equal(decode_depth(MSG_DEPTH_MAX, '[', ']'), ST_OK);
    expect(decode_depth(MSG_DEPTH_MAX + 1, '[', ']'), ST_INPUT, "deeper");
    static const char quoted[] = "{\"a\": \"[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[\"}";
    assert_int_equal(msg_decode(&m, quoted, sizeof quoted - 1), ST_OK);
    msg_fini(&m);

    memset(bytes, ' ', MSG_TEXT_MAX);
    bytes[0] = '{';
    bytes[MSG_TEXT_MAX - 1] = '}';
    assert_int_equal(msg_decode(&m, bytes, MSG_TEXT_MAX), ST_OK);
    msg_fini(&m);
    assert_int_equal(msg_decode(&m, bytes, MSG_BYTES_MAX), ST_OK); /* the rest is zeros */
    assert_int_equal(m.payload_len, MSG_PAYLOAD_MAX);
    msg_fini(&m);
    expect(msg_decode(&m, bytes, MSG_BYTES_MAX + 1), ST_INPUT, "payload");
    bytes[MSG_TEXT_MAX] = ' ';
    expect(msg_decode(&m, bytes, MSG_TEXT_MAX + 1), ST_INPUT, "text");
}

static void will_not_send_too_much(void **state)
{
    (void)state;
    void *bytes;
    size_t len;
    static char text[MSG_TEXT_MAX + 1];
    memset(text, 'x', MSG_TEXT_MAX);
    json_t *body = json_pack("{s:s}", "a", text);
    expect(msg_encode(&bytes, &len, body, NULL, 0), ST_INTERNAL, "cannot be sent");
    json_decref(body);
    body = object("{}");
    expect(msg_encode(&bytes, &len, body, "", MSG_PAYLOAD_MAX + 1), ST_INTERNAL, "cannot be sent");
    json_decref(body);
    expect(msg_encode(&bytes, &len, NULL, NULL, 0), ST_RESOURCE, "memory");
}

/* --- members --- */

static void reads_members(void **state)
{
    (void)state;
    const char *text;
    int64_t n;
    uint64_t bits;
    bool flag;
    uint8_t raw[3];
    json_t *b = object("{\"s\": \"abc\", \"n\": -5, \"t\": true, \"h\": \"fFffffffffffffff\", "
                       "\"raw\": \"00a1Ff\", \"nothing\": null}");
    assert_int_equal(msg_string(&text, b, "s", 3, 3), ST_OK);
    assert_string_equal(text, "abc");
    assert_int_equal(msg_string_opt(&text, b, "nothing", 9, "else"), ST_OK);
    assert_string_equal(text, "else");
    assert_int_equal(msg_int(&n, b, "n", -5, 0), ST_OK);
    assert_int_equal(n, -5);
    assert_int_equal(msg_int_opt(&n, b, "absent", 0, 9, 4), ST_OK);
    assert_int_equal(n, 4);
    assert_int_equal(msg_bool_opt(&flag, b, "t", false), ST_OK);
    assert_true(flag);
    assert_int_equal(msg_bool_opt(&flag, b, "absent", true), ST_OK);
    assert_true(flag);
    assert_int_equal(msg_hex64(&bits, b, "h"), ST_OK);
    assert_true(bits == UINT64_MAX);
    assert_int_equal(msg_hex(raw, 3, b, "raw"), ST_OK);
    assert_memory_equal(raw, "\x00\xa1\xff", 3);
    json_decref(b);
}

static void refusals_name_the_member(void **state)
{
    (void)state;
    const char *text;
    int64_t n;
    uint64_t bits;
    bool flag;
    uint8_t raw[2];
    json_t *b =
        object("{\"s\": \"abc\", \"n\": 10, \"h\": \"12g\", \"long\": \"12345678901234567\", "
               "\"empty\": \"\", \"real\": 1.0}");
    expect(msg_string(&text, b, "gone", 0, 9), ST_INPUT, "member \"gone\": is missing");
    expect(msg_string(&text, b, "n", 0, 9), ST_INPUT, "member \"n\": must be a string");
    expect(msg_string(&text, b, "s", 0, 2), ST_INPUT, "member \"s\": has 3 bytes");
    expect(msg_string(&text, b, "s", 4, 9), ST_INPUT, "must have 4 to 9");
    expect(msg_string_opt(&text, b, "s", 2, ""), ST_INPUT, "member \"s\"");
    expect(msg_int(&n, b, "n", 0, 9), ST_INPUT, "member \"n\": is 10, must be 0 to 9");
    expect(msg_int(&n, b, "real", 0, 9), ST_INPUT, "member \"real\": must be an integer");
    expect(msg_int_opt(&n, b, "s", 0, 9, 1), ST_INPUT, "member \"s\"");
    expect(msg_bool_opt(&flag, b, "n", true), ST_INPUT, "member \"n\"");
    expect(msg_hex64(&bits, b, "h"), ST_INPUT, "member \"h\": must be hex");
    expect(msg_hex64(&bits, b, "long"), ST_INPUT, "member \"long\"");
    expect(msg_hex64(&bits, b, "empty"), ST_INPUT, "member \"empty\"");
    expect(msg_hex(raw, 2, b, "s"), ST_INPUT, "must have 4 to 4");
    json_decref(b);
}

static void reads_pairs(void **state)
{
    (void)state;
    uint32_t pairs[2][2];
    size_t count = 9;
    json_t *b = object("{\"good\": [[0, 1], [4294967295, 7]], \"three\": [[1,1],[1,1],[1,1]], "
                       "\"flat\": [1, 2], \"wide\": [[4294967296, 1]], \"negative\": [[1, -1]], "
                       "\"triple\": [[1, 2, 3]], \"text\": \"x\", \"real\": [[1.0, 2]]}");
    assert_int_equal(msg_pairs(pairs, &count, 2, b, "absent"), ST_OK);
    assert_int_equal(count, 0);
    assert_int_equal(msg_pairs(pairs, &count, 2, b, "good"), ST_OK);
    assert_int_equal(count, 2);
    assert_true(pairs[0][0] == 0 && pairs[0][1] == 1 && pairs[1][0] == UINT32_MAX);
    static const char *const bad[] = {"three",  "flat", "wide", "negative",
                                      "triple", "text", "real"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(msg_pairs(pairs, &count, 2, b, bad[i]), ST_INPUT, bad[i]);
    json_decref(b);
}

/* --- requests and replies --- */

static void reads_heads(void **state)
{
    (void)state;
    struct msg_head h;
    json_t *b = object("{\"op\": \"take\", \"client\": 3, \"incarnation\": \"9f0c\", \"seq\": 17, "
                       "\"holding\": [[5, 6]]}");
    assert_int_equal(msg_read_head(&h, b), ST_OK);
    assert_string_equal(h.op, "take");
    assert_true(h.client_given && h.client == 3 && h.incarnation == 0x9f0c && h.seq == 17);
    assert_true(h.holding_count == 1 && h.holding[0][0] == 5 && h.holding[0][1] == 6);
    json_object_del(b, "seq");
    expect(msg_read_head(&h, b), ST_INPUT, "member \"seq\"");
    json_object_clear(b);
    expect(msg_read_head(&h, b), ST_INPUT, "member \"op\"");
    json_object_set_new(b, "op", json_string("status"));
    assert_int_equal(msg_read_head(&h, b), ST_OK);
    assert_true(!h.client_given && h.client == 0 && h.holding_count == 0);
    json_object_set_new(b, "holding", json_array());
    expect(msg_read_head(&h, b), ST_INPUT, "member \"client\"");
    json_decref(b);
}

static void errors_cross_the_socket(void **state)
{
    (void)state;
    json_t *ok = msg_reply_ok(), *odd = object("{\"ok\": \"yes\"}");
    assert_int_equal(msg_reply_status(ok), ST_OK);
    for (enum status st = ST_INVALID; st <= ST_INTERNAL; st++) {
        json_t *reply = msg_reply_error(st, "file \xff: 100% wrong");
        expect(msg_reply_status(reply), st, "file ?: 100% wrong");
        json_decref(reply);
    }
    expect(msg_reply_status(odd), ST_INTERNAL, "neither");
    json_object_set_new(odd, "ok", json_false());
    expect(msg_reply_status(odd), ST_INTERNAL, "neither");
    json_decref(odd);
    json_decref(ok);
}

static void builds_hex(void **state)
{
    (void)state;
    uint64_t bits;
    uint8_t raw[4];
    json_t *b = json_pack("{s:o, s:o}", "n", msg_json_hex64(0xfedcba9876543210), "raw",
                          msg_json_hex((const uint8_t *)"\x01\x80\x00\xff", 4));
    assert_int_equal(msg_hex64(&bits, b, "n"), ST_OK);
    assert_true(bits == 0xfedcba9876543210);
    assert_int_equal(msg_hex(raw, 4, b, "raw"), ST_OK);
    assert_memory_equal(raw, "\x01\x80\x00\xff", 4);
    json_decref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(refuses_broken_text),
        cmocka_unit_test(bounds_text_payload_and_depth),
        cmocka_unit_test(will_not_send_too_much),
        cmocka_unit_test(reads_members),
        cmocka_unit_test(refusals_name_the_member),
        cmocka_unit_test(reads_pairs),
        cmocka_unit_test(reads_heads),
        cmocka_unit_test(errors_cross_the_socket),
        cmocka_unit_test(builds_hex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
