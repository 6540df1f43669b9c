#include "app/attachments/pdf_text/confinement.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

// The system calls that reading, computing and ending need. All others answer ENOSYS ("no such call"), so that the C
// library falls back to older calls where it can.
constexpr auto kAllowed = std::to_array<std::uint32_t>({
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_dup,
    SYS_dup3,
    SYS_fcntl,
    SYS_fadvise64,
    SYS_fstatfs,
    SYS_statfs,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_rseq,
    SYS_membarrier,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_times,
    SYS_getrusage,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrandom,
    SYS_uname,
    SYS_sysinfo,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_getpriority,
    SYS_getcpu,
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_pipe2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_set_tid_address,
    SYS_exit,
    SYS_exit_group,
#ifdef __x86_64__
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_poll,
    SYS_select,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_pipe,
    SYS_dup2,
    SYS_time,
    SYS_getdents,
    SYS_arch_prctl,
#endif
});

constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;

/// The filter's program, put together rule by rule; each rule leaves the call's number in the accumulator.
class Filter
{
public:
    Filter()
    {
        load(offsetof(seccomp_data, arch));
        m_code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
        answer(SECCOMP_RET_KILL_PROCESS);
        load(offsetof(seccomp_data, nr));
    }
    void allow(std::uint32_t call)
    {
        m_code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
        answer(SECCOMP_RET_ALLOW);
    }
    /// Allows a call only where none of these bits (or, with `wanted`, all of those) are set in an argument.
    void allowIf(std::uint32_t call, unsigned argument, std::uint32_t forbidden, std::uint32_t wanted = 0)
    {
        m_code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5));
        load(std::uint32_t(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t)));
        m_code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, forbidden | wanted));
        m_code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wanted, 0, 1));
        answer(SECCOMP_RET_ALLOW);
        answer(kRefused);
    }
    bool install()
    {
        answer(kUnknown);
        const sock_fprog program{static_cast<unsigned short>(m_code.size()), m_code.data()};
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }

private:
    void load(std::size_t offset) { m_code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, std::uint32_t(offset))); }
    void answer(std::uint32_t what) { m_code.push_back(BPF_STMT(BPF_RET | BPF_K, what)); }

    std::vector<sock_filter> m_code;
};

bool filterCalls()
{
    if (kArchitecture == 0)
        return false;
    Filter filter;
    for (const std::uint32_t call : kAllowed)
        filter.allow(call);
    constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    filter.allowIf(SYS_openat, 2, kWriting);
#ifdef __x86_64__
    filter.allowIf(SYS_open, 1, kWriting);
#endif
    filter.allowIf(SYS_prlimit64, 0, ~0U);                     // its own limits (process 0), which it cannot raise
    filter.allowIf(SYS_clone, 0, 0, CLONE_THREAD | CLONE_VM);  // threads only; clone3 hides its flags, so it is unknown
    return filter.install();
}

/// Lets this process only read files any more, and only those of the system and of this program. False: the kernel
/// cannot restrict it.
bool keepFromFiles()
{
    const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return false;
    landlock_ruleset_attr all{};
    all.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;  // all that the first version knows
    const int rules = int(syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0));
    if (rules < 0)
        return false;
    std::array<char, 4096> self{};
    const ssize_t length = readlink("/proc/self/exe", self.data(), self.size() - 1);
    std::string ours(self.data(), length > 0 ? std::size_t(length) : 0);
    ours.resize(ours.rfind('/') == std::string::npos ? 0 : ours.rfind('/'));
    for (const std::string& folder :
         {std::string("/usr"), std::string("/etc"), std::string("/lib"), std::string("/lib64"),
          std::string("/proc/self"), ours, ours + "/../lib", ours + "/../../lib"}) {
        const int handle = open(folder.c_str(), O_PATH | O_CLOEXEC);
        if (handle < 0)
            continue;
        landlock_path_beneath_attr beneath{};
        beneath.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
        beneath.parent_fd = handle;
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
        close(handle);
    }
    const bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}

}  // namespace

std::string confineThisProcess()
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return "no confinement";
    const bool files = keepFromFiles();
    const bool calls = filterCalls();
    if (files && calls)
        return {};
    return calls ? "no Landlock" : files ? "no seccomp" : "neither Landlock nor seccomp";
}
