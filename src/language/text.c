// SPDX-License-Identifier: MIT
//
// Reads text files in full and validates UTF-8, for the parsers of models, tables and results.
#include "language/text.h"

#include "base/fail.h"
#include "language/node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- reading ------------------------------------------------------------------------------------

static snw_status fail_file(snw_error *err, const char *path, const char *what, const char *why) {
    if (err) {
        *err = (snw_error){0};
        (void)snprintf(err->file, sizeof err->file, "%s", path);
    }
    return snw_fail(err, SNW_E_IO, "%s%s", what, why);
}

static snw_status text_fail_errno(snw_error *err, const char *path, int code) {
    char why[128];
    if (strerror_r(code, why, sizeof why) != 0) (void)snprintf(why, sizeof why, "error %d", code);
    return fail_file(err, path, "cannot be read: ", why);
}

static const char *text_kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
    if (S_ISSOCK(mode)) return "a socket";
    return "something else";
}

// read to the end or up to `size` bytes; -1 with errno set on failure
static ssize_t text_read_all(int fd, char *out, size_t size) {
    size_t have = 0;
    while (have < size) {
        const ssize_t got = read(fd, out + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static snw_status read_open(int fd, snw_pool *pool, const char *path, size_t limit,
                            const char **bytes, size_t *length, snw_error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0) return text_fail_errno(err, path, errno);
    if (!S_ISREG(info.st_mode)) {
        return fail_file(err, path, "a file is needed, this is ", text_kind_of(info.st_mode));
    }
    if (info.st_size < 0 || (uintmax_t)info.st_size > limit) {
        char why[96];
        (void)snprintf(why, sizeof why, "%jd bytes, at most %zu are allowed",
                       (intmax_t)info.st_size, limit);
        return fail_file(err, path, "file is too large: ", why);
    }
    char *out = snw_pool_take(pool, (size_t)info.st_size + 1);
    if (!out) return snw_fail(err, SNW_E_MEMORY, "no memory left for '%s'", path);
    const ssize_t have = text_read_all(fd, out, (size_t)info.st_size);
    if (have < 0) return text_fail_errno(err, path, errno);
    *bytes = out;
    *length = (size_t)have;
    return SNW_OK;
}

snw_status snw_text_read(snw_pool *pool, const char *path, size_t limit, const char **bytes,
                         size_t *length, snw_error *err) {
    // without O_NONBLOCK, opening a pipe would block until it has a writer
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return text_fail_errno(err, path, errno);
    const snw_status s = read_open(fd, pool, path, limit, bytes, length, err);
    (void)close(fd);
    return s;
}

// ---- checking -----------------------------------------------------------------------------------

// decode the character at s, n > 0 bytes left; returns its value, or -1 for invalid UTF-8
static int32_t decode(const unsigned char *s, size_t n, size_t *size) {
    static const int32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char head = s[0];
    *size = 1;
    if (head < 0x80) return head;
    const size_t want = head >= 0xF0 ? 4 : head >= 0xE0 ? 3 : 2;
    if (head < 0xC2 || head > 0xF4 || want > n) return -1;
    int32_t value = head & (0x7F >> want);
    for (size_t i = 1; i < want; i++) {
        if ((s[i] & 0xC0) != 0x80) return -1;
        value = value << 6 | (s[i] & 0x3F);
    }
    if (value < smallest[want] || value > 0x10FFFF) return -1;
    if (value >= 0xD800 && value <= 0xDFFF) return -1;
    *size = want;
    return value;
}

// printable character as defined by YAML
static bool printable(int32_t c) {
    if (c == '\t' || c == '\n' || c == '\r' || c == 0x85) return true;
    return c >= 0x20 && c != 0x7F && !(c > 0x7F && c < 0xA0) && c != 0xFFFE && c != 0xFFFF;
}

snw_status snw_text_check(const char *name, const char *bytes, size_t length, snw_error *err) {
    const unsigned char *s = (const unsigned char *)bytes;
    snw_source_location at = {.file = name, .line = 1, .column = 1};
    if (length >= 2 && ((s[0] == 0xFF && s[1] == 0xFE) || (s[0] == 0xFE && s[1] == 0xFF))) {
        return snw_fail_at(err, at, "the text is UTF-16, save it as UTF-8");
    }
    if (length >= 4 && memcmp(s, "\x89HDF", 4) == 0) {
        return snw_fail_at(err, at, "this is a result file; 'sinew show --model' has its model");
    }
    for (size_t i = 0; i < length;) {
        size_t size;
        const int32_t c = decode(s + i, length - i, &size);
        if (c < 0) return snw_fail_at(err, at, "byte 0x%02X is not valid UTF-8", (unsigned)s[i]);
        if (!printable(c)) {
            return snw_fail_at(err, at, "control character U+%04X in the text", (unsigned)c);
        }
        i += size;
        const bool byte_order_mark = c == 0xFEFF && i == size;
        const bool line_end = c == '\n' || (c == '\r' && !(i < length && s[i] == '\n'));
        if (line_end) {
            at.line++;
            at.column = 1;
        } else if (!byte_order_mark && c != '\r') {
            at.column++;
        }
    }
    return SNW_OK;
}

void snw_text_clean(char *text) {
    unsigned char *s = (unsigned char *)text;
    for (size_t left = strlen(text), size; left > 0; left -= size, s += size) {
        const int32_t c = decode(s, left, &size);
        if (c < 0 || !printable(c)) memset(s, '?', size);
    }
}
