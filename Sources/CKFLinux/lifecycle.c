// The ends of a process and of its memory: signals that wait for a moment, and freed memory that goes back.
#define _GNU_SOURCE
#include "CKFLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

static struct sigaction previous[NSIG];
static volatile sig_atomic_t is_under_way[NSIG];
static volatile sig_atomic_t told = -1;
// The process whose thread listens: the children it forks have the handler, and nobody who would listen.
static volatile pid_t owner;

void kf_return_freed_memory(void) { malloc_trim(0); }

// Runs wherever the signal hits, so it may do nothing but this.
static void heard(int number) {
    int kept = errno;
    unsigned char byte = (unsigned char)number;
    if (getpid() == owner && !is_under_way[number]) {
        is_under_way[number] = 1;
        if (write(told, &byte, 1) == 1) {
            errno = kept;
            return;
        }
    }
    // Nobody is there to be told, as in a child, or the user insists: it takes effect as soon as this returns.
    sigaction(number, &previous[number], NULL);
    raise(number);
    errno = kept;
}

int kf_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return 0;
}

static int listen_for(int number) {
    struct sigaction ours = {.sa_handler = heard, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    return sigaction(number, &ours, &previous[number]);
}

int kf_hold_signal(int number, int descriptor) {
    struct sigaction now;
    if (number <= 0 || number >= NSIG || sigaction(number, NULL, &now) != 0) return -1;
    if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN) return -1;
    if (owner == 0) owner = getpid();
    if (getpid() != owner) return -1;
    told = descriptor;
    // Before ours is set: it may be called at once.
    previous[number] = now;
    return listen_for(number);
}

void kf_release_signal(int number) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    sigaction(number, &previous[number], NULL);
    raise(number);
    // Whoever handled it before has decided to go on.
    is_under_way[number] = 0;
    listen_for(number);
}
