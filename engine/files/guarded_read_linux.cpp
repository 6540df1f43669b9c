// Guards of mapped files on Linux: SIGBUS in a guarded range maps zeros over the rest of it.
#include "engine/files/guard_registry.h"

#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <unistd.h>

namespace engine {
namespace {

// Written once, before the handler is installed.
struct sigaction g_previous = {};
std::uintptr_t g_page_bytes = 4096;
GuardRegistry* g_registry = nullptr;

/// Makes only calls that are safe in a signal handler: atomics and mmap, which is one system call.
bool put_zeros_at(std::uintptr_t address)
{
    const GuardedRange range = g_registry->find(address);
    if (!range.slot)
        return false;
    range.slot->lost.store(true);
    // A file that ends here has nothing after it either, so one call does instead of one for each page to come.
    const std::uintptr_t page = address / g_page_bytes * g_page_bytes;
    void* zeros = ::mmap(reinterpret_cast<void*>(page), range.end - page, PROT_READ,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return zeros != MAP_FAILED;
}

void on_bus_error(int signal, siginfo_t* info, void* context)
{
    const int kept_errno = errno;
    const bool raised_by_kernel = info->si_code > 0;  // else kill() and the like, where si_addr means nothing
    if (raised_by_kernel && put_zeros_at(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
        errno = kept_errno;
        return;  // the read is tried again and finds zeros
    }
    if (g_previous.sa_flags & SA_SIGINFO) {
        g_previous.sa_sigaction(signal, info, context);
    } else if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
        g_previous.sa_handler(signal);
    } else if (raised_by_kernel) {
        ::sigaction(signal, &g_previous, nullptr);  // the read is tried again and ends the process as it would have
    } else if (g_previous.sa_handler == SIG_DFL) {
        ::sigaction(signal, &g_previous, nullptr);
        ::raise(signal);  // delivered when this handler returns
    }
    errno = kept_errno;
}

}  // namespace

void install_fault_handler()
{
    g_registry = &guard_registry();
    g_page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    ::sigaction(SIGBUS, nullptr, &g_previous);
    struct sigaction ours = {};
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(SIGBUS, &ours, nullptr);
}

}  // namespace engine
