// Connections that libcurl opens and secures, and others speak on, for KingfisherTiers.
#include "CKFCurl.h"

#include <sys/socket.h>

static curl_socket_t on_plain_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURLcode kf_curl_prepare_socket(CURL *handle, char *error) {
    CURLcode failed = CURLE_OK;
    // The first failure is kept.
#define SET(option, value)                                                     \
    do {                                                                       \
        CURLcode result = (curl_easy_setopt)(handle, option, value);           \
        if (failed == CURLE_OK) failed = result;                               \
    } while (0)
#if LIBCURL_VERSION_NUM >= 0x075700
    // The end of the time limit does not wait for the name service.
    SET(CURLOPT_QUICK_EXIT, 1L);
#endif
    SET(CURLOPT_CONNECT_ONLY, 1L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROXY, "");
    // What is spoken is not HTTP.
    SET(CURLOPT_SSL_ENABLE_ALPN, 0L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_ERRORBUFFER, error);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_plain_socket);
#undef SET
    return failed;
}

int kf_curl_socket(CURL *handle) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    return (curl_easy_getinfo)(handle, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? (int)socket : -1;
}
