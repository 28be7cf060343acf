// Thin functions around libcurl's variadic ones, for KFTransport.
#include "CKFCurl.h"

#include <netinet/in.h>
#include <openssl/crypto.h>
#include <sys/socket.h>
#include <unistd.h>

// curl_easy_setopt and its like are macros that check types; in parentheses they are the functions.

// The callbacks of all transfers.
static kf_curl_callbacks calls;

bool kf_curl_initialize(kf_curl_callbacks callbacks) {
    calls = callbacks;
    // A thread of ours may be ending while the process exits: OpenSSL must not clean up under it.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

bool kf_curl_has_http3(void) {
#ifdef CURL_VERSION_HTTP3
    return (curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP3) != 0;
#else
    return false;
#endif
}

CURLcode kf_curl_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}

CURLcode kf_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}

CURLcode kf_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return (curl_easy_setopt)(handle, option, value);
}

CURLcode kf_curl_set_digest(CURL *handle, const char *credentials) {
    CURLcode result = (curl_easy_setopt)(handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_DIGEST);
    return result == CURLE_OK ? (curl_easy_setopt)(handle, CURLOPT_USERPWD, credentials) : result;
}

CURLSH *kf_curl_new_cookies(void) {
    CURLSH *cookies = curl_share_init();
    if (cookies != NULL) (curl_share_setopt)(cookies, CURLSHOPT_SHARE, (long)CURL_LOCK_DATA_COOKIE);
    return cookies;
}

CURLMcode kf_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

long kf_curl_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return (curl_easy_getinfo)(handle, info, &value) == CURLE_OK ? value : 0;
}

curl_off_t kf_curl_offset(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return (curl_easy_getinfo)(handle, info, &value) == CURLE_OK ? value : 0;
}

const char *kf_curl_string(CURL *handle, CURLINFO info) {
    char *value = NULL;
    return (curl_easy_getinfo)(handle, info, &value) == CURLE_OK ? value : NULL;
}

CURL *kf_curl_next_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

static size_t on_head(char *bytes, size_t size, size_t count, void *context) {
    return calls.head(context, bytes, size * count) ? size * count : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    return calls.body(context, bytes, size * count);
}

static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    if (address->family == AF_INET) {
        bytes = (const uint8_t *)&((const struct sockaddr_in *)(const void *)&address->addr)->sin_addr;
        count = 4;
    } else if (address->family == AF_INET6) {
        bytes = (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)&address->addr)->sin6_addr;
        count = 16;
    }
    if (!calls.may_connect(context, bytes, count)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int on_connection(void *context, char *address, char *local, int port, int local_port) {
    (void)local, (void)port, (void)local_port;
    return calls.connected(context, address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

CURLcode kf_curl_prepare(CURL *handle, void *context, char *error) {
    CURLcode failed = CURLE_OK;
    // The first failure is kept.
#define SET(option, value)                                                     \
    do {                                                                       \
        CURLcode result = (curl_easy_setopt)(handle, option, value);           \
        if (failed == CURLE_OK) failed = result;                               \
    } while (0)
#if LIBCURL_VERSION_NUM >= 0x075500
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    // A transfer that is cancelled while its host is looked up does not wait for the reply.
    SET(CURLOPT_QUICK_EXIT, 1L);
#endif
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_ANY);
    SET(CURLOPT_ERRORBUFFER, error);
    SET(CURLOPT_PRIVATE, context);
    SET(CURLOPT_HEADERFUNCTION, on_head);
    SET(CURLOPT_HEADERDATA, context);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, context);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, context);
    SET(CURLOPT_PREREQFUNCTION, on_connection);
    SET(CURLOPT_PREREQDATA, context);
#undef SET
    return failed;
}
