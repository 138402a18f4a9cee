// SPDX-License-Identifier: MIT
//
// A controller in a program of its own, linked to a live simulation by a WebSocket: no part of
// Sinew is needed here. It holds the first actuator of the robot at a value and prints the samples.
//
//   sinew play arm.yaml                  prints the address
//   cc link.c -o link && ./link http://127.0.0.1:PORT/SECRET/ 2.5
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONGEST = 1 << 20 };

static int take(int fd, void *to, size_t n) {
    for (char *p = to; n > 0;) {
        const ssize_t k = read(fd, p, n);
        if (k <= 0) return 0;
        p += k, n -= (size_t)k;
    }
    return 1;
}

// One text frame of a client: head, length, mask (zero is a mask, too), text.
static int say(int fd, const char *text) {
    unsigned char frame[8 + 512] = {0x81, (unsigned char)(0x80 | strlen(text))};
    if (strlen(text) > 125) return 0;
    memcpy(frame + 6, text, strlen(text));
    const size_t n = 6 + strlen(text);
    return write(fd, frame, n) == (ssize_t)n;
}

// The next text message of this type; others, and frames of poses, are passed over.
static int hear(int fd, const char *type, char *text) {
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "{\"type\":\"%s\"", type);
    for (;;) {
        unsigned char head[2], more[8];
        if (!take(fd, head, 2)) return 0;
        size_t n = head[1] & 0x7f;
        const int long_form = n == 126 ? 2 : n == 127 ? 8 : 0;
        if (long_form && !take(fd, more, (size_t)long_form)) return 0;
        if (long_form) n = 0;
        for (int i = 0; i < long_form; i++) n = n << 8 | more[i];
        if (n >= LONGEST || !take(fd, text, n)) return 0;
        text[n] = '\0';
        if ((head[0] & 0xf) != 1) continue;
        if (strncmp(text, "{\"type\":\"note\"", 14) == 0) printf("%s\n", text);
        if (strncmp(text, wanted, strlen(wanted)) == 0) return 1;
    }
}

static int join(const char *address, char *text) {
    char secret[64];
    int port;
    if (sscanf(address, "http://127.0.0.1:%d/%63[0-9a-f]/", &port, secret) != 2) return -1;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((unsigned short)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) != 0) return -1;
    const int n = snprintf(text, LONGEST,
                           "GET /%s/live HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                           "Origin: http://127.0.0.1:%d\r\nConnection: Upgrade\r\n"
                           "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\n\r\n",
                           secret, port, port);
    if (write(fd, text, (size_t)n) != n) return -1;
    for (size_t k = 0; k < 4 || memcmp(text + k - 4, "\r\n\r\n", 4) != 0; k++) {
        if (k + 1 >= LONGEST || !take(fd, text + k, 1)) return -1;
    }
    return strncmp(text, "HTTP/1.1 101", 12) == 0 ? fd : -1;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        printf("usage: link http://127.0.0.1:PORT/SECRET/ VALUE, the address as 'sinew play' "
               "prints it\n");
        return 0;
    }
    char *text = malloc(LONGEST), apply[96];
    const int fd = text ? join(argv[1], text) : -1;
    if (fd < 0) {
        fprintf(stderr, "link: there is no live simulation at %s\n", argv[1]);
        return 1;
    }
    (void)snprintf(apply, sizeof apply, "{\"do\":\"apply\",\"control\":0,\"value\":%.17g}",
                   strtod(argv[2], NULL));
    int good = say(fd, "{\"do\":\"take\"}") && say(fd, "{\"do\":\"watch\",\"value\":1}");
    for (int i = 0; good && i < 10; i++) { // a controller would compute `apply` from the sample
        good = say(fd, apply) && say(fd, "{\"do\":\"advance\",\"value\":0.01}") &&
               hear(fd, "sample", text);
        if (good) printf("%s\n", text);
    }
    (void)close(fd);
    free(text);
    return good ? 0 : 1;
}
