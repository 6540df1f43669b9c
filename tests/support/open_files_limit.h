// A process that may open no more files, on a small scale.
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
