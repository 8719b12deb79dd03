/* SPDX-License-Identifier: MIT */
/*
 * Runs the program (NL_TEST_PROGRAM) as a person would, each case in an empty folder of its own:
 * what it printed, how it ended and which files it left. The environment's NL_TEST_EMULATOR is a
 * command that runs it, in up to four words. Include after cmocka.h.
 */
#ifndef VERB_RIG_H
#define VERB_RIG_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder_rig.h"
#include "nonlocal/npy.h"

enum { RIG_TEXT = 65536, RIG_ARGUMENTS = 40, RIG_EMULATOR = 4 };

/* How the last run ended. */
struct run {
    int status;         /* exit status; -1: ended by a signal */
    char out[RIG_TEXT]; /* standard output, standard error: cut at the end */
    char err[RIG_TEXT];
};

extern char **environ;

static inline void rig_text(FILE *stream, char text[RIG_TEXT])
{
    rewind(stream);
    text[fread(text, 1, RIG_TEXT - 1, stream)] = 0;
    fclose(stream);
}

/* Starts the program; arguments end with NULL. Its output goes to the two streams. */
static inline pid_t rig_start(const char *const *arguments, FILE *out, FILE *err)
{
    char *argv[RIG_EMULATOR + RIG_ARGUMENTS + 2];
    size_t count = 0;
    pid_t process = 0;
    posix_spawn_file_actions_t actions;
    const char *emulator = getenv("NL_TEST_EMULATOR");
    for (; emulator && *emulator && count < RIG_EMULATOR; emulator += strspn(emulator, " ")) {
        const size_t length = strcspn(emulator, " ");
        argv[count++] = strndup(emulator, length);
        emulator += length;
    }
    const size_t limit = count + 1 + RIG_ARGUMENTS;
    argv[count++] = strdup(NL_TEST_PROGRAM);
    for (; *arguments && count < limit; arguments++)
        argv[count++] = strdup(*arguments);
    assert_null(*arguments);
    argv[count] = NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(err), 2);
    if (posix_spawnp(&process, argv[0], &actions, NULL, argv, environ) != 0)
        fail_msg("cannot run %s", argv[0]);
    posix_spawn_file_actions_destroy(&actions);
    while (count > 0)
        free(argv[--count]);
    return process;
}

static inline int rig_wait(pid_t process)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    assert_int_equal(ended, process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline const struct run *rig_run(const char *const *arguments)
{
    static struct run run;
    FILE *out = tmpfile(), *err = tmpfile();
    assert_true(out && err);
    run.status = rig_wait(rig_start(arguments, out, err));
    rig_text(out, run.out);
    rig_text(err, run.err);
    return &run;
}

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* RUN("attend", "@iris", ...): the result stays valid until the next run. */
#define RUN(...) rig_run(ARGUMENTS(__VA_ARGS__))

/* The same, where it must succeed. */
static inline const struct run *rig_succeed(const char *const *arguments)
{
    const struct run *run = rig_run(arguments);
    if (run->status != 0)
        fail_msg("%s %s ended with %d: %s", arguments[0], arguments[1] ? arguments[1] : "",
                 run->status, run->err);
    return run;
}

#define SUCCEED(...) rig_succeed(ARGUMENTS(__VA_ARGS__))

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

/* Ended so, with nothing on standard output and one sentence on standard error with `parts`. */
static inline void assert_refusal(const struct run *run, int status, const char *const *parts)
{
    const size_t length = strlen(run->err);
    if (run->status != status)
        fail_msg("ended with %d, not %d: %s", run->status, status, run->err);
    assert_string_equal(run->out, "");
    assert_true(length > 20 && length < 420);
    assert_true(strchr(run->err, '\n') == run->err + length - 1);
    assert_true(strncmp(run->err, "nonlocal", 8) == 0);
    for (; *parts; parts++)
        assert_contains(run->err, *parts);
}

/* REFUSED(RUN(...), status, "part", ...) */
#define REFUSED(run, status, ...) assert_refusal(run, status, ARGUMENTS(__VA_ARGS__))

static inline void rig_write(const char *name, const void *bytes, size_t size)
{
    FILE *stream = fopen(name, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static inline void rig_write_text(const char *name, const char *text)
{
    rig_write(name, text, strlen(text));
}

/* A whole file and a 0 after it; freed by the caller. size may be NULL. */
static inline char *rig_read(const char *name, size_t *size)
{
    FILE *stream = fopen(name, "rb");
    if (!stream)
        fail_msg("there is no %s", name);
    fseek(stream, 0, SEEK_END);
    const size_t length = (size_t)ftell(stream);
    char *bytes = malloc(length + 1);
    assert_non_null(bytes);
    rewind(stream);
    assert_int_equal(fread(bytes, 1, length, stream), length);
    bytes[length] = 0;
    fclose(stream);
    if (size)
        *size = length;
    return bytes;
}

static inline void assert_file_is(const char *name, const char *text)
{
    char *bytes = rig_read(name, NULL);
    assert_string_equal(bytes, text);
    free(bytes);
}

static inline void assert_same_files(const char *a, const char *b)
{
    size_t size_a, size_b;
    char *bytes_a = rig_read(a, &size_a), *bytes_b = rig_read(b, &size_b);
    if (size_a != size_b || memcmp(bytes_a, bytes_b, size_a) != 0)
        fail_msg("%s and %s differ", a, b);
    free(bytes_a);
    free(bytes_b);
}

/* The folder holds `count` files: nothing new, nothing left over. */
static inline void assert_files(size_t count)
{
    size_t found = 0;
    char names[1024] = "";
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", entry->d_name);
        found++;
    }
    closedir(folder);
    if (found != count)
        fail_msg("%zu files, not %zu:%s", found, count, names);
}

/* The numbers of a .npy file of '<f4'; ended by nl_npy_free. */
static inline nl_npy rig_npy(const char *name)
{
    size_t size;
    nl_npy npy = {0};
    nl_error error = {0};
    char *bytes = rig_read(name, &size);
    assert_true(size > 80);
    assert_non_null(strstr(bytes + 10, "'<f4'"));
    if (nl_npy_load(bytes, size, 0, &npy, &error) != NL_OK)
        fail_msg("%s: %s", name, error.message);
    free(bytes);
    return npy;
}

/* Width and height of a PNG file, read from its header. */
static inline void rig_png_size(const char *name, size_t *width, size_t *height)
{
    size_t size;
    unsigned char *bytes = (unsigned char *)rig_read(name, &size);
    assert_true(size > 60);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
    assert_memory_equal(bytes + size - 8, "IEND\xae\x42\x60\x82", 8);
    *width = (size_t)bytes[16] << 24 | (size_t)bytes[17] << 16 | (size_t)bytes[18] << 8 | bytes[19];
    *height =
        (size_t)bytes[20] << 24 | (size_t)bytes[21] << 16 | (size_t)bytes[22] << 8 | bytes[23];
    free(bytes);
}

/* An 8-bit RGB picture, as PPM. */
static inline void rig_write_ppm(const char *name, size_t width, size_t height, const uint8_t *rgb)
{
    FILE *stream = fopen(name, "wb");
    assert_non_null(stream);
    fprintf(stream, "P6\n%zu %zu\n255\n", width, height);
    assert_int_equal(fwrite(rgb, 3, width * height, stream), width * height);
    assert_int_equal(fclose(stream), 0);
}

#endif
