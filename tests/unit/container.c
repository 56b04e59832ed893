#include "tests/unit/container.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

struct blob blob_copy(const void *data, size_t size)
{
    struct blob b = {malloc(size ? size : 1), size};
    assert_non_null(b.data);
    if (size)
        memcpy(b.data, data, size);
    return b;
}

struct blob blob_read(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", PINION_TEST_DATA, name);
    struct file_map map;
    assert_int_equal(file_map(&map, path), ST_OK);
    struct blob b = blob_copy(map.data, map.size);
    file_unmap(&map);
    return b;
}

void blob_free(struct blob *b)
{
    free(b->data);
    *b = (struct blob){0};
}

struct container container_read(const char *name)
{
    struct blob file = blob_read(name);
    struct container c = {0};
    memcpy(c.magic, file.data, 4);
    memcpy(&c.version, file.data + 4, 4);
    memcpy(&c.claimed, file.data + 8, 4);
    const uint8_t *p = file.data + 12;
    for (uint32_t i = 0; i < c.claimed; i++) {
        assert_true(c.n < CONTAINER_MAX);
        memcpy(&c.sections[c.n].id, p, 4);
        memcpy(&c.sections[c.n].claimed, p + 4, 8);
        c.sections[c.n].blob = blob_copy(p + 12, c.sections[c.n].claimed);
        p += 12 + c.sections[c.n++].claimed;
    }
    assert_ptr_equal(p, file.data + file.size);
    blob_free(&file);
    return c;
}

struct blob container_build(const struct container *c)
{
    size_t size = 12;
    for (size_t i = 0; i < c->n; i++)
        size += 12 + c->sections[i].blob.size;
    struct blob file = {malloc(size), size};
    assert_non_null(file.data);
    memcpy(file.data, c->magic, 4);
    memcpy(file.data + 4, &c->version, 4);
    memcpy(file.data + 8, &c->claimed, 4);
    uint8_t *p = file.data + 12;
    for (size_t i = 0; i < c->n; i++) {
        memcpy(p, &c->sections[i].id, 4);
        memcpy(p + 4, &c->sections[i].claimed, 8);
        memcpy(p + 12, c->sections[i].blob.data, c->sections[i].blob.size);
        p += 12 + c->sections[i].blob.size;
    }
    return file;
}

void container_free(struct container *c)
{
    for (size_t i = 0; i < c->n; i++)
        blob_free(&c->sections[i].blob);
    c->n = 0;
}

static size_t find(const struct container *c, uint32_t id)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->sections[i].id == id)
            return i;
    assert_true(!"no such section");
    return 0;
}

struct blob *container_section(struct container *c, uint32_t id)
{
    return &c->sections[find(c, id)].blob;
}

void container_drop(struct container *c, uint32_t id)
{
    size_t i = find(c, id);
    blob_free(&c->sections[i].blob);
    memmove(&c->sections[i], &c->sections[i + 1], (--c->n - i) * sizeof c->sections[0]);
    c->claimed--;
}

void container_double(struct container *c, uint32_t id)
{
    assert_true(c->n < CONTAINER_MAX);
    c->sections[c->n] = c->sections[find(c, id)];
    struct blob *copy = &c->sections[c->n++].blob;
    *copy = blob_copy(copy->data, copy->size);
    c->claimed++;
}

void container_resize(struct container *c, uint32_t id, size_t size)
{
    size_t i = find(c, id);
    struct blob *b = &c->sections[i].blob;
    uint8_t *data = calloc(1, size ? size : 1);
    assert_non_null(data);
    memcpy(data, b->data, size < b->size ? size : b->size);
    free(b->data);
    *b = (struct blob){data, size};
    c->sections[i].claimed = size;
}

enum status reader_try(reader *read, const void *data, size_t size)
{
    struct blob copy = blob_copy(data, size);
    const struct file_map map = {"file under test", copy.data, copy.size};
    status_clear();
    enum status st = read(&map);
    if (st != ST_OK) {
        const char *message = status_message();
        assert_int_equal(st, ST_INPUT);
        assert_int_equal(strncmp(message, "file under test: ", 17), 0);
        assert_null(strchr(message, '\n'));
    }
    blob_free(&copy);
    return st;
}

enum status reader_try_container(reader *read, const struct container *c)
{
    struct blob file = container_build(c);
    enum status st = reader_try(read, file.data, file.size);
    blob_free(&file);
    return st;
}

static void refuse(reader *read, const struct container *c, const char *name, const char *damage,
                   uint32_t id)
{
    if (reader_try_container(read, c) == ST_OK) {
        print_error("%s: accepted with section %" PRIu32 " %s\n", name, id, damage);
        assert_true(!"accepted");
    }
}

/* Each way to damage one section while the container stays sound, or to lie about its size. */
static void refuses_damaged_section(reader *read, const char *name, size_t i)
{
    struct container c = container_read(name);
    uint32_t id = c.sections[i].id;
    size_t size = c.sections[i].blob.size;
    const uint64_t lies[] = {0,          1,          size - 1,        size + 1,        1ULL << 31,
                             1ULL << 32, 1ULL << 63, UINT64_MAX - 11, UINT64_MAX - 12, UINT64_MAX};
    for (size_t k = 0; k < sizeof lies / sizeof lies[0]; k++) {
        c.sections[i].claimed = lies[k];
        refuse(read, &c, name, "lying about its size", id);
    }
    const size_t sizes[] = {size + 1, size + 4096, size - 1, size / 2, 3, 0};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        container_resize(&c, id, sizes[k]);
        refuse(read, &c, name, "of another size", id);
    }
    container_free(&c);

    c = container_read(name);
    container_drop(&c, id);
    refuse(read, &c, name, "dropped", id);
    container_free(&c);

    c = container_read(name);
    container_double(&c, id);
    refuse(read, &c, name, "doubled", id);
    container_free(&c);

    c = container_read(name);
    c.sections[i].id = UINT32_MAX;
    refuse(read, &c, name, "of an unknown id", id);
    container_free(&c);
}

static void refuses_damaged_header(reader *read, const char *name)
{
    struct container c = container_read(name);
    uint32_t version = c.version, claimed = c.claimed;
    const uint32_t values[] = {0,           1,           2,        3,         version + 1,
                               claimed - 1, claimed + 1, 1U << 31, UINT32_MAX};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        if (values[k] != version) {
            c.version = values[k];
            assert_int_equal(reader_try_container(read, &c), ST_INPUT);
            c.version = version;
        }
        if (values[k] != claimed) {
            c.claimed = values[k];
            assert_int_equal(reader_try_container(read, &c), ST_INPUT);
            c.claimed = claimed;
        }
    }
    for (size_t k = 0; k < 4; k++) {
        c.magic[k] ^= 0x20;
        assert_int_equal(reader_try_container(read, &c), ST_INPUT);
        c.magic[k] ^= 0x20;
    }
    assert_int_equal(reader_try_container(read, &c), ST_OK);
    container_free(&c);
}

void reader_refuses_damage(reader *read, const char *name)
{
    struct blob file = blob_read(name);
    assert_int_equal(reader_try(read, file.data, file.size), ST_OK);
    for (size_t size = 0; size < file.size; size++)
        if (reader_try(read, file.data, size) == ST_OK) {
            print_error("%s: its first %zu bytes of %zu are accepted\n", name, size, file.size);
            assert_true(!"accepted");
        }
    struct blob longer = blob_copy(file.data, file.size);
    longer.data = realloc(longer.data, file.size + 1);
    assert_non_null(longer.data);
    longer.data[file.size] = 0;
    assert_int_equal(reader_try(read, longer.data, file.size + 1), ST_INPUT);
    blob_free(&longer);
    blob_free(&file);

    refuses_damaged_header(read, name);
    struct container c = container_read(name);
    size_t n = c.n;
    container_free(&c);
    for (size_t i = 0; i < n; i++)
        refuses_damaged_section(read, name, i);
}

void reader_survives_fields(reader *read, const char *name, uint32_t id)
{
    struct container c = container_read(name);
    struct blob *section = container_section(&c, id);
    for (size_t at = 0; at + 4 <= section->size; at++) {
        uint32_t field;
        memcpy(&field, section->data + at, 4);
        const uint32_t values[] = {
            0,       1,       2,        3,        field - 1,  field + 1,     field ^ 64,
            1 << 16, 1 << 28, 1U << 29, 1U << 31, UINT32_MAX, UINT32_MAX - 1};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            memcpy(section->data + at, &values[k], 4);
            (void)reader_try_container(read, &c);
        }
        memcpy(section->data + at, &field, 4);
    }
    assert_int_equal(reader_try_container(read, &c), ST_OK);
    container_free(&c);
}
