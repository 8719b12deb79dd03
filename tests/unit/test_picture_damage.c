/* SPDX-License-Identifier: MIT */
/* Files that are no pictures, cut short, damaged or lying about their size; memory running out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "nonlocal/picture.h"

#include "alloc.h"
#include "io/picture_guard.h"
#include "picture_files.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_SAMPLES = 100 };

/* One sentence for a person: not empty, no line break, not cut. */
static void check_message(const nl_error *error, nl_status status)
{
    size_t length = strlen(error->message);
    assert_int_equal(error->status, status);
    assert_in_range(length, 10, sizeof error->message - 2);
    assert_null(strchr(error->message, '\n'));
    assert_true(error->message[length - 1] != ' ');
}

/*
 * Decodes and reduces a copy of exact size; the status of the first that fails. Nothing is left
 * behind, and a failure has words.
 */
static nl_status try_bytes(const uint8_t *bytes, size_t length)
{
    nl_error error = {.message = ""};
    nl_bitmap bitmap;
    nl_picture picture = {0};
    uint8_t *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    nl_status status = nl_bitmap_load(copy, length, &bitmap, &error);
    free(copy);
    if (status == NL_OK)
        status = nl_picture_from_bitmap(&bitmap, 64, &picture, &error);
    else
        assert_null(bitmap.pixels);
    if (status != NL_OK)
        check_message(&error, status);
    for (size_t y = 0; status == NL_OK && y < picture.height; y++)
        for (size_t k = 0; k < picture.rgb.cols; k++) /* a NaN fails, too */
            assert_true(nl_row(&picture.rgb, y)[k] >= 0 && nl_row(&picture.rgb, y)[k] <= 1.000001f);
    nl_picture_free(&picture);
    nl_bitmap_free(&bitmap);
    assert_int_equal(nl_alloc_live(), 0);
    return status;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);
    return n >= e && strcmp(name + n - e, ending) == 0;
}

static void test_c61_empty_file(void **state)
{
    (void)state;
    assert_int_equal(try_bytes((const uint8_t *)"", 0), NL_FORMAT);
}

static void test_not_a_picture(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "x",
        "\xff",
        "\xff\xd8",
        "\xff\xff\xd8\xff",
        "GIF89a",
        "BM",
        "P6",
        "P6\n",
        "P6 3",
        "P5 1 1",
        "P5 1 1 255",
        "P5 1 1 65536 xx",
        "P5 0 1 255 x",
        "P5 1 1 0 x",
        "P5 99999999999 1 255 x",
        "\x89PNG\r\n\x1a\n",
        "a,b\n1,2\n",
        "%PDF-1.4",
        "\x93NUMPY",
        "\xff\xfeh\x00i\x00",
        "P2 2 1 9 3 10",
        "P2 2 1 9 3",
        "P2 2 1 9 3 x",
    };
    for (size_t t = 0; t < COUNT(texts); t++)
        if (try_bytes((const uint8_t *)texts[t], strlen(texts[t])) != NL_FORMAT)
            fail_msg("text %zu (%s) was taken for a picture", t, texts[t]);
}

static void test_plain_pnm(void **state)
{
    (void)state;
    static const char grey[] = "P2\n# levels 0..9\n3 1 # wide\n9\n0 3\n9";
    static const char color[] = "P3 1 1 255 1 2 255\n";
    nl_bitmap bitmap;
    assert_int_equal(nl_bitmap_load(grey, strlen(grey), &bitmap, NULL), NL_OK);
    const uint16_t *pixels = bitmap.pixels;
    assert_int_equal(bitmap.bits, 16);
    assert_int_equal(bitmap.width, 3);
    assert_int_equal(pixels[0], 0);
    assert_int_equal(pixels[1], 21845);
    assert_int_equal(pixels[2], 65535);
    nl_bitmap_free(&bitmap);
    assert_int_equal(nl_bitmap_load(color, strlen(color), &bitmap, NULL), NL_OK);
    assert_int_equal(bitmap.channels, 3);
    assert_memory_equal(bitmap.pixels, "\1\2\377", 3);
    nl_bitmap_free(&bitmap);
}

/* May a file of this kind that lacks its last `missing` bytes still be read? */
static bool may_lack(const char *name, size_t missing)
{
    if (ends_with(name, ".gif"))
        return true; /* what came so far, on transparent */
    if (ends_with(name, ".png"))
        return missing <= 4; /* the checksum of the empty last chunk */
    if (ends_with(name, ".bmp"))
        return missing <= 3; /* padding of the last row */
    if (ends_with(name, ".jpg"))
        return missing <= 2; /* the marker of the end */
    return false;
}

static void test_every_truncation(void **state)
{
    (void)state;
    char names[MAX_SAMPLES][64];
    size_t count = file_names(names, MAX_SAMPLES);
    assert_in_range(count, 30, MAX_SAMPLES);
    for (size_t f = 0; f < count; f++) {
        struct file file = file_read(names[f]);
        size_t step = file.length > 4096 ? 37 : 1;
        for (size_t length = 0; length < file.length; length += step) {
            nl_status status = try_bytes(file.bytes, length);
            if (status == NL_OK ? !may_lack(names[f], file.length - length)
                                : status != NL_FORMAT && strcmp(names[f], "huge.png") != 0)
                fail_msg("%s cut to %zu of %zu bytes: %s", names[f], length, file.length,
                         nl_status_name(status));
        }
        free(file.bytes);
    }
}

/* splitmix64 */
static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void test_random_corruptions(void **state)
{
    (void)state;
    char names[MAX_SAMPLES][64];
    size_t count = file_names(names, MAX_SAMPLES), read = 0, refused = 0;
    uint64_t seed = 1;
    for (size_t f = 0; f < count; f++) {
        struct file file = file_read(names[f]);
        for (int round = 0; round < 2000; round++) {
            size_t at = (size_t)(next_random(&seed) % file.length);
            uint8_t before = file.bytes[at];
            file.bytes[at] = (uint8_t)next_random(&seed);
            nl_status status = try_bytes(file.bytes, file.length);
            assert_true(status == NL_OK || status == NL_FORMAT || status == NL_LIMIT);
            read += status == NL_OK;
            refused += status != NL_OK;
            file.bytes[at] = before;
        }
        free(file.bytes);
    }
    /* both must happen, or the samples are no samples */
    assert_true(read > 1000 && refused > 1000);
}

/* Most memory that this process has had, in KiB. */
static long most_memory(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void put_big32(uint8_t *at, uint32_t value)
{
    for (int b = 0; b < 4; b++)
        at[b] = (uint8_t)(value >> (24 - 8 * b));
}

static void put_little32(uint8_t *at, uint32_t value)
{
    for (int b = 0; b < 4; b++)
        at[b] = (uint8_t)(value >> (8 * b));
}

static void test_header_over_the_limit(void **state)
{
    (void)state;
    struct file file = file_read("huge.png"); /* 70,000 × 70,000 */
    nl_error error;
    nl_bitmap bitmap;
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_LIMIT);
    check_message(&error, NL_LIMIT);
    assert_non_null(strstr(error.message, "70000"));
    assert_non_null(strstr(error.message, "65500"));
    put_big32(file.bytes + 16, 65500); /* sides allowed, too many pixels */
    put_big32(file.bytes + 20, 65500);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_LIMIT);
    put_big32(file.bytes + 16, 65501); /* one side over */
    put_big32(file.bytes + 20, 1);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_LIMIT);
    free(file.bytes);
    file = file_read("rgb8.bmp");
    put_little32(file.bytes + 18, 65501);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_LIMIT);
    put_little32(file.bytes + 18, 20000); /* stored from the top: the height is negative */
    put_little32(file.bytes + 22, (uint32_t)-20000);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_LIMIT);
    put_little32(file.bytes + 22, 0x80000000u); /* the height whose negative does not exist */
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_LIMIT);
    put_little32(file.bytes + 22, 9); /* widths that are none */
    put_little32(file.bytes + 18, 0x90000000u);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_FORMAT);
    put_little32(file.bytes + 18, 0);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_FORMAT);
    free(file.bytes);
    file = file_read("palette8.gif");
    memset(file.bytes + 6, 0, 4);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_FORMAT);
    memset(file.bytes + 6, 0xff, 4);
    assert_int_equal(nl_bitmap_load(file.bytes, file.length, &bitmap, &error), NL_LIMIT);
    free(file.bytes);
    static const char pnm[] = "P5 65501 1 255 x";
    assert_int_equal(nl_bitmap_load(pnm, sizeof pnm, &bitmap, &error), NL_LIMIT);
    assert_int_equal(nl_alloc_live(), 0);
}

/* The place of the frame header's height in a JPEG, which the width follows. */
static uint8_t *jpeg_size(struct file *file)
{
    for (size_t i = 2; i + 9 < file->length; i++)
        if (file->bytes[i] == 0xff && (file->bytes[i + 1] == 0xc0 || file->bytes[i + 1] == 0xc2))
            return file->bytes + i + 5;
    fail_msg("%s has no frame header", file->name);
    return NULL;
}

/* A few hundred bytes must not cost the memory of the millions of pixels that they promise. */
static void test_promises_cost_no_memory(void **state)
{
    (void)state;
    const struct {
        const char *name;
        size_t width_at, height_at;
        bool big_endian;
    } forged[] = {
        {"rgb8.png", 16, 20, true},      {"rgba16.png", 16, 20, true},
        {"palette4.png", 16, 20, true},  {"rgb8.bmp", 18, 22, false},
        {"palette8.bmp", 18, 22, false}, {"orientation1.jpg", 0, 0, true},
        {"progressive.jpg", 0, 0, true},
    };
    long before = most_memory();
    for (size_t f = 0; f < COUNT(forged); f++) {
        struct file file = file_read(forged[f].name);
        void (*put)(uint8_t *, uint32_t) = forged[f].big_endian ? put_big32 : put_little32;
        if (forged[f].width_at) {
            put(file.bytes + forged[f].width_at, 16000);
            put(file.bytes + forged[f].height_at, 16000);
        } else {
            put(jpeg_size(&file), 16000u << 16 | 16000u);
        }
        assert_int_equal(try_bytes(file.bytes, file.length), NL_FORMAT);
        free(file.bytes);
    }
    struct file file = file_read("palette8.gif"); /* 16,000 × 16,000 */
    memcpy(file.bytes + 6, "\x80\x3e\x80\x3e", 4);
    assert_int_equal(try_bytes(file.bytes, file.length), NL_FORMAT);
    free(file.bytes);
    file = file_read("rgb8.png"); /* a chunk of nearly 2 GiB */
    for (size_t i = 8; i + 8 < file.length; i++)
        if (memcmp(file.bytes + i + 4, "IDAT", 4) == 0)
            put_big32(file.bytes + i, 0x7fffff00u);
    assert_int_equal(try_bytes(file.bytes, file.length), NL_FORMAT);
    free(file.bytes);
    file = file_read("bomb.png"); /* 16 MiB for one pixel */
    assert_int_equal(try_bytes(file.bytes, file.length), NL_FORMAT);
    free(file.bytes);
    assert_int_equal(try_bytes((const uint8_t *)"P6 16000 16000 255 xyz", 22), NL_FORMAT);
    assert_true(most_memory() - before < 8192);
}

/* A Huffman table of more values than there are bytes; it may stand before or after a scan. */
static void test_oversized_jpeg_tables(void **state)
{
    (void)state;
    uint8_t table[4 + 17 + 300] = {0xff, 0xc4, (19 + 300) >> 8, (19 + 300) & 255};
    table[4 + 15] = 200;
    table[4 + 16] = 100;
    struct file file = file_read("progressive.jpg");
    size_t places = 0;
    assert_true(nl_jpeg_tables_fit(file.bytes, file.length));
    for (size_t at = 2; at + 1 < file.length; at++) {
        if (file.bytes[at] != 0xff || (file.bytes[at + 1] != 0xc4 && file.bytes[at + 1] != 0xda))
            continue;
        uint8_t *longer = malloc(file.length + sizeof table);
        assert_non_null(longer);
        memcpy(longer, file.bytes, at);
        memcpy(longer + at, table, sizeof table);
        memcpy(longer + at + sizeof table, file.bytes + at, file.length - at);
        assert_int_equal(try_bytes(longer, file.length + sizeof table), NL_FORMAT);
        assert_false(nl_jpeg_tables_fit(longer, file.length + sizeof table));
        longer[at + 4 + 16] = 57; /* one too many */
        longer[at + 3] = (19 + 257) & 255;
        assert_false(nl_jpeg_tables_fit(longer, file.length + sizeof table));
        assert_int_equal(try_bytes(longer, file.length + sizeof table), NL_FORMAT);
        longer[at + 4 + 16] = 56; /* 256 values, and 44 bytes that no marker claims */
        longer[at + 3] = (19 + 256) & 255;
        assert_true(nl_jpeg_tables_fit(longer, file.length + sizeof table));
        free(longer);
        places++;
    }
    assert_true(places > 4);
    /* a fill byte before the first marker must not hide the rest from the check */
    uint8_t *filled = malloc(file.length + 1 + sizeof table);
    assert_non_null(filled);
    memcpy(filled, "\xff\xff\xd8", 3);
    memcpy(filled + 3, table, sizeof table);
    memcpy(filled + 3 + sizeof table, file.bytes + 2, file.length - 2);
    assert_int_equal(try_bytes(filled, file.length + 1 + sizeof table), NL_FORMAT);
    free(filled);
    free(file.bytes);
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    const char *const names[] = {
        "rgb8.png",     "rgba16.png", "interlaced16.png", "palette4.png",    "palette8.bmp",
        "palette8.gif", "rgb16.ppm",  "grey.jpg",         "progressive.jpg", "orientation6.jpg"};
    for (size_t f = 0; f < COUNT(names); f++) {
        struct file file = file_read(names[f]);
        size_t failed = 0;
        for (long allocation = 0; allocation < 60; allocation++) {
            nl_alloc_fail_after(allocation);
            nl_status status = try_bytes(file.bytes, file.length);
            nl_alloc_fail_after(-1);
            /* looking whether it is another format may fail without harm */
            if (status != NL_NOMEM && status != NL_OK)
                fail_msg("%s, allocation %ld: %s", names[f], allocation, nl_status_name(status));
            failed += status == NL_NOMEM;
            assert_true(allocation < 50 || status == NL_OK); /* 60 are more than are needed */
        }
        assert_true(failed >= 5); /* pixels, three buffers of the reduction, the picture */
        free(file.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* first, while the process is small */
        cmocka_unit_test(test_promises_cost_no_memory),
        cmocka_unit_test(test_c61_empty_file),
        cmocka_unit_test(test_not_a_picture),
        cmocka_unit_test(test_plain_pnm),
        cmocka_unit_test(test_header_over_the_limit),
        cmocka_unit_test(test_oversized_jpeg_tables),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_random_corruptions),
        cmocka_unit_test(test_every_allocation_failing_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
