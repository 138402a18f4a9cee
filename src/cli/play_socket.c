// SPDX-License-Identifier: MIT
//
// HTTP and WebSocket server of a live simulation, by libwebsockets: access control, connections,
// the page, messages.
#include "cli/play_socket.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/on_demand.h"
#include "cli/play_mask.h"
#include "output/play_message.h"

#include <stdio.h>
#include <string.h>

#ifdef SNW_WEBSOCKETS

#include <libwebsockets.h>
#include <sys/socket.h>

// clang-format off
#define LWS_FUNCTIONS(X) \
    X(add_http_common_headers) X(add_http_header_by_name) X(callback_on_writable) \
    X(callback_on_writable_all_protocol_vhost) X(cancel_service) X(close_reason) \
    X(context_destroy) X(context_user) X(create_context) X(create_vhost) \
    X(finalize_write_http_header) X(frame_is_binary) X(get_context) X(get_socket_fd) \
    X(get_vhost_listen_port) X(hdr_copy) X(http_transaction_completed) X(is_final_fragment) \
    X(is_first_fragment) X(now_usecs) X(remaining_packet_payload) X(return_http_status) \
    X(service) X(set_log_level) X(set_timeout) X(sul_cancel) X(sul_schedule) \
    X(vhost_name_to_protocol) X(write)
// clang-format on
// Functions of libwebsockets, loaded by snw_socket_check; written once, before any use.
#define FIELD(name) __typeof__(lws_##name) *name;
#define NAME(name)  #name,
static struct { LWS_FUNCTIONS(FIELD) } lws;
static const char *const lws_names[] = {LWS_FUNCTIONS(NAME)};

// Connections that have not presented the token after TICKS are strangers. Only the STRANGERS
// newest of them are kept, so that idle connections cannot block clients, which present the token
// at once.
enum {
    CHUNK = 1 << 15,
    CONNECTIONS = 128,
    STRANGERS = 16,
    TICKS = 6,   // turns of the event loop, each of which reads all received data
    PATIENCE = 5 // s: timeout of a handshake
};

typedef struct connection {
    struct lws *wsi; // NULL: free
    int fd;
    bool known;    // it has presented the token
    long accepted; // tick at which it was accepted
    snw_mask_parser mask;
} connection;

struct snw_socket {
    snw_play *play;
    const snw_viewer_pieces *page;
    struct lws_context *context;
    struct lws_vhost *vhost;
    lws_sorted_usec_list_t timer;
    lws_usec_t due;
    bool (*stop)(void);
    bool stopped;
    int port;
    bool framed;
    char token[SNW_TOKEN_LENGTH + 1], address[96];
    connection connection[CONNECTIONS];
    long ticks;
    unsigned char *out; // LWS_PRE + capacity bytes, for the largest message so far
    size_t capacity;
};

// State of one connection.
typedef struct session {
    int client;  // index of snw_play_join; -1: none
    size_t sent; // bytes of the page
    char text[SNW_PLAY_LONGEST + 1];
    size_t length;
    bool invalid; // too long, or not text
} session;

snw_status snw_socket_check(snw_error *err) {
    enum { N = sizeof lws_names / sizeof lws_names[0] };
    return snw_on_demand(SNW_WEBSOCKETS, SNW_WEBSOCKETS_PACKAGE, "lws_", N, lws_names, &lws, err);
}

// ---- access control ----------------------------------------------------------------------------

// comparison in constant time
static bool equal_constant_time(const char *a, const char *b, size_t n) {
    unsigned char differ = 0;
    for (size_t i = 0; i < n; i++) differ |= (unsigned char)(a[i] ^ b[i]);
    return differ == 0;
}

// is the header `before` followed by "127.0.0.1:PORT" or "localhost:PORT"?
static bool is_local(const snw_socket *s, struct lws *wsi, enum lws_token_indexes what,
                     const char *before) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char text[128], want[128];
    if (lws.hdr_copy(wsi, text, sizeof text, what) <= 0) return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(want, sizeof want, "%s%s:%d", before, names[i], s->port);
        if (strcmp(text, want) == 0) return true;
    }
    return false;
}

// is the path "/TOKEN/" followed by `rest`?
static bool has_token(const snw_socket *s, const char *path, size_t length, const char *rest) {
    const size_t n = SNW_TOKEN_LENGTH;
    if (length != n + 2 + strlen(rest) || path[0] != '/' || path[n + 1] != '/') return false;
    return equal_constant_time(path + 1, s->token, n) &&
           memcmp(path + n + 2, rest, strlen(rest)) == 0;
}

static bool may_connect(const snw_socket *s, struct lws *wsi) {
    char path[SNW_TOKEN_LENGTH + 16];
    const int n = lws.hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI);
    return n > 0 && has_token(s, path, (size_t)n, "live") && is_local(s, wsi, WSI_TOKEN_HOST, "") &&
           is_local(s, wsi, WSI_TOKEN_ORIGIN, "http://");
}

// ---- connections -------------------------------------------------------------------------------

// The server that recv below refers to; recv has no user argument.
static snw_socket *served;

static connection *find_connection(snw_socket *s, const struct lws *wsi) {
    for (int i = 0; i < CONNECTIONS; i++) {
        if (s->connection[i].wsi == wsi) return &s->connection[i];
    }
    return NULL;
}

// Replaces recv of the C library, which libwebsockets calls, to see the received bytes.
ssize_t recv(int fd, void *bytes, size_t size, int flags) {
    const ssize_t n = recvfrom(fd, bytes, size, flags, NULL, NULL);
    for (int i = 0; n > 0 && served && i < CONNECTIONS; i++) {
        connection *c = &served->connection[i];
        if (c->wsi && c->fd == fd) snw_mask_parse(&c->mask, bytes, (size_t)n);
    }
    return n;
}

static void close_strangers(snw_socket *s) {
    s->ticks++;
    for (;;) {
        connection *oldest = NULL;
        int n = 0;
        for (int i = 0; i < CONNECTIONS; i++) {
            connection *c = &s->connection[i];
            if (!c->wsi || c->known || s->ticks - c->accepted < TICKS) continue;
            n++;
            if (!oldest || c->accepted < oldest->accepted) oldest = c;
        }
        if (n <= STRANGERS) return;
        lws.set_timeout(oldest->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        oldest->known = true; // closed asynchronously; not to be selected again
    }
}

static void connection_opened(snw_socket *s, struct lws *wsi) {
    connection *c = find_connection(s, NULL);
    if (!c) return;
    *c = (connection){.wsi = wsi, .fd = lws.get_socket_fd(wsi), .accepted = s->ticks};
}

static void connection_closed(snw_socket *s, const struct lws *wsi) {
    connection *c = wsi ? find_connection(s, wsi) : NULL;
    if (c) *c = (connection){0};
}

// has the client sent a frame without mask? RFC 6455, 5.1
static bool is_unmasked(snw_socket *s, struct lws *wsi) {
    const connection *c = find_connection(s, wsi);
    if (c && !c->mask.unmasked) return false;
    lws.close_reason(wsi, LWS_CLOSE_STATUS_PROTOCOL_ERR, NULL, 0);
    return true;
}

// the handshake is complete and the token was correct
static bool establish(snw_socket *s, struct lws *wsi) {
    connection *c = find_connection(s, wsi);
    if (!c) return false;
    c->known = true;
    return snw_mask_begin(&c->mask);
}

// ---- the page ----------------------------------------------------------------------------------

static size_t page_size(const snw_socket *s) {
    return s->page->size[0] + s->page->size[1] + s->page->size[2];
}

static bool add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at,
                       unsigned char *end) {
    return lws.add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at,
                                       end) == 0;
}

static int refuse_request(struct lws *wsi, unsigned status) {
    if (lws.return_http_status(wsi, status, NULL)) return -1;
    return lws.http_transaction_completed(wsi) ? -1 : 0;
}

static int answer_request(snw_socket *s, struct lws *wsi, const char *path, size_t length) {
    if (!is_local(s, wsi, WSI_TOKEN_HOST, "")) return refuse_request(wsi, HTTP_STATUS_FORBIDDEN);
    if (!has_token(s, path, length, "")) return refuse_request(wsi, HTTP_STATUS_NOT_FOUND);
    connection *here = find_connection(s, wsi);
    if (here) here->known = true;
    unsigned char head[LWS_PRE + 2048], *at = head + LWS_PRE, *end = head + sizeof head - 1;
    char policy[400];
    (void)snprintf(policy, sizeof policy,
                   "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                   "img-src data: blob:; connect-src ws://127.0.0.1:%d ws://localhost:%d; "
                   "base-uri 'none'; form-action 'none'; frame-ancestors %s",
                   s->port, s->port,
                   s->framed ? "http://127.0.0.1:* http://localhost:*" : "'none'");
    if (lws.add_http_common_headers(wsi, HTTP_STATUS_OK, "text/html; charset=utf-8",
                                    (lws_filepos_t)page_size(s), &at, end) ||
        !add_header(wsi, "content-security-policy:", policy, &at, end) ||
        !add_header(wsi, "referrer-policy:", "no-referrer", &at, end) ||
        !add_header(wsi, "x-content-type-options:", "nosniff", &at, end) ||
        !add_header(wsi, "cross-origin-resource-policy:", "same-origin", &at, end) ||
        !add_header(wsi, "cross-origin-opener-policy:", "same-origin", &at, end) ||
        !add_header(wsi, "cache-control:", "no-store", &at, end) ||
        lws.finalize_write_http_header(wsi, head + LWS_PRE, &at, end)) {
        return -1;
    }
    lws.callback_on_writable(wsi);
    return 0;
}

// write the next part of the page
static int socket_write_page(const snw_socket *s, struct lws *wsi, session *c) {
    unsigned char out[LWS_PRE + CHUNK];
    size_t skip = c->sent, n = 0;
    for (int i = 0; i < 3; i++) {
        const size_t size = s->page->size[i], from = skip < size ? skip : size;
        const size_t take = size - from < CHUNK - n ? size - from : CHUNK - n;
        memcpy(out + LWS_PRE + n, s->page->text[i] + from, take);
        n += take;
        skip -= from;
    }
    c->sent += n;
    const bool last = c->sent == page_size(s);
    const enum lws_write_protocol how = last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP;
    if (lws.write(wsi, out + LWS_PRE, n, how) < (int)n) return -1;
    if (last) return lws.http_transaction_completed(wsi) ? -1 : 0;
    lws.callback_on_writable(wsi);
    return 0;
}

// ---- messages ----------------------------------------------------------------------------------

static int write_message(snw_socket *s, struct lws *wsi, session *c) {
    const void *data;
    size_t n;
    bool binary;
    if (!snw_play_next(s->play, c->client, &data, &n, &binary)) return 0;
    if (n > s->capacity) {
        snw_free(s->out);
        s->capacity = 0;
        s->out = snw_alloc(LWS_PRE + n);
        if (!s->out) return -1;
        s->capacity = n;
    }
    memcpy(s->out + LWS_PRE, data, n);
    const enum lws_write_protocol how = binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT;
    if (lws.write(wsi, s->out + LWS_PRE, n, how) < (int)n) return -1;
    lws.callback_on_writable(wsi);
    return 0;
}

static void receive_message(const snw_socket *s, struct lws *wsi, session *c, const void *in,
                            size_t n) {
    if (lws.is_first_fragment(wsi)) c->length = 0, c->invalid = false;
    c->invalid |= lws.frame_is_binary(wsi) || c->length + n > SNW_PLAY_LONGEST;
    if (!c->invalid && n > 0) memcpy(c->text + c->length, in, n);
    if (!c->invalid) c->length += n;
    if (!lws.is_final_fragment(wsi) || lws.remaining_packet_payload(wsi) > 0) return;
    snw_play_receive(s->play, c->client, c->invalid ? NULL : c->text, c->length);
    lws.callback_on_writable(wsi); // an answer need not wait for the next frame
}

static int socket_serve(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t n) {
    struct lws_context *context = lws.get_context(wsi);
    snw_socket *s = context ? lws.context_user(context) : NULL;
    session *c = user;
    if (!s) return 0;
    switch ((int)reason) {
    case LWS_CALLBACK_HTTP:
        c->client = -1;
        return answer_request(s, wsi, in, n);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return c ? socket_write_page(s, wsi, c) : -1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        return may_connect(s, wsi) ? 0 : -1;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        connection_opened(s, wsi);
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        connection_closed(s, wsi);
        return 0;
    case LWS_CALLBACK_ESTABLISHED:
        *c = (session){.client = -1};
        if (!establish(s, wsi)) return -1;
        c->client = snw_play_join(s->play);
        if (c->client < 0) return -1;
        lws.callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_CLOSED:
        if (c->client >= 0) snw_play_leave(s->play, c->client);
        c->client = -1;
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        if (is_unmasked(s, wsi)) return -1;
        return c->client >= 0 ? write_message(s, wsi, c) : -1;
    case LWS_CALLBACK_RECEIVE:
        if (is_unmasked(s, wsi)) return -1;
        if (c->client >= 0) receive_message(s, wsi, c, in, n);
        return 0;
    default:
        return 0; // not lws_callback_http_dummy, whose defaults would answer requests
    }
}

// timer callback, SNW_PLAY_RATE times a second
static void on_timer(lws_sorted_usec_list_t *timer) {
    snw_socket *s = lws_container_of(timer, snw_socket, timer);
    const lws_usec_t period = LWS_US_PER_SEC / SNW_PLAY_RATE, begin = lws.now_usecs();
    if (s->stop()) {
        s->stopped = true;
        lws.cancel_service(s->context);
        return;
    }
    close_strangers(s);
    snw_play_tick(s->play);
    const struct lws_protocols *own = lws.vhost_name_to_protocol(s->vhost, "sinew");
    if (own) (void)lws.callback_on_writable_all_protocol_vhost(s->vhost, own);
    // keep the period, unless the deadline was missed
    const lws_usec_t now = lws.now_usecs();
    s->due = s->due + period > begin ? s->due + period : begin + period;
    lws.sul_schedule(s->context, 0, timer, on_timer, s->due > now ? s->due - now : 1);
}

// ---- opening -----------------------------------------------------------------------------------

static snw_status make_token(char token[SNW_TOKEN_LENGTH + 1], snw_error *err) {
    unsigned char bytes[SNW_TOKEN_LENGTH / 2];
    FILE *source = fopen("/dev/urandom", "rb");
    const size_t n = source ? fread(bytes, 1, sizeof bytes, source) : 0;
    if (source) (void)fclose(source);
    if (n != sizeof bytes) {
        return snw_fail(
            err, SNW_E_IO,
            "/dev/urandom gives no random numbers, which the secret in the address needs");
    }
    for (size_t i = 0; i < n; i++) (void)snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return SNW_OK;
}

static snw_status listen_on(snw_socket *s, int port, snw_error *err) {
    static const struct lws_protocols protocols[] = {
        {"sinew", socket_serve, sizeof(session), SNW_PLAY_LONGEST, 0, NULL, 0}, {0}};
    const struct lws_context_creation_info info = {
        .port = port,
        .iface = "127.0.0.1",
        .protocols = protocols,
        .gid = -1,
        .uid = -1,
        .user = s,
        .fd_limit_per_thread = CONNECTIONS,
        .max_http_header_pool = CONNECTIONS,
        .timeout_secs = PATIENCE,
        .timeout_secs_ah_idle = PATIENCE,
        .keepalive_timeout = PATIENCE,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DISABLE_IPV6 |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND};
    lws.set_log_level(0, NULL);
    s->context = lws.create_context(&info);
    s->vhost = s->context ? lws.create_vhost(s->context, &info) : NULL;
    s->port = s->vhost ? lws.get_vhost_listen_port(s->vhost) : 0;
    if (s->port > 0) return SNW_OK;
    return snw_fail(err, SNW_E_IO,
                    "cannot listen on port %d of 127.0.0.1; another program may have it, choose "
                    "another one or leave out --port",
                    port);
}

snw_status snw_socket_open(snw_play *play, const snw_viewer_pieces *page, int port, bool framed,
                           snw_socket **out, snw_error *err) {
    *out = NULL;
    SNW_TRY(snw_socket_check(err));
    snw_socket *s = snw_alloc(sizeof *s);
    if (!s) return snw_fail_memory(err);
    s->play = play;
    s->page = page;
    s->framed = framed;
    snw_status status = make_token(s->token, err);
    if (status == SNW_OK) status = listen_on(s, port, err);
    if (status != SNW_OK) {
        snw_socket_close(s);
        return status;
    }
    (void)snprintf(s->address, sizeof s->address, "http://127.0.0.1:%d/%s/", s->port, s->token);
    *out = s;
    return SNW_OK;
}

void snw_socket_close(snw_socket *s) {
    if (!s) return;
    if (s->context) lws.context_destroy(s->context);
    snw_free(s->out);
    snw_free(s);
}

const char *snw_socket_address(const snw_socket *s) { return s->address; }

void snw_socket_serve(snw_socket *s, bool (*stop)(void)) {
    s->stop = stop;
    served = s;
    s->due = lws.now_usecs();
    lws.sul_schedule(s->context, 0, &s->timer, on_timer, 1);
    while (!s->stopped && lws.service(s->context, 0) >= 0) {
    }
    lws.sul_cancel(&s->timer);
    served = NULL;
}

#else

snw_status snw_socket_check(snw_error *err) {
    return snw_fail(err, SNW_E_IO,
                    "this sinew was built without libwebsockets; install libwebsockets-dev "
                    "(tools/setup.sh does) and build again");
}

snw_status snw_socket_open(snw_play *play, const snw_viewer_pieces *page, int port, bool framed,
                           snw_socket **out, snw_error *err) {
    (void)play, (void)page, (void)port, (void)framed;
    *out = NULL;
    return snw_socket_check(err);
}

void snw_socket_close(snw_socket *s) { (void)s; }
const char *snw_socket_address(const snw_socket *s) { return (void)s, ""; }
void snw_socket_serve(snw_socket *s, bool (*stop)(void)) { (void)s, (void)stop; }

#endif
