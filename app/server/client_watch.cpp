#include "app/server/client_watch.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>

namespace server {

ClientWatch::ClientWatch(const std::function<bool()>& is_gone)
{
    try {
        thread_ = std::jthread([this, &is_gone](const std::stop_token& over) { watch(is_gone, over); });
    } catch (const std::system_error&) {
        // No thread could be had: the work goes on to its end.
    }
}

void ClientWatch::watch(const std::function<bool()>& is_gone, const std::stop_token& over)
{
    constexpr std::chrono::milliseconds kBetweenLooks{100};
    std::mutex mutex;
    std::condition_variable_any nothing;
    std::unique_lock lock(mutex);
    for (;;) {
        nothing.wait_for(lock, over, kBetweenLooks, [] { return false; });
        if (over.stop_requested())
            return;
        if (is_gone()) {
            gone_.request_stop();
            return;
        }
    }
}

}  // namespace server
