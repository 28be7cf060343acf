// Netlink's macros and structures, which the Glibc module does not export.
#define _GNU_SOURCE
#include "CKFNetlink.h"
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int kf_netlink_subscribe(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    address.nl_groups =
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

bool kf_netlink_drain(int socket) {
    char bytes[4096];
    for (;;) {
        ssize_t count = recv(socket, bytes, sizeof bytes, 0);
        // ENOBUFS: there were more notifications than the kernel keeps. The state is read anew anyway.
        if (count > 0 || (count < 0 && (errno == EINTR || errno == ENOBUFS))) continue;
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
}

int kf_netlink_open(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct timeval limit = {.tv_sec = 1};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return descriptor;
}

int kf_netlink_request(int socket, bool routes) {
    struct {
        struct nlmsghdr header;
        struct rtgenmsg families;
    } request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.families);
    request.header.nlmsg_type = routes ? RTM_GETROUTE : RTM_GETLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.families.rtgen_family = AF_UNSPEC;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent =
        sendto(socket, &request, request.header.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel);
    return sent == (ssize_t)request.header.nlmsg_len ? 0 : -1;
}

long kf_netlink_read(int socket, void *buffer, size_t size) {
    for (;;) {
        struct sockaddr_nl sender = {0};
        struct iovec part = {.iov_base = buffer, .iov_len = size};
        struct msghdr message = {
            .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
        ssize_t count = recvmsg(socket, &message, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (message.msg_flags & MSG_TRUNC) {
            errno = EMSGSIZE;
            return -1;
        }
        if (sender.nl_pid == 0) return count;  // any process may send to the socket
    }
}

static void add_hop(kf_netlink_message *message, int interface) {
    if (interface > 0 && message->hop_count < KF_NETLINK_MAX_HOPS) message->hops[message->hop_count++] = interface;
}

static void parse_link(const struct nlmsghdr *header, kf_netlink_message *message) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg))) return;
    const struct ifinfomsg *link = NLMSG_DATA(header);
    message->kind = KF_NETLINK_LINK;
    message->interface = link->ifi_index;
    message->is_loopback = link->ifi_flags & IFF_LOOPBACK;
    message->is_running = (link->ifi_flags & IFF_UP) && (link->ifi_flags & IFF_RUNNING);
}

static void parse_route(const struct nlmsghdr *header, kf_netlink_message *message) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg))) return;
    const struct rtmsg *route = NLMSG_DATA(header);
    if (route->rtm_type != RTN_UNICAST) return;
    message->kind = KF_NETLINK_ROUTE;
    message->is_default = route->rtm_dst_len == 0 && (route->rtm_family == AF_INET || route->rtm_family == AF_INET6);
    int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof *route));
    const struct rtattr *attribute = RTM_RTA(route);
    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == RTA_OIF && RTA_PAYLOAD(attribute) >= sizeof(int32_t)) {
            int32_t interface;
            memcpy(&interface, RTA_DATA(attribute), sizeof interface);
            add_hop(message, interface);
        } else if (attribute->rta_type == RTA_MULTIPATH) {
            const struct rtnexthop *hop = RTA_DATA(attribute);
            int rest = (int)RTA_PAYLOAD(attribute);
            while (rest >= (int)sizeof *hop && RTNH_OK(hop, rest)) {
                add_hop(message, hop->rtnh_ifindex);
                rest -= (int)RTNH_ALIGN(hop->rtnh_len);
                hop = RTNH_NEXT(hop);
            }
        }
    }
}

static void parse_done(const struct nlmsghdr *header, kf_netlink_message *message) {
    int32_t outcome = 0;  // an error number, negated
    if (header->nlmsg_len >= NLMSG_LENGTH(sizeof outcome)) memcpy(&outcome, NLMSG_DATA(header), sizeof outcome);
    message->kind = outcome < 0 ? KF_NETLINK_ERROR : KF_NETLINK_DONE;
}

size_t kf_netlink_parse(const void *bytes, size_t count, kf_netlink_message *message) {
    memset(message, 0, sizeof *message);
    const struct nlmsghdr *header = bytes;
    if (count < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > count) return 0;
    switch (header->nlmsg_type) {
        case RTM_NEWLINK: parse_link(header, message); break;
        case RTM_NEWROUTE: parse_route(header, message); break;
        case NLMSG_DONE: parse_done(header, message); break;
        case NLMSG_ERROR: message->kind = KF_NETLINK_ERROR; break;
        default: break;
    }
    size_t size = NLMSG_ALIGN((size_t)header->nlmsg_len);
    return size < count ? size : count;
}

int kf_interface_is_running(const char *name) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    if (strlen(name) >= sizeof request.ifr_name) return -1;
    memcpy(request.ifr_name, name, strlen(name));
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) descriptor = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    int outcome = ioctl(descriptor, SIOCGIFFLAGS, &request);
    close(descriptor);
    if (outcome != 0) return -1;
    return (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
}
