// Mailbox holds commands on their way to the engine. Any thread posts; the owner takes them between tokens.
#pragma once

#include "engine/engine.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

class Mailbox
{
public:
    struct Posted {
        std::uint64_t id;
        Command command;
    };

    std::uint64_t post(Command command)
    {
        const std::lock_guard lock(mutex_);
        posted_.push_back({last_id_ + 1, std::move(command)});
        return ++last_id_;
    }

    std::vector<Posted> take_all()
    {
        const std::lock_guard lock(mutex_);
        return std::exchange(posted_, {});
    }

private:
    std::mutex mutex_;
    std::vector<Posted> posted_;
    std::uint64_t last_id_ = 0;
};

}  // namespace engine
