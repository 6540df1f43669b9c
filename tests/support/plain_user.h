// PlainUser makes root obey the permissions of files, like any user.
#pragma once

#ifdef __linux__
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace support {

/// While it lives, this thread and those it starts obey the permissions of files, even as root. Elsewhere than on
/// Linux, and for everybody who does so anyway, it does nothing.
class PlainUser
{
public:
#ifdef __linux__
    PlainUser()
    {
        if (syscall(SYS_capget, &header_, before_) != 0)
            return;
        __user_cap_data_struct without[2] = {before_[0], before_[1]};
        without[0].effective &= ~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH);
        changed_ = syscall(SYS_capset, &header_, without) == 0;
    }
    ~PlainUser()
    {
        if (changed_)
            syscall(SYS_capset, &header_, before_);
    }
    PlainUser(const PlainUser&) = delete;
    PlainUser& operator=(const PlainUser&) = delete;

private:
    __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct before_[2] = {};
    bool changed_ = false;
#else
    PlainUser() {}  // without it compilers take a variable of this type for unused
#endif
};

}  // namespace support
