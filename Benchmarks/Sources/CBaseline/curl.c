// Bare libcurl: its multi interface on the calling thread, fed by epoll.
#define _GNU_SOURCE
#include "CBaseline.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/// One transfer at a time; its handle is reused for the next one.
struct slot {
    CURL *handle;
    uint8_t *body;
    size_t size, capacity;
};

struct client {
    CURLM *multi;
    int poller;
    /// The timeout after which libcurl wants to be called though no socket is ready, in milliseconds; -1 is never.
    long timeout;
    const char *const *urls;
    size_t count, begun, ended, bytes;
    bool failed;
};

static size_t append(char *piece, size_t one, size_t size, void *context) {
    (void)one;
    struct slot *slot = context;
    if (slot->size + size > slot->capacity) {
        curl_off_t length = 0;
        if (!slot->body) curl_easy_getinfo(slot->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        size_t capacity = slot->size + size > slot->capacity * 2 ? slot->size + size : slot->capacity * 2;
        slot->capacity = length > (curl_off_t)capacity ? (size_t)length : capacity;
        uint8_t *body = realloc(slot->body, slot->capacity);
        if (!body) return 0;
        slot->body = body;
    }
    memcpy(slot->body + slot->size, piece, size);
    slot->size += size;
    return size;
}

static int watch(CURL *handle, curl_socket_t socket, int what, void *context, void *known) {
    (void)handle;
    struct client *client = context;
    struct epoll_event event = {.data.fd = socket};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    int change = what == CURL_POLL_REMOVE ? EPOLL_CTL_DEL : known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    epoll_ctl(client->poller, change, socket, &event);
    if (!known) curl_multi_assign(client->multi, socket, client);
    return 0;
}

static int remind(CURLM *multi, long timeout, void *context) {
    (void)multi;
    ((struct client *)context)->timeout = timeout;
    return 0;
}

/// Gives a slot the next URL, if there is one.
static void begin(struct client *client, struct slot *slot) {
    if (client->begun == client->count) return;
    curl_easy_setopt(slot->handle, CURLOPT_URL, client->urls[client->begun++]);
    if (curl_multi_add_handle(client->multi, slot->handle) != CURLM_OK) client->failed = true;
}

/// Collects the transfers that have ended, and starts as many new ones.
static void collect(struct client *client) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(client->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        if (message->data.result != CURLE_OK) client->failed = true;
        struct slot *slot;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
        curl_multi_remove_handle(client->multi, slot->handle);
        client->bytes += slot->size;
        client->ended++;
        // Every body has memory of its own, as for a caller that keeps it.
        free(slot->body);
        slot->body = NULL;
        slot->size = slot->capacity = 0;
        begin(client, slot);
    }
}

static void run(struct client *client) {
    struct epoll_event events[64];
    int running;
    while (client->ended < client->count && !client->failed) {
        int ready = epoll_wait(client->poller, events, 64, (int)client->timeout);
        if (ready < 0) continue;
        if (ready == 0 || client->timeout == 0) {
            client->timeout = -1;
            curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int index = 0; index < ready; index++) {
            int what = events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0;
            if (events[index].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
            curl_multi_socket_action(client->multi, events[index].data.fd, what, &running);
        }
        collect(client);
    }
}

size_t baseline_curl(const char *const *urls, size_t count, size_t in_flight) {
    struct client client = {.multi = curl_multi_init(), .poller = epoll_create1(EPOLL_CLOEXEC), .timeout = -1};
    client.urls = urls;
    client.count = count;
    curl_multi_setopt(client.multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(client.multi, CURLMOPT_SOCKETDATA, &client);
    curl_multi_setopt(client.multi, CURLMOPT_TIMERFUNCTION, remind);
    curl_multi_setopt(client.multi, CURLMOPT_TIMERDATA, &client);
    struct slot *slots = calloc(in_flight, sizeof(struct slot));
    for (size_t index = 0; index < in_flight; index++) {
        struct slot *slot = &slots[index];
        slot->handle = curl_easy_init();
        curl_easy_setopt(slot->handle, CURLOPT_WRITEFUNCTION, append);
        curl_easy_setopt(slot->handle, CURLOPT_WRITEDATA, slot);
        curl_easy_setopt(slot->handle, CURLOPT_PRIVATE, slot);
        curl_easy_setopt(slot->handle, CURLOPT_NOSIGNAL, 1L);
        // For small bodies this is faster than libcurl's default of 16 KB.
        curl_easy_setopt(slot->handle, CURLOPT_BUFFERSIZE, 64L << 10);
        curl_easy_setopt(slot->handle, CURLOPT_FAILONERROR, 1L);
        begin(&client, slot);
    }
    run(&client);
    for (size_t index = 0; index < in_flight; index++) {
        curl_multi_remove_handle(client.multi, slots[index].handle);
        curl_easy_cleanup(slots[index].handle);
        free(slots[index].body);
    }
    free(slots);
    curl_multi_cleanup(client.multi);
    close(client.poller);
    return client.failed ? 0 : client.bytes;
}
