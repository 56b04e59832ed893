/* The replying side of SP over IPC, byte by byte, at a socket pair. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shm/coord/wire.h"

static const uint8_t greeting[] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};

struct pair {
    struct wire wire;
    int other;
};

static void pair_open(struct pair *p)
{
    int ends[2];
    uint8_t hello[8];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    wire_init(&p->wire, ends[0]);
    p->other = ends[1];
    assert_int_equal(recv(p->other, hello, sizeof hello, 0), sizeof hello);
    assert_memory_equal(hello, "\0SP\0\0\x31\0\0", sizeof hello);
}

static void pair_close(struct pair *p)
{
    wire_fini(&p->wire);
    if (p->other >= 0)
        close(p->other);
}

static void put(struct pair *p, const void *bytes, size_t len)
{
    assert_int_equal(send(p->other, bytes, len, MSG_NOSIGNAL), len);
}

/* What comes of all that is there. */
static enum wire_event take(struct pair *p, uint8_t **body, size_t *len)
{
    enum wire_event e;
    do {
        e = wire_read(&p->wire, body, len);
    } while (e == WIRE_MORE);
    return e;
}

static void messages_come_in_any_pieces(void **state)
{
    (void)state;
    uint8_t stream[64], *body = NULL;
    static const uint8_t message[] = {1, 0, 0, 0, 0, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o'};
    size_t len = 0, n = sizeof greeting + 2 * sizeof message;
    memcpy(stream, greeting, sizeof greeting);
    memcpy(stream + sizeof greeting, message, sizeof message);
    memcpy(stream + sizeof greeting + sizeof message, message, sizeof message);
    for (size_t piece = 1; piece <= n; piece++) {
        struct pair p;
        int come = 0;
        pair_open(&p);
        for (size_t at = 0; at < n; at += piece) {
            put(&p, stream + at, piece < n - at ? piece : n - at);
            while (take(&p, &body, &len) == WIRE_MESSAGE) {
                assert_int_equal(len, 5);
                assert_memory_equal(body, "hello", 5);
                free(body);
                come++;
            }
        }
        assert_int_equal(come, 2);
        pair_close(&p);
    }
}

static void what_is_not_sp_is_broken(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[20];
        size_t len;
    } cases[] = {
        {"GET / HTTP/1.0\r\n", 16},
        {{0, 'S', 'P', 0, 0, 0x31, 0, 0}, 8},                                /* not a requester */
        {{0, 'S', 'P', 0, 0, 0x30, 0, 0, 2, 0}, 17},                         /* no message */
        {{0, 'S', 'P', 0, 0, 0x30, 0, 0, 1, 0}, 17},                         /* of no bytes */
        {{0, 'S', 'P', 0, 0, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0x20, 0, 1}, 17}, /* 2 MiB + 1 */
        {{0, 'S', 'P', 0, 0, 0x30, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 17},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pair p;
        uint8_t *body;
        size_t len;
        pair_open(&p);
        put(&p, cases[i].bytes, cases[i].len);
        assert_int_equal(take(&p, &body, &len), WIRE_BROKEN);
        pair_close(&p);
    }
}

static void a_hang_up_is_broken(void **state)
{
    (void)state;
    struct pair p;
    uint8_t *body;
    size_t len;
    pair_open(&p);
    put(&p, greeting, sizeof greeting);
    put(&p, "\1\0\0\0\0\0\0\0\12half", 13);
    assert_int_equal(take(&p, &body, &len), WIRE_EMPTY);
    close(p.other);
    p.other = -1;
    assert_int_equal(take(&p, &body, &len), WIRE_BROKEN);
    assert_false(wire_send(&p.wire, "x", 1, "y", 1));
    pair_close(&p);
}

/* Replies that are read late arrive whole and in order. */
static void replies_wait_for_their_reader(void **state)
{
    (void)state;
    enum { REPLIES = 40, SIZE = 50000, WHOLE = WIRE_HEAD_BYTES + 4 + SIZE };
    struct pair p;
    static uint8_t reply[SIZE], got[WHOLE];
    pair_open(&p);
    for (int i = 0; i < REPLIES; i++) {
        memset(reply, i, sizeof reply);
        assert_true(wire_send(&p.wire, "head", 4, reply, sizeof reply));
    }
    assert_true(wire_is_busy(&p.wire));
    for (int i = 0; i < REPLIES; i++) {
        for (size_t have = 0; have < sizeof got;) {
            ssize_t n = recv(p.other, got + have, sizeof got - have, 0);
            assert_true(wire_flush(&p.wire));
            have += n > 0 ? (size_t)n : 0;
        }
        assert_memory_equal(got, "\1\0\0\0\0\0\0\xc3\x54head", WIRE_HEAD_BYTES + 4);
        assert_int_equal(got[WIRE_HEAD_BYTES + 4], i);
        assert_int_equal(got[WHOLE - 1], i);
    }
    assert_false(wire_is_busy(&p.wire));
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_in_any_pieces),
        cmocka_unit_test(what_is_not_sp_is_broken),
        cmocka_unit_test(a_hang_up_is_broken),
        cmocka_unit_test(replies_wait_for_their_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
