// OpenFilesLimit keeps this process from opening files and taking connections.
#pragma once

#ifdef __linux__
#include <sys/resource.h>

/// As long as it lives, this process opens no file and takes no connection.
class OpenFilesLimit
{
public:
    OpenFilesLimit()
    {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = 1;  // poll() wants as many as it is asked to look at
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    ~OpenFilesLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
    OpenFilesLimit(const OpenFilesLimit&) = delete;
    OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;

private:
    rlimit before_{};
};
#endif
