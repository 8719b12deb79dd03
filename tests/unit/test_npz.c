/* SPDX-License-Identifier: MIT */
/* Zip archives of arrays: those of numpy, and those that a test puts together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <zlib.h>

#include "weights_rig.h"

static void test_what_numpy_writes(void **state)
{
    (void)state;
    nl_tensors tensors = load_sample("types.npz");
    const double fortran[] = {0, 1, 2, 3, 4, 5}, mask[] = {0, -INFINITY}, three[] = {3};
    expect_values(&tensors, "fortran", fortran, 6);
    expect_values(&tensors, "mask", mask, 2);
    expect_values(&tensors, "a/b", three, 1);
    assert_int_equal(nl_tensors_find(&tensors, "a/b")->ndim, 0);
    const nl_tensor *tensor = nl_tensors_find(&tensors, "fortran");
    assert_int_equal(tensor->ndim, 2);
    assert_int_equal(tensor->shape[0], 2);
    assert_int_equal(tensor->shape[1], 3);
    static const char *const unread[] = {"words", "objects", "z", "deep", "README.txt"};
    for (size_t i = 0; i < COUNT(unread); i++) {
        tensor = nl_tensors_find(&tensors, unread[i]);
        assert_non_null(tensor);
        assert_null(tensor->data);
        assert_int_equal(tensor->count, 0);
        assert_true(strlen(tensor->problem) > 10);
    }
    assert_int_equal(tensors.count, 3 + COUNT(unread)); /* the folder is none */
    assert_null(nl_tensors_find(&tensors, "folder/"));
    assert_null(nl_tensors_find(&tensors, ""));
    for (size_t i = 1; i < tensors.count; i++)
        assert_true(strcmp(tensors.items[i - 1].name, tensors.items[i].name) < 0);
    nl_tensors_free(&tensors);
    nl_tensors_free(&tensors);
    assert_int_equal(nl_alloc_live(), 0);
}

/* ---- archives put together here ---- */

struct zip_options {
    const char *name; /* "a.npy" unless set */
    unsigned method, flags;
    bool zip64_entry, zip64_end, descriptor;
    const char *comment;
    uint32_t crc_change;
    uint64_t size_change, packed_change, local_change; /* of what the directory says */
    const char *local_name;
    unsigned disk;
    unsigned copies; /* of the directory's entry; 1 unless set */
};

struct writer {
    uint8_t bytes[1 << 20];
    size_t length;
};

static struct writer out;

static void put(uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        out.bytes[out.length++] = (uint8_t)(value >> (8 * i));
}

static void put_bytes(const void *bytes, size_t length)
{
    assert_true(out.length + length <= sizeof out.bytes);
    if (length > 0)
        memcpy(out.bytes + out.length, bytes, length);
    out.length += length;
}

static size_t pack(const uint8_t *bytes, size_t length, unsigned method, uint8_t *packed,
                   size_t room)
{
    if (method != 8) {
        memcpy(packed, bytes, length);
        return length;
    }
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)bytes, .avail_in = (uInt)length};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

static void put_entry(const struct zip_options *o, const char *name, uint32_t crc, uint64_t packed,
                      uint64_t size, uint64_t local)
{
    size_t extra = o->zip64_entry ? 4 + 24 + 5 : 0;
    put(0x02014b50, 4);
    put(45 | 45 << 16, 4);
    put(o->flags | (o->descriptor ? 8u : 0), 2);
    put(o->method, 2);
    put(0, 4);
    put(crc, 4);
    put(o->zip64_entry ? UINT32_MAX : packed, 4);
    put(o->zip64_entry ? UINT32_MAX : size, 4);
    put(strlen(name), 2);
    put(extra, 2);
    put(0, 2 + 2 + 2); /* comment, disk, attributes */
    put(0, 4);
    put(o->zip64_entry ? UINT32_MAX : local, 4);
    put_bytes(name, strlen(name));
    if (extra) { /* another field in front */
        put(0x7777, 2);
        put(1, 2);
        put(0, 1);
        put(1, 2);
        put(24, 2);
        put(size, 8);
        put(packed, 8);
        put(local, 8);
    }
}

static void put_end(const struct zip_options *o, size_t start, uint64_t entries)
{
    size_t size = out.length - start, end64 = out.length;
    if (o->zip64_end) {
        put(0x06064b50, 4);
        put(44, 8);
        put(45 | 45 << 16, 4);
        put(0, 8);
        put(entries, 8);
        put(entries, 8);
        put(size, 8);
        put(start, 8);
        put(0x07064b50, 4);
        put(0, 4);
        put(end64, 8);
        put(1, 4);
    }
    put(0x06054b50, 4);
    put(o->disk, 2);
    put(0, 2);
    put(o->zip64_end ? UINT16_MAX : entries, 2);
    put(o->zip64_end ? UINT16_MAX : entries, 2);
    put(o->zip64_end ? UINT32_MAX : size, 4);
    put(o->zip64_end ? UINT32_MAX : start, 4);
    put(o->comment ? strlen(o->comment) : 0, 2);
    if (o->comment)
        put_bytes(o->comment, strlen(o->comment));
}

/* An archive of one member with these bytes. */
static void make_zip(const struct zip_options *o, const uint8_t *bytes, size_t length)
{
    static uint8_t packed[1 << 19];
    const char *name = o->name ? o->name : "a.npy";
    const char *local_name = o->local_name ? o->local_name : name;
    size_t packed_length = pack(bytes, length, o->method, packed, sizeof packed);
    uint32_t crc = (uint32_t)crc32_z(0, bytes, length);
    unsigned copies = o->copies ? o->copies : 1;
    out.length = 0;
    put(0x04034b50, 4);
    put(45, 2);
    put(o->flags | (o->descriptor ? 8u : 0), 2);
    put(o->method, 2);
    put(0, 4);
    put(o->descriptor ? 0 : crc, 4);
    put(o->descriptor ? 0 : packed_length, 4);
    put(o->descriptor ? 0 : length, 4);
    put(strlen(local_name), 2);
    put(0, 2);
    put_bytes(local_name, strlen(local_name));
    put_bytes(packed, packed_length);
    if (o->descriptor) {
        put(0x08074b50, 4);
        put(crc, 4);
        put(packed_length, 4);
        put(length, 4);
    }
    size_t start = out.length;
    for (unsigned i = 0; i < copies; i++)
        put_entry(o, name, crc + o->crc_change, packed_length + o->packed_change,
                  length + o->size_change, o->local_change);
    put_end(o, start, copies);
}

/* A .npy file with this header text and so many bytes of values, which count 0, 1, 2.. */
static size_t make_npy(uint8_t *bytes, const char *header, size_t values)
{
    size_t length = strlen(header);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (uint8_t)length;
    bytes[9] = (uint8_t)(length >> 8);
    memcpy(bytes + 10, header, length);
    for (size_t i = 0; i < values; i++)
        bytes[10 + length + i] = (uint8_t)i;
    return 10 + length + values;
}

#define BYTES_4 "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }\n"

static void test_ways_to_write_a_zip(void **state)
{
    (void)state;
    uint8_t npy[256];
    const double expected[] = {0, 1, 2, 3};
    size_t length = make_npy(npy, BYTES_4, 4);
    const struct zip_options ways[] = {
        {.method = 0},
        {.method = 8},
        {.method = 8, .zip64_entry = true},
        {.method = 0, .zip64_end = true},
        {.method = 8, .zip64_entry = true, .zip64_end = true, .comment = "with a comment"},
        {.method = 8, .descriptor = true},
        {.method = 0, .descriptor = true, .comment = "PK\5\6"},
        {.method = 0, .flags = 1 << 11},
    };
    for (size_t i = 0; i < COUNT(ways); i++) {
        nl_error error = {.message = ""};
        nl_tensors tensors;
        make_zip(&ways[i], npy, length);
        if (nl_tensors_load(out.bytes, out.length, &tensors, &error) != NL_OK)
            fail_msg("way %zu: %s", i, error.message);
        assert_int_equal(tensors.count, 1);
        expect_values(&tensors, "a", expected, 4);
        nl_tensors_free(&tensors);
        for (size_t cut = 0; cut < out.length; cut++)
            assert_int_equal(try_bytes(out.bytes, cut), NL_FORMAT);
    }
}

static void test_empty_archive(void **state)
{
    (void)state;
    nl_tensors tensors;
    out.length = 0;
    put_end(&(struct zip_options){0}, 0, 0);
    assert_int_equal(nl_tensors_load(out.bytes, out.length, &tensors, NULL), NL_OK);
    assert_int_equal(tensors.count, 0);
    assert_null(nl_tensors_find(&tensors, "a"));
    nl_tensors_free(&tensors);
}

/* Larger than the first piece that is unpacked, and an exact multiple of nothing. */
static void test_large_member(void **state)
{
    (void)state;
    static uint8_t npy[300000];
    char header[128];
    static const size_t values[] = {65536 - 75, 65536 - 74, 65536 - 73, 65536, 200001};
    for (size_t k = 0; k < COUNT(values); k++) {
        nl_tensors tensors;
        snprintf(header, sizeof header,
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (%06zu,), }\n", values[k]);
        size_t length = make_npy(npy, header, values[k]);
        make_zip(&(struct zip_options){.method = 8}, npy, length);
        assert_int_equal(nl_tensors_load(out.bytes, out.length, &tensors, NULL), NL_OK);
        const nl_tensor *a = nl_tensors_find(&tensors, "a");
        assert_int_equal(a->count, values[k]);
        for (size_t i = 0; i < values[k]; i++)
            assert_true(a->data[i] == (float)(uint8_t)i);
        nl_tensors_free(&tensors);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    uint8_t npy[256];
    size_t length = make_npy(npy, BYTES_4, 4);
    char long_name[300], longest[NL_TENSOR_MAX_NAME + 4];
    memset(long_name, 'n', sizeof long_name);
    memcpy(long_name + 256, ".npy", 5);
    const struct {
        struct zip_options options;
        nl_status status;
        const char *words;
    } cases[] = {
        {{.flags = 1}, NL_UNSUPPORTED, "encrypted"},
        {{.method = 8, .flags = 1 << 6}, NL_UNSUPPORTED, "tensor 'a'"},
        {{.method = 12}, NL_UNSUPPORTED, "method 12"},
        {{.crc_change = 1}, NL_FORMAT, "checksum"},
        {{.method = 8, .crc_change = 1}, NL_FORMAT, "checksum"},
        {{.size_change = 1}, NL_FORMAT, "tensor 'a'"},
        {{.method = 8, .size_change = 1}, NL_FORMAT, "its shape needs"},
        {{.method = 8, .size_change = (uint64_t)-1}, NL_FORMAT, "its shape needs"},
        {{.method = 8, .size_change = 1 << 20}, NL_FORMAT, "damaged"},
        {{.method = 8, .size_change = UINT64_MAX / 2, .zip64_entry = true}, NL_FORMAT, "damaged"},
        {{.method = 8, .packed_change = (uint64_t)-1}, NL_FORMAT, "damaged"},
        {{.method = 8, .packed_change = 1, .descriptor = true}, NL_FORMAT, "damaged"},
        {{.packed_change = 1 << 20, .size_change = 1 << 20}, NL_FORMAT, "damaged"},
        {{.packed_change = UINT64_MAX / 2, .size_change = UINT64_MAX / 2, .zip64_entry = true},
         NL_FORMAT,
         "damaged"},
        {{.local_change = 1}, NL_FORMAT, "damaged"},
        {{.local_change = 1 << 30}, NL_FORMAT, "damaged"},
        {{.local_change = UINT64_MAX, .zip64_entry = true}, NL_FORMAT, "damaged"},
        {{.local_name = "b.npy"}, NL_FORMAT, "damaged"},
        {{.local_name = "aa.npy"}, NL_FORMAT, "damaged"},
        {{.name = "a\n.npy"}, NL_FORMAT, "tensor 1"},
        {{.name = "a\xff.npy"}, NL_FORMAT, "UTF-8"},
        {{.name = long_name}, NL_LIMIT, "longer than 255"},
        {{.copies = 2}, NL_FORMAT, "more than once"},
        {{.disk = 1}, NL_UNSUPPORTED, "archive of several"},
        {{.name = "archive/data.pkl"}, NL_UNSUPPORTED, "torch.save"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_zip(&cases[i].options, npy, length);
        expect_refused(out.bytes, out.length, cases[i].status, cases[i].words);
    }
    memset(longest, 'n', sizeof longest);
    memcpy(longest + 255, ".npy", 5);
    make_zip(&(struct zip_options){.name = longest}, npy, length);
    assert_int_equal(try_bytes(out.bytes, out.length), NL_OK);
    make_zip(&(struct zip_options){.method = 8}, (const uint8_t *)"no array", 8);
    expect_refused(out.bytes, out.length, NL_FORMAT, "tensor 'a': this is not a .npy file");
}

static void test_other_files(void **state)
{
    (void)state;
    uint8_t npy[256];
    size_t length = make_npy(npy, BYTES_4, 4);
    expect_refused(npy, length, NL_UNSUPPORTED, "numpy.savez");
    expect_refused((const uint8_t *)"", 0, NL_FORMAT, "empty");
    expect_refused((const uint8_t *)"\x80\x02}q\x00.", 6, NL_UNSUPPORTED, "pickle");
    expect_refused((const uint8_t *)"a,b\n1,2\n3,4\n", 12, NL_FORMAT, "neither");
    expect_refused((const uint8_t *)"PK\3\4", 4, NL_FORMAT, "cut short");
}

/* Most memory that this process has had, in KiB. */
static long most_memory(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void test_promises_cost_no_memory(void **state)
{
    (void)state;
    static uint8_t npy[1 << 19];
    uint64_t seed = 2;
    long before = most_memory();
    /* one byte more than the limit, behind a head that says so, in bytes that do not pack */
    static const char header[] =
        "{'descr': '|u1', 'fortran_order': False, 'shape': (536870913,), }\n";
    const size_t head = make_npy(npy, header, 0), promised = head + 536870913;
    for (size_t i = head; i < sizeof npy; i++)
        npy[i] = (uint8_t)next_random(&seed);
    make_zip(&(struct zip_options){.method = 8, .size_change = promised - 400000}, npy, 400000);
    expect_refused(out.bytes, out.length, NL_FORMAT, "damaged"); /* more than deflate can reach */
    make_zip(&(struct zip_options){.method = 8, .size_change = promised - 523000}, npy, 523000);
    expect_refused(out.bytes, out.length, NL_LIMIT, "536870912");
    assert_true(most_memory() - before < 16384);
}

static const char *const samples[] = {"types.npz",
                                      "nonlocal_stored.npz",
                                      "nonlocal_deflated.npz",
                                      "clip_block.npz",
                                      "sagan_deflated.npz",
                                      "sagan_parametrized.npz",
                                      "transformer_stored.npz",
                                      "transformer_deflated.npz",
                                      "encoder_layer.npz"};

static void test_every_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++)
        withstand_truncation(samples[i]);
}

static void test_random_corruptions(void **state)
{
    (void)state;
    size_t read = 0;
    for (size_t i = 0; i < COUNT(samples); i++)
        read += withstand_corruption(samples[i]);
    /* dates and the like do not matter, everything else does */
    assert_in_range(read, 1000, COUNT(samples) * 2000 / 2);
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    withstand_lack_of_memory("nonlocal_stored.npz", NL_SYSTEM_NONLOCAL, NL_CONCAT);
    withstand_lack_of_memory("nonlocal_deflated.npz", NL_SYSTEM_NONLOCAL, NL_CONCAT);
    withstand_lack_of_memory("sagan_parametrized.npz", NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN);
    withstand_lack_of_memory("transformer_deflated.npz", NL_SYSTEM_TRANSFORMER, NL_DOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promises_cost_no_memory), /* first, while the process is small */
        cmocka_unit_test(test_what_numpy_writes),
        cmocka_unit_test(test_ways_to_write_a_zip),
        cmocka_unit_test(test_empty_archive),
        cmocka_unit_test(test_large_member),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_random_corruptions),
        cmocka_unit_test(test_every_allocation_failing_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
