// What the kernel says of network interfaces and routes, through netlink. For the watch on connectivity in KFTransport.
#ifndef CKFNETLINK_H
#define CKFNETLINK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a message of the kernel is about.
typedef enum kf_netlink_kind {
    /// Anything that says nothing of connectivity.
    KF_NETLINK_OTHER,
    /// An interface, as it is now.
    KF_NETLINK_LINK,
    /// A route that forwards packets.
    KF_NETLINK_ROUTE,
    /// The end of a list.
    KF_NETLINK_DONE,
    /// The kernel refused the request, or the list is not complete.
    KF_NETLINK_ERROR,
} kf_netlink_kind;

#define KF_NETLINK_MAX_HOPS 16

/// One message of the kernel.
typedef struct kf_netlink_message {
    kf_netlink_kind kind;
    /// An interface's number.
    int32_t interface;
    /// An interface: whether it is the loopback.
    bool is_loopback;
    /// An interface: whether it is up and has a carrier (IFF_UP and IFF_RUNNING).
    bool is_running;
    /// A route: whether it is for all addresses of IPv4 or of IPv6.
    bool is_default;
    /// A route: the numbers of the interfaces it leads through, the first of them; none if it does not say.
    int32_t hops[KF_NETLINK_MAX_HOPS];
    int32_t hop_count;
} kf_netlink_message;

/// Opens a socket that never blocks and becomes readable when an interface, an address or a route changes. Returns its
/// descriptor, -1 with `errno` where that is not permitted.
int kf_netlink_subscribe(void);

/// Discards all notifications that wait on such a socket. Returns false if it will give no more.
bool kf_netlink_drain(int socket);

/// Opens a socket for lists. Reading waits for a second at most. Returns its descriptor, -1 with `errno` on failure.
int kf_netlink_open(void);

/// Requests the list of all interfaces, or of all routes. Returns 0, -1 with `errno` on failure.
int kf_netlink_request(int socket, bool routes);

/// Reads messages of the kernel, and of no other sender. Returns the bytes filled; -1 with `errno` on failure, also
/// when the buffer was too small.
long kf_netlink_read(int socket, void *buffer, size_t size);

/// Takes one message from bytes, which begin at an address divisible by 4. Returns how many bytes belong to it, 0 if
/// there is no whole message.
size_t kf_netlink_parse(const void *bytes, size_t count, kf_netlink_message *message);

/// Whether the interface of this name is up and has a carrier: 1 or 0, -1 if it cannot be said. Needs no netlink.
int kf_interface_is_running(const char *name);

#endif
