// FileSizeLimit keeps files of this process from growing, like a full disk.
#pragma once

#ifdef __linux__
#include <csignal>
#include <cstdint>
#include <sys/resource.h>

/// As long as it lives, no file of this process grows beyond a size.
class FileSizeLimit
{
public:
    explicit FileSizeLimit(std::int64_t bytes)
    {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = rlim_t(bytes);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    rlimit before_{};
};
#endif
