/*
 * A load client for HTTP/1.1 servers on this machine: one thread, epoll, persistent connections, requests prebuilt.
 *
 *   client PORT REQUESTS CONNECTIONS MAX_COUNT MAX_SECONDS FIRST_NUMBER [MEMBER=VALUE]
 *
 * With a secret key in BENCH_SECRET_KEY, each request is signed (AWS's signature version 4) just before it is sent, for
 * servers that verify signatures. Otherwise it goes as it is in the file.
 *
 * REQUESTS holds whole HTTP requests, each after its length (uint32, little endian); they are sent in turn, over and
 * over. Two markers of twelve bytes are filled in before sending, so that writes always meet keys that are new:
 * @@NUMBER@@@@ becomes the next number, scattered over the key space, and @@GROUP@@@@@ one of 10,007 groups of it.
 * An answer counts when its status is 200 and, with MEMBER=VALUE given, its body has that JSON member with a value that
 * starts so. The figures are one line of JSON on stdout. One thread is on purpose: the server keeps the other cores.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sha256.h"

#define MARKER 12
#define MAX_CONNECTIONS 256
#define MAX_SAMPLES (4u << 20)
#define STALL_SECONDS 30
#define GROUPS 10007ull
#define SPACE 1000000000000ull /* twelve digits */
#define STEP 618033988747ull   /* odd, no multiple of 5: multiplying by it permutes 0 .. SPACE-1 */

typedef struct {
    char *bytes;
    uint32_t length;
    uint32_t *marks; /* offset << 1, with the lowest bit set for a group */
    uint32_t mark_count;
    uint32_t date, scope, target, target_length, signature, body; /* where these are; for signing */
} request_t;

typedef struct {
    int fd;
    int busy;
    uint64_t started;
    char *out;
    size_t out_length, out_sent;
    char *in;
    size_t in_length, in_size;
    size_t head_length;     /* 0 until the head is complete */
    long long body_length;  /* -1 when chunked, -2 when the body ends with the connection */
    size_t chunk_at;        /* where the next chunk's size line starts */
    int closing, status;
    uint32_t watched; /* what epoll watches the socket for */
} connection_t;

static int port;
static request_t *requests;
static uint32_t request_count, largest_request;
static uint64_t next_request, next_number, sent, completed, failed, reconnects, max_count;
static uint64_t bytes_in;
static uint64_t *samples;
static const char *expected_member, *expected_value;
static char first_failure[600];

static void die(const char *what) {
    fprintf(stderr, "client: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(2);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void *take(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory) die("out of memory");
    return memory;
}

#define SCOPE "/us-east-1/dynamodb/aws4_request"
#define SIGNED "content-type;host;x-amz-date;x-amz-target"

static const char *secret_key;
static char date[17]; /* of the signatures, such as 20260314T092653Z */
static uint64_t date_until;
static uint8_t signing_key[DIGEST];

static uint32_t place_after(const request_t *request, const char *text) {
    char *at = memmem(request->bytes, request->length, text, strlen(text));
    if (!at) die(text);
    return (uint32_t)(at - request->bytes) + (uint32_t)strlen(text);
}

static void find_parts(request_t *request) {
    request->date = place_after(request, "\r\nX-Amz-Date: ");
    request->scope = place_after(request, " Credential=");
    while (request->bytes[request->scope++] != '/') {
    }
    request->target = place_after(request, "\r\nX-Amz-Target: ");
    request->target_length = (uint32_t)strcspn(request->bytes + request->target, "\r");
    request->signature = place_after(request, ", Signature=");
    request->body = place_after(request, "\r\n\r\n");
}

/* The date and its key, once a second. */
static void renew_date(void) {
    if (now() < date_until) return;
    time_t seconds = time(NULL);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", gmtime(&seconds));
    date_until = now() + 1000000000ull;
    char first[128];
    int length = snprintf(first, sizeof first, "AWS4%s", secret_key);
    if (length > BLOCK) die("the secret key is too long");
    hmac(first, (size_t)length, date, 8, signing_key);
    const char *parts[] = {"us-east-1", "dynamodb", "aws4_request"};
    for (int i = 0; i < 3; i++) hmac(signing_key, DIGEST, parts[i], strlen(parts[i]), signing_key);
}

static void sign(char *bytes, const request_t *request) {
    char text[512], hex[2 * DIGEST];
    uint8_t digest[DIGEST];
    sha256_t hash;
    renew_date();
    memcpy(bytes + request->date, date, 16);
    memcpy(bytes + request->scope, date, 8);
    sha256_start(&hash);
    sha256_add(&hash, bytes + request->body, request->length - request->body);
    sha256_end(&hash, digest);
    hexadecimal(digest, hex);
    int length = snprintf(text, sizeof text,
                          "POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:127.0.0.1\nx-amz-date:%s\n"
                          "x-amz-target:%.*s\n\n" SIGNED "\n%.64s",
                          date, (int)request->target_length, bytes + request->target, hex);
    sha256_start(&hash);
    sha256_add(&hash, text, (size_t)length);
    sha256_end(&hash, digest);
    hexadecimal(digest, hex);
    length = snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%.8s" SCOPE "\n%.64s", date, date, hex);
    hmac(signing_key, DIGEST, text, (size_t)length, digest);
    hexadecimal(digest, bytes + request->signature);
}

static void find_marks(request_t *request) {
    request->marks = take(sizeof(uint32_t) * (request->length / MARKER + 1));
    request->mark_count = 0;
    for (uint32_t at = 0; at + MARKER <= request->length; at++) {
        uint32_t group;
        if (!memcmp(request->bytes + at, "@@NUMBER@@@@", MARKER)) group = 0;
        else if (!memcmp(request->bytes + at, "@@GROUP@@@@@", MARKER)) group = 1;
        else continue;
        request->marks[request->mark_count++] = at << 1 | group;
        at += MARKER - 1;
    }
}

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    uint32_t length, room = 1024;
    requests = take(room * sizeof *requests);
    while (fread(&length, 4, 1, file) == 1) {
        if (request_count == room && !(requests = realloc(requests, (room *= 2) * sizeof *requests))) die("memory");
        request_t *request = &requests[request_count++];
        request->length = length;
        request->bytes = take(length);
        if (fread(request->bytes, 1, length, file) != length) die("the request file is cut off");
        if (length > largest_request) largest_request = length;
        find_marks(request);
    }
    fclose(file);
    if (!request_count) die("the request file is empty");
    for (uint32_t i = 0; secret_key && i < request_count; i++) find_parts(&requests[i]);
}

static void digits(char *at, uint64_t number) {
    for (int i = MARKER - 1; i >= 0; i--, number /= 10) at[i] = (char)('0' + number % 10);
}

/* A group belongs to the number before it: an item has its number in its partition key and its group in its index key. */
static void fill(connection_t *c, const request_t *request) {
    memcpy(c->out, request->bytes, request->length);
    c->out_length = request->length;
    uint64_t scattered = 0;
    for (uint32_t i = 0; i < request->mark_count; i++) {
        uint32_t mark = request->marks[i];
        if (!(mark & 1)) {
            scattered = (uint64_t)(((unsigned __int128)(next_number++ % SPACE) * STEP) % SPACE);
            digits(c->out + (mark >> 1), scattered);
        } else {
            digits(c->out + (mark >> 1), scattered % GROUPS);
        }
    }
    if (secret_key) sign(c->out, request);
}

static void dial(connection_t *c, int poll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address)) die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fcntl(c->fd, F_SETFL, O_NONBLOCK)) die("fcntl");
    struct epoll_event event = {.events = c->watched = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &event)) die("epoll_ctl");
}

static void redial(connection_t *c, int poll) {
    close(c->fd);
    reconnects++;
    dial(c, poll);
}

static void push(connection_t *c, int poll) {
    while (c->out_sent < c->out_length) {
        ssize_t n = send(c->fd, c->out + c->out_sent, c->out_length - c->out_sent, MSG_NOSIGNAL);
        if (n > 0) c->out_sent += (size_t)n;
        else if (errno == EINTR) continue;
        else if (errno == EAGAIN) break;
        else die("send");
    }
    struct epoll_event event = {.events = c->out_sent < c->out_length ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
    if (c->watched != event.events) { /* only when it changes: a system call saved on nearly every request */
        c->watched = event.events;
        if (epoll_ctl(poll, EPOLL_CTL_MOD, c->fd, &event)) die("epoll_ctl");
    }
}

static void begin(connection_t *c, int poll) {
    fill(c, &requests[next_request++ % request_count]);
    c->out_sent = c->in_length = c->head_length = 0;
    c->busy = 1;
    sent++;
    c->started = now();
    push(c, poll);
}

static const char *header(const connection_t *c, const char *name) {
    size_t length = strlen(name);
    const char *end = c->in + c->head_length;
    for (const char *line = c->in; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        if (!next) break;
        if ((size_t)(next - line) > length && !strncasecmp(line, name, length) && line[length] == ':') {
            line += length + 1;
            while (*line == ' ') line++;
            return line;
        }
        line = next + 1;
    }
    return NULL;
}

static void read_head(connection_t *c) {
    char *end = memmem(c->in, c->in_length, "\r\n\r\n", 4);
    if (!end) return;
    c->head_length = (size_t)(end - c->in) + 4;
    int minor = c->in_length > 8 ? c->in[7] - '0' : 1;
    c->status = c->in_length > 12 ? atoi(c->in + 9) : 0;
    const char *length = header(c, "content-length"), *coding = header(c, "transfer-encoding");
    const char *connection = header(c, "connection");
    c->closing = connection ? !strncasecmp(connection, "close", 5) : minor == 0;
    c->body_length = coding && !strncasecmp(coding, "chunked", 7) ? -1 : length ? atoll(length) : -2;
    c->chunk_at = c->head_length;
}

/* Chunk heads stay in the buffer: the body check is a search, which they do not disturb in answers of this size. */
static int chunks_end(connection_t *c) {
    for (;;) {
        char *line = c->in + c->chunk_at;
        char *eol = c->chunk_at < c->in_length ? memmem(line, c->in_length - c->chunk_at, "\r\n", 2) : NULL;
        if (!eol) return 0;
        size_t size = strtoul(line, NULL, 16), data = (size_t)(eol - c->in) + 2;
        if (c->in_length < data + size + 2) return 0;
        c->chunk_at = data + size + 2;
        if (!size) return 1;
    }
}

static int body_is_right(const connection_t *c) {
    if (!expected_member) return 1;
    const char *at = c->in + c->head_length, *end = c->in + c->in_length;
    size_t member = strlen(expected_member), value = strlen(expected_value);
    while ((at = memmem(at, (size_t)(end - at), expected_member, member))) {
        at += member;
        while (at < end && (*at == ' ' || *at == ':')) at++;
        if ((size_t)(end - at) >= value && !memcmp(at, expected_value, value)) return 1;
    }
    return 0;
}

static void finish(connection_t *c) {
    uint64_t took = now() - c->started;
    if (c->status == 200 && body_is_right(c)) {
        if (completed < MAX_SAMPLES) samples[completed] = took;
        completed++;
    } else if (!failed++) {
        int start = sprintf(first_failure, "%d ", c->status);
        size_t shown = c->in_length - c->head_length < 500 ? c->in_length - c->head_length : 500;
        for (size_t i = 0; i < shown; i++) {
            char byte = c->in[c->head_length + i];
            first_failure[(size_t)start + i] = byte < ' ' || byte > '~' || byte == '"' || byte == '\\' ? ' ' : byte;
        }
    }
    bytes_in += c->in_length;
    c->busy = 0;
}

/* 1 when the answer is complete */
static int pull(connection_t *c) {
    int ended = 0;
    for (;;) {
        if (c->in_size - c->in_length < 65536 && !(c->in = realloc(c->in, (c->in_size *= 2) + 1))) die("memory");
        size_t room = c->in_size - c->in_length;
        ssize_t n = recv(c->fd, c->in + c->in_length, room, 0);
        if (n > 0) {
            c->in_length += (size_t)n;
            c->in[c->in_length] = 0;
            if ((size_t)n == room) continue;
            break;
        }
        if (n == 0 || errno == ECONNRESET) {
            ended = 1;
            break;
        }
        if (errno == EAGAIN) break;
        if (errno != EINTR) die("recv");
    }
    if (!c->busy) return 0;
    if (!c->head_length) read_head(c);
    int complete = 0;
    if (c->head_length) {
        if (c->body_length >= 0) complete = c->in_length >= c->head_length + (size_t)c->body_length;
        else if (c->body_length == -1) complete = chunks_end(c);
        else complete = ended;
    }
    if (ended) c->closing = 1;
    if (ended && !complete) {
        c->status = 0;
        complete = 1;
    }
    return complete;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double quantile(uint64_t count, double q) {
    if (!count) return 0;
    return (double)samples[(uint64_t)(q * (double)(count - 1) + 0.5)] / 1000.0;
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void report(uint64_t elapsed, double cpu) {
    uint64_t count = completed < MAX_SAMPLES ? completed : MAX_SAMPLES;
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += (double)samples[i] / 1000.0;
    qsort(samples, count, sizeof *samples, ascending);
    printf("{\"count\":%llu,\"failed\":%llu,\"reconnects\":%llu,\"seconds\":%.6f,\"mean\":%.2f,\"p50\":%.2f,"
           "\"p99\":%.2f,\"bytes_in\":%llu,\"cpu\":%.4f,\"next_number\":%llu,\"failure\":\"%s\"}\n",
           (unsigned long long)completed, (unsigned long long)failed, (unsigned long long)reconnects,
           (double)elapsed / 1e9, count ? sum / (double)count : 0, quantile(count, 0.5), quantile(count, 0.99),
           (unsigned long long)bytes_in, cpu, (unsigned long long)next_number, first_failure);
}

int main(int argc, char **argv) {
    if (argc < 7) {
        fprintf(stderr, "client PORT REQUESTS CONNECTIONS MAX_COUNT MAX_SECONDS FIRST_NUMBER [MEMBER=VALUE]\n");
        return 2;
    }
    port = atoi(argv[1]);
    secret_key = getenv("BENCH_SECRET_KEY");
    load(argv[2]);
    int count = atoi(argv[3]);
    if (count < 1 || count > MAX_CONNECTIONS) die("1 to 256 connections");
    max_count = strtoull(argv[4], NULL, 10);
    double seconds = atof(argv[5]);
    next_number = strtoull(argv[6], NULL, 10);
    if (argc > 7) {
        char *value = strchr(argv[7], '=');
        if (!value) die("MEMBER=VALUE");
        *value++ = 0;
        char *quoted = take(strlen(argv[7]) + 3);
        sprintf(quoted, "\"%s\"", argv[7]);
        expected_member = quoted;
        expected_value = value;
    }
    samples = take(MAX_SAMPLES * sizeof *samples);
    int poll = epoll_create1(0);
    connection_t *connections = take((size_t)count * sizeof *connections);
    memset(connections, 0, (size_t)count * sizeof *connections);
    for (int i = 0; i < count; i++) {
        connections[i].out = take(largest_request);
        connections[i].in_size = 1 << 18;
        connections[i].in = take(connections[i].in_size + 1);
        dial(&connections[i], poll);
    }
    double cpu = cpu_seconds();
    uint64_t start = now(), deadline = start + (uint64_t)(seconds * 1e9), last = start;
    for (int i = 0; i < count && sent < max_count; i++) begin(&connections[i], poll);
    struct epoll_event events[MAX_CONNECTIONS];
    while (completed + failed < sent) {
        int ready = epoll_wait(poll, events, MAX_CONNECTIONS, STALL_SECONDS * 1000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            errno = 0;
            die("no answer for 30 s");
        }
        for (int i = 0; i < ready; i++) {
            connection_t *c = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) push(c, poll);
            if (!(events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) continue;
            int was_busy = c->busy;
            if (!pull(c)) {
                if (!was_busy) epoll_ctl(poll, EPOLL_CTL_DEL, c->fd, NULL); /* closed by the server after the end */
                continue;
            }
            finish(c);
            last = now();
            if (failed > 100) max_count = sent; /* send no more: the report tells */
            if (c->closing) redial(c, poll);
            if (sent < max_count && last < deadline) begin(c, poll);
        }
    }
    report(last - start, cpu_seconds() - cpu);
    return 0;
}
