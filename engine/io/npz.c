/* SPDX-License-Identifier: MIT */
/*
 * A zip archive is read from its end: the end record leads to the central directory, whose entries
 * lead to a local header each, behind which the packed bytes lie. Sizes are taken from the
 * directory; the local header has none where the writer could not go back.
 * Source: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 to 4.5
 */
#include "io/npz.h"

#include <limits.h>
#include <string.h>

#define ZLIB_CONST /* next_in points to const */
#include <zlib.h>

#include "alloc.h"
#include "io/npy_head.h"
#include "nonlocal/npy.h"

enum {
    LOCAL = 0x04034b50,
    ENTRY = 0x02014b50,
    END = 0x06054b50,
    END_64 = 0x06064b50,
    LOCATOR_64 = 0x07064b50,
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    END_64_SIZE = 56,
    LOCATOR_64_SIZE = 20,
    EXTRA_64 = 1, /* the extra field that holds 64-bit sizes */
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1 | 1 << 6 | 1 << 13, /* flags */
    DEFLATE_RATIO = 1032,             /* no deflated byte becomes more (zlib's technical notes) */
    HEAD_ROOM = 1 << 16,              /* more than numpy lets a .npy header have */
};

struct zip {
    const unsigned char *bytes;
    size_t length;
};

/* The central directory: [at, end) of the file. */
struct directory {
    size_t at;
    size_t end;
    uint64_t count;
};

struct entry {
    const char *name; /* not ended by a zero */
    size_t name_length;
    unsigned flags;
    unsigned method;
    uint32_t crc;
    uint64_t packed; /* bytes in the file */
    uint64_t size;   /* bytes unpacked */
    uint64_t local;  /* where its local header is */
};

static uint64_t read_little(const unsigned char *at, size_t size)
{
    uint64_t word = 0;
    while (size-- > 0)
        word = word << 8 | at[size];
    return word;
}

static unsigned read_16(const unsigned char *at)
{
    return (unsigned)read_little(at, 2);
}

static uint32_t read_32(const unsigned char *at)
{
    return (uint32_t)read_little(at, 4);
}

static nl_status fail_archive(nl_error *error, const char *what)
{
    return nl_fail(error, NL_FORMAT,
                   "the .npz file %s; it is damaged or was cut short, save it again with "
                   "numpy.savez",
                   what);
}

/* ---- the directory ---- */

/* The end record; a comment may follow it. SIZE_MAX if there is none. */
static size_t find_end(const struct zip *zip)
{
    for (size_t comment = 0; comment <= UINT16_MAX && comment + END_SIZE <= zip->length;
         comment++) {
        size_t at = zip->length - END_SIZE - comment;
        if (read_32(zip->bytes + at) == END && read_16(zip->bytes + at + 20) == comment)
            return at;
    }
    return SIZE_MAX;
}

/* The 64-bit end record in front of the one at `end`; SIZE_MAX if there is none. */
static size_t find_end_64(const struct zip *zip, size_t end)
{
    if (end < LOCATOR_64_SIZE + END_64_SIZE)
        return SIZE_MAX;
    const unsigned char *locator = zip->bytes + end - LOCATOR_64_SIZE;
    uint64_t at = read_little(locator + 8, 8);
    if (read_32(locator) != LOCATOR_64 || at > end - LOCATOR_64_SIZE - END_64_SIZE ||
        read_32(zip->bytes + at) != END_64)
        return SIZE_MAX;
    return (size_t)at;
}

static nl_status find_directory(const struct zip *zip, struct directory *directory, nl_error *error)
{
    size_t end = find_end(zip);
    if (end == SIZE_MAX)
        return fail_archive(error, "has no end record");
    const unsigned char *record = zip->bytes + end;
    uint64_t disk = read_16(record + 4) | read_16(record + 6);
    uint64_t count = read_16(record + 10), here = read_16(record + 8);
    uint64_t size = read_32(record + 12), at = read_32(record + 16);
    size_t end_64 = find_end_64(zip, end);
    if (end_64 != SIZE_MAX) { /* it holds all of these again, in full */
        end = end_64;
        record = zip->bytes + end;
        disk = read_little(record + 16, 4) | read_little(record + 20, 4);
        here = read_little(record + 24, 8);
        count = read_little(record + 32, 8);
        size = read_little(record + 40, 8);
        at = read_little(record + 48, 8);
    }
    if (disk != 0 || here != count)
        return nl_fail(error, NL_UNSUPPORTED,
                       "the .npz file is one part of an archive of several; save it again with "
                       "numpy.savez");
    if (at > end || size != end - at)
        return fail_archive(error, "has an end record that does not lead to its directory");
    *directory = (struct directory){(size_t)at, end, count};
    return NL_OK;
}

/* Takes sizes that did not fit in 32 bits from the extra fields [at, at + length). */
static bool read_extra(const unsigned char *at, size_t length, struct entry *entry)
{
    uint64_t *const fields[] = {&entry->size, &entry->packed, &entry->local};
    while (length >= 4) {
        unsigned id = read_16(at);
        size_t size = read_16(at + 2);
        at += 4;
        length -= 4;
        if (size > length)
            return false;
        size_t used = 0;
        for (size_t k = 0; id == EXTRA_64 && k < 3; k++) {
            if (*fields[k] != UINT32_MAX)
                continue;
            if (size - used < 8)
                return false;
            *fields[k] = read_little(at + used, 8);
            used += 8;
        }
        at += size;
        length -= size;
    }
    return length == 0;
}

/* Reads the entry at directory->at and steps over it. */
static nl_status next_entry(const struct zip *zip, struct directory *directory, struct entry *entry,
                            nl_error *error)
{
    const unsigned char *at = zip->bytes + directory->at;
    size_t left = directory->end - directory->at;
    if (left < ENTRY_SIZE || read_32(at) != ENTRY)
        return fail_archive(error, "has a damaged directory");
    size_t name = read_16(at + 28), extra = read_16(at + 30), comment = read_16(at + 32);
    if (left - ENTRY_SIZE < name + extra + comment)
        return fail_archive(error, "has a damaged directory");
    *entry = (struct entry){
        .name = (const char *)at + ENTRY_SIZE,
        .name_length = name,
        .flags = read_16(at + 8),
        .method = read_16(at + 10),
        .crc = read_32(at + 16),
        .packed = read_32(at + 20),
        .size = read_32(at + 24),
        .local = read_32(at + 42),
    };
    if (!read_extra(at + ENTRY_SIZE + name, extra, entry))
        return fail_archive(error, "has a damaged directory");
    directory->at += ENTRY_SIZE + name + extra + comment;
    directory->count--;
    return NL_OK;
}

/* ---- one member ---- */

/* A member while it is unpacked. Of a stored one, data are the bytes of the file. */
struct member {
    const unsigned char *packed;
    size_t packed_length;
    const unsigned char *data;
    size_t length; /* as the directory has it */
    unsigned char *own;
    size_t room; /* bytes of own */
    size_t done; /* bytes of own that are filled */
    z_stream stream;
    bool streaming; /* inflateEnd is due */
    bool ended;     /* the last deflated block has been unpacked */
};

static voidpf stream_alloc(voidpf opaque, uInt items, uInt size)
{
    (void)opaque;
    return nl_alloc(items, size);
}

static void stream_free(voidpf opaque, voidpf block)
{
    (void)opaque;
    nl_free(block);
}

static nl_status fail_damaged(nl_error *error, const char *name)
{
    return nl_tensor_fail(error, NL_FORMAT, name,
                          "its bytes in the .npz file are damaged; save it again with numpy.savez");
}

/* Finds the packed bytes behind the local header, which must agree with the directory. */
static nl_status open_member(const struct zip *zip, size_t end, const struct entry *entry,
                             const char *name, struct member *member, nl_error *error)
{
    if (entry->flags & ENCRYPTED)
        return nl_tensor_fail(error, NL_UNSUPPORTED, name,
                              "it is encrypted; save it again with numpy.savez");
    if (entry->method != STORED && entry->method != DEFLATED)
        return nl_tensor_fail(error, NL_UNSUPPORTED, name,
                              "it is packed by method %u; stored (0) and deflated (8) are known, "
                              "save it again with numpy.savez",
                              entry->method);
    if (end < LOCAL_SIZE || entry->local > end - LOCAL_SIZE)
        return fail_damaged(error, name);
    const unsigned char *local = zip->bytes + entry->local;
    size_t left = end - (size_t)entry->local - LOCAL_SIZE;
    size_t name_length = read_16(local + 26), extra = read_16(local + 28);
    if (read_32(local) != LOCAL || read_16(local + 8) != entry->method ||
        name_length != entry->name_length || name_length + extra > left ||
        memcmp(local + LOCAL_SIZE, entry->name, name_length) != 0 ||
        entry->packed > left - name_length - extra)
        return fail_damaged(error, name);
    member->packed = local + LOCAL_SIZE + name_length + extra;
    member->packed_length = (size_t)entry->packed;
    if (entry->size >= PTRDIFF_MAX ||
        (entry->method == STORED ? entry->size != entry->packed
                                 : entry->size / DEFLATE_RATIO > entry->packed))
        return fail_damaged(error, name);
    member->length = (size_t)entry->size;
    return NL_OK;
}

/* Makes room for `room` unpacked bytes and fills it, or less if the stream ends. */
static nl_status inflate_to(struct member *member, size_t room, const char *name, nl_error *error)
{
    unsigned char *own = nl_realloc(member->own, member->done, room);
    if (!own)
        return nl_tensor_fail(error, NL_NOMEM, name, "no memory to unpack %zu bytes",
                              member->length);
    member->data = member->own = own;
    member->room = room;
    z_stream *stream = &member->stream;
    while (member->done < room && !member->ended) {
        size_t in = member->packed_length, out = room - member->done;
        stream->next_in = member->packed;
        stream->avail_in = in < UINT_MAX ? (uInt)in : UINT_MAX;
        stream->next_out = own + member->done;
        stream->avail_out = out < UINT_MAX ? (uInt)out : UINT_MAX;
        uInt given = stream->avail_in, free_bytes = stream->avail_out;
        int result = inflate(stream, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR)
            return nl_tensor_fail(error, NL_NOMEM, name, "no memory to unpack it");
        if (result != Z_OK && result != Z_STREAM_END)
            return fail_damaged(error, name);
        member->packed += given - stream->avail_in;
        member->packed_length -= given - stream->avail_in;
        member->done += free_bytes - stream->avail_out;
        member->ended = result == Z_STREAM_END;
    }
    return NL_OK;
}

/* The first bytes, enough for a .npy header: member->data, *held of them. */
static nl_status unpack_head(struct member *member, unsigned method, const char *name, size_t *held,
                             nl_error *error)
{
    if (method == STORED) {
        member->data = member->packed;
        *held = member->length;
        return NL_OK;
    }
    member->stream = (z_stream){.zalloc = stream_alloc, .zfree = stream_free};
    if (inflateInit2(&member->stream, -MAX_WBITS) != Z_OK)
        return nl_tensor_fail(error, NL_NOMEM, name, "no memory to unpack it");
    member->streaming = true;
    /* one byte more than there should be shows a stream that is too long */
    nl_status status = inflate_to(
        member, member->length < HEAD_ROOM ? member->length + 1 : HEAD_ROOM, name, error);
    *held = member->done;
    return status;
}

/* All bytes, compared with length and checksum of the directory. */
static nl_status unpack_rest(struct member *member, const struct entry *entry, const char *name,
                             nl_error *error)
{
    if (entry->method == DEFLATED) {
        nl_status status = NL_OK;
        if (member->room < member->length + 1)
            status = inflate_to(member, member->length + 1, name, error);
        if (status != NL_OK)
            return status;
        if (!member->ended || member->done != member->length || member->packed_length != 0)
            return fail_damaged(error, name);
    }
    if (crc32_z(0, member->data, member->length) != entry->crc)
        return nl_tensor_fail(error, NL_FORMAT, name,
                              "its checksum in the .npz file is wrong; the file is damaged");
    return NL_OK;
}

static nl_status load_values(nl_tensor *tensor, const struct member *member, nl_error *error)
{
    nl_npy npy;
    nl_error inner = {.message = ""};
    nl_status status =
        nl_npy_load(member->data, member->length, NL_NPY_ALLOW_NONFINITE, &npy, &inner);
    if (status != NL_OK)
        return nl_tensor_fail(error, status, tensor->name, "%s", inner.message);
    tensor->data = npy.data; /* ownership moves */
    tensor->count = npy.count;
    tensor->ndim = npy.ndim;
    memcpy(tensor->shape, npy.shape, sizeof tensor->shape);
    return NL_OK;
}

static nl_status read_member(const struct zip *zip, size_t end, const struct entry *entry,
                             struct nl_tensor_list *list, nl_tensor *tensor, nl_error *error)
{
    struct member member = {0};
    struct nl_npy_head head = {0};
    nl_error inner = {.message = ""};
    size_t held = 0;
    nl_status status = open_member(zip, end, entry, tensor->name, &member, error);
    if (status == NL_OK)
        status = unpack_head(&member, entry->method, tensor->name, &held, error);
    if (status != NL_OK)
        goto fail;
    status = nl_npy_read_head(member.data, held, &head, &inner);
    if (nl_tensor_skippable(status)) {
        nl_tensor_set_problem(tensor, inner.message);
        status = NL_OK;
        goto fail;
    }
    if (status == NL_OK && head.length + head.bytes != member.length) {
        status = NL_FORMAT;
        nl_fail(&inner, status, "it has %zu bytes in the .npz file, its shape needs %zu",
                member.length, head.length + head.bytes);
    }
    if (status != NL_OK) {
        nl_tensor_fail(error, status, tensor->name, "%s", inner.message);
        goto fail;
    }
    status = nl_tensor_list_claim(list, tensor, head.count, error);
    if (status == NL_OK)
        status = unpack_rest(&member, entry, tensor->name, error);
    if (status == NL_OK)
        status = load_values(tensor, &member, error);
fail:
    if (member.streaming)
        inflateEnd(&member.stream);
    nl_free(member.own);
    return status;
}

/* ---- the archive ---- */

static bool ends_with(const struct entry *entry, const char *ending)
{
    size_t length = strlen(ending);
    return entry->name_length >= length &&
           memcmp(entry->name + entry->name_length - length, ending, length) == 0;
}

bool nl_npz_known(const void *bytes, size_t length)
{
    return length >= 4 && (read_32(bytes) == LOCAL || read_32(bytes) == END);
}

nl_status nl_npz_read(const void *bytes, size_t length, struct nl_tensor_list *list,
                      nl_error *error)
{
    const struct zip zip = {bytes, length};
    struct directory directory = {0};
    nl_status status = find_directory(&zip, &directory, error);
    const size_t end = directory.at; /* members lie in front of the directory */
    while (status == NL_OK && directory.count > 0) {
        struct entry entry = {0};
        nl_tensor *tensor = NULL;
        status = next_entry(&zip, &directory, &entry, error);
        if (status != NL_OK || ends_with(&entry, "/")) /* a folder */
            continue;
        if (ends_with(&entry, "/data.pkl"))
            return nl_fail(error, NL_UNSUPPORTED,
                           "this is a checkpoint of torch.save, which only Python can run; save "
                           "the state_dict with numpy.savez or as .safetensors");
        bool array = ends_with(&entry, ".npy");
        status = nl_tensor_list_add(list, entry.name, entry.name_length - (array ? 4 : 0), &tensor,
                                    error);
        if (status == NL_OK && array)
            status = read_member(&zip, end, &entry, list, tensor, error);
        else if (status == NL_OK)
            nl_tensor_set_problem(tensor, "it is not a .npy array");
    }
    if (status == NL_OK && directory.at != directory.end)
        status = fail_archive(error, "has a directory of another length than it says");
    return status;
}
