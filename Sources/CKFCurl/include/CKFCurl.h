// libcurl for Swift: what is variadic or a macro in its header, the callbacks of one transfer, and bare connections.
#pragma once

#if !__has_include(<curl/curl.h>)
#error "libcurl is missing: apt-get install libcurl4-openssl-dev"
#endif
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The callbacks of a transfer while `curl_multi_perform` runs. `context` is the one given to `kf_curl_prepare`.
typedef struct {
    /// One line of the head, with its end. False ends the transfer.
    bool (*head)(void *context, const char *line, size_t count);
    /// Bytes of the body, decoded. `count` or fewer: how many were taken; `KF_CURL_PAUSE`: come again with them later.
    size_t (*body)(void *context, const char *bytes, size_t count);
    /// Whether a connection to an address may be opened: 4 or 16 bytes in network order, none for a Unix socket.
    bool (*may_connect)(void *context, const uint8_t *address, size_t count);
    /// There is a connection, new or reused, to a numeric address. False ends the transfer before it sends anything.
    bool (*connected)(void *context, const char *address);
} kf_curl_callbacks;

/// Returned by `body`: the bytes are kept by libcurl until the transfer is resumed.
#define KF_CURL_PAUSE CURL_WRITEFUNC_PAUSE

/// Initialises libcurl, and sets the callbacks of all transfers; false if libcurl cannot be used. Once a process.
bool kf_curl_initialize(kf_curl_callbacks callbacks);

/// Whether the libcurl of this process speaks HTTP/3.
bool kf_curl_has_http3(void);

/// Sets what all transfers have in common: http and https only, no redirects followed, no signals, the callbacks.
/// `error`, a buffer of `CURL_ERROR_SIZE` bytes, must outlive the handle.
CURLcode kf_curl_prepare(CURL *handle, void *context, char *error);

CURLcode kf_curl_set_long(CURL *handle, CURLoption option, long value);
CURLcode kf_curl_set_string(CURL *handle, CURLoption option, const char *value);
CURLcode kf_curl_set_pointer(CURL *handle, CURLoption option, const void *value);
CURLMcode kf_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Replies to a server's challenge with HTTP's Digest of "user:password".
CURLcode kf_curl_set_digest(CURL *handle, const char *credentials);

/// A jar of cookies that handles share through CURLOPT_SHARE, on one thread; NULL without memory.
CURLSH *kf_curl_new_cookies(void);

/// The value of CURLOPT_HTTP_VERSION that tries HTTP/3, and goes back to earlier ones.
#define KF_CURL_HTTP_VERSION_3 30

/// Measurements of a transfer; 0 or NULL for those that are not known.
long kf_curl_long(CURL *handle, CURLINFO info);
curl_off_t kf_curl_offset(CURL *handle, CURLINFO info);
const char *kf_curl_string(CURL *handle, CURLINFO info);

/// The next transfer that has ended: its handle, and how it ended. NULL when there is none.
CURL *kf_curl_next_ended(CURLM *multi, CURLcode *result);

// Connections without transfers.

/// Prepares a handle for which `curl_easy_perform` only opens a connection to the host of its URL, through no proxy,
/// and with TLS if it is one of https. `curl_easy_send` and `curl_easy_recv` then use it, and never wait.
/// `error`, a buffer of `CURL_ERROR_SIZE` bytes, must outlive the handle.
CURLcode kf_curl_prepare_socket(CURL *handle, char *error);

/// The socket of such a connection, to wait for; -1 if there is none.
int kf_curl_socket(CURL *handle);
