// Locks itself as a decoder does, prints which locks are in force, and then does one thing. It ends with 0 when that
// could be done, or with the error number. For SandboxTests.
//
//   kf-sandbox-checks [SURROUNDINGS...] [without=BITS] ACTION
//   kf-sandbox-checks [SURROUNDINGS...] [without=BITS] [libraries=FOLDER] run PROGRAM [ARGUMENTS...]
//
// The second one becomes that program, locked, which may find its libraries in the folder.
#define _GNU_SOURCE
#include <CKFSandbox.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <unistd.h>
#include "surroundings.h"

// A file in memory that it has from the beginning, as the one that pixels are written to; and its one page.
enum { SHARED = 3 };
// Without any lock.
enum { ALL = KF_SANDBOX_LANDLOCK | KF_SANDBOX_SECCOMP | KF_SANDBOX_LIMITS };
static char *page;

static int result(long value) { return value < 0 ? errno : 0; }

static void *add_one(void *number) {
    ++*(int *)number;
    return NULL;
}

// What decoding takes.
static int compute(void) {
    pthread_t thread;
    int number = 0, error = pthread_create(&thread, NULL, add_one, &number);
    if (error) return error;
    pthread_join(thread, NULL);
    char *memory = malloc(100 << 20), first = 0;
    if (!memory) return ENOMEM;
    memset(memory, number, 100 << 20);
    memcpy(page, memory, 4096);
    free(memory);
    if (pread(SHARED, &first, 1, 0) != 1) return errno;
    return first == 1 ? 0 : EBADMSG;
}

static int read_file(void) { return result(open("/etc/passwd", O_RDONLY)); }
static int write_file(void) { return result(open("/tmp", O_TMPFILE | O_WRONLY, 0600)); }
static int remove_file(void) { return result(unlink("/tmp/kf-sandbox-checks")); }

static int connect_to(int family, const void *address, socklen_t size) {
    int socket_ = socket(family, SOCK_STREAM, 0);
    return socket_ < 0 ? errno : result(connect(socket_, address, size));
}

static int connect_tcp(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_to(AF_INET, &address, sizeof address);
}

static int connect_unix(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0kf-sandbox-checks"};
    return connect_to(AF_UNIX, &address, sizeof address);
}

static int fork_itself(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return result(child);
}

static int spawn_program(void) {
    char *arguments[] = {"true", NULL};
    pid_t child;
    return posix_spawnp(&child, "true", NULL, NULL, arguments, arguments + 1);
}

static int execute(void) {
    // Its exit code is 0.
    return result(execl("/bin/true", "true", NULL));
}

static int trace(void) { return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); }
static int kill_parent(void) { return result(kill(getppid(), 0)); }
static int make_memory_file(void) { return result(memfd_create("more", 0)); }
static int grow_memory_file(void) { return result(ftruncate(SHARED, 1 << 30)); }
static int fill_memory_file(void) { return lseek(SHARED, 0, SEEK_END) < 0 ? errno : result(write(SHARED, page, 4096)); }
static int protect(void) { return result(mprotect(page, 4096, PROT_READ | PROT_EXEC)); }

static int map_code(void) {
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return code == MAP_FAILED ? errno : 0;
}

static int raise_limit(void) {
    const struct rlimit limit = {0, 0};
    return result(setrlimit(RLIMIT_CORE, &limit));
}

// The kernel would send its parent a signal when the socket is written to.
static int signal_parent(void) { return result(fcntl(STDOUT_FILENO, F_SETOWN, getppid())); }
static int make_ring(void) { return result(syscall(425, 1, page)); }

// getpid as a program of 32 bits calls it, whose numbers differ.
static int call_as_32_bits(void) {
#ifdef __x86_64__
    long process = 20;
    __asm__ volatile("int $0x80" : "+a"(process) : : "memory", "r8", "r9", "r10", "r11");
    return result(process);
#else
    return kill(getpid(), SIGSYS);
#endif
}

static int crash(void) { abort(); }

static const struct {
    const char *name;
    int (*does)(void);
} actions[] = {
    {"compute", compute}, {"read", read_file}, {"write", write_file}, {"remove", remove_file}, {"tcp", connect_tcp},
    {"unix", connect_unix}, {"fork", fork_itself}, {"spawn", spawn_program}, {"exec", execute},
    {"ptrace", trace}, {"kill", kill_parent}, {"memfd", make_memory_file}, {"grow", grow_memory_file},
    {"fill", fill_memory_file}, {"mprotect", protect}, {"mmap", map_code}, {"limit", raise_limit},
    {"signal", signal_parent}, {"io_uring", make_ring}, {"32-bit", call_as_32_bits}, {"abort", crash},
};

// Who started it limits what it may use as that user, before its input ends.
static bool become_nobody(void) {
    while (getchar() != EOF) {}
    return !setgroups(0, NULL) && !setgid(65534) && !setuid(65534);
}

// Who runs this as its program has made the file.
static bool make_file(void) {
    return fcntl(SHARED, F_GETFD) >= 0 || (memfd_create("pixels", 0) == SHARED && !ftruncate(SHARED, 4096));
}

static bool map_page(void) {
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED, 0);
    return page != MAP_FAILED;
}

static bool prepare(char **words, int count, unsigned *without) {
    surroundings found = {0};
    bool as_user = false;
    for (int i = 0; i < count; i++) {
        if (!strcmp(words[i], "container")) found.container = true;
        if (!strcmp(words[i], "service")) found.service = true;
        if (!strcmp(words[i], "no-landlock")) found.no_landlock = true;
        if (!strcmp(words[i], "no-seccomp")) found.no_seccomp = true;
        if (!strcmp(words[i], "user")) as_user = true;
        if (!strncmp(words[i], "libraries=", 10)) setenv("LD_LIBRARY_PATH", words[i] + 10, 1);
        if (!strncmp(words[i], "without=", 8)) *without = (unsigned)atoi(words[i] + 8);
    }
    return make_file() && surround(found) && (!as_user || become_nobody());
}

static int act(const char *name) {
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (!strcmp(actions[i].name, name)) return actions[i].does();
    }
    return 253;
}

int main(int count, char **words) {
    kf_sandbox_state state = {0};
    const char *step;
    unsigned without = 0;
    int run = 1;
    while (run < count && strcmp(words[run], "run")) run++;
    bool is_action = run == count;
    if (count < 2 || !prepare(words + 1, run - 1, &without) || (is_action && !map_page())) return 255;
    int error = 0;
    if (!is_action && without == ALL) {
        execv(words[run + 1], words + run + 1);
        step = "starting the program";
        error = errno;
    } else if (!is_action) {
        error = kf_sandbox_run(without, words + run + 1, &step);
    } else if (without != ALL) {
        error = kf_sandbox_lock(without, &state, &step);
    }
    if (error) {
        fprintf(stderr, "%s: %s\n", step, strerror(error));
        return 254;
    }
    printf("%d %d %d\n", state.landlock, state.seccomp, state.limits);
    fflush(stdout);
    return act(words[count - 1]);
}
