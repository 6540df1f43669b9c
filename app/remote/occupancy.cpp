#include "app/remote/occupancy.h"

#include "app/remote/probe.h"

#include <chrono>
#include <thread>

namespace remote {

namespace {

/// How long a turn waits for servers to say how busy they are; a slower one goes by without a number.
constexpr std::chrono::milliseconds kLongestLook{1000};

}  // namespace

std::vector<Occupancy> ask_occupancy(net::HttpClient& client, const std::vector<ListedServer>& servers,
                                     ServerChoice& choice, const std::stop_token& stop)
{
    const auto now = ServerChoice::Clock::now();
    std::vector<Occupancy> all;
    for (const ListedServer& listed : servers)
        all.push_back({listed.server.url});
    std::vector<net::Result<ServerNumbers>> numbers(servers.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < servers.size(); ++i)
            if (!choice.rests(all[i].url, now))
                threads.emplace_back([&, i] {
                    try {
                        numbers[i] = ask_numbers(client, servers[i].server, stop, kLongestLook);
                    } catch (...) {  // no memory for the answer: the server counts as one that does not say
                    }
                });
    }
    for (std::size_t i = 0; i < servers.size(); ++i) {
        if (numbers[i]) {
            all[i].waiting = numbers[i]->waiting;
            all[i].running = numbers[i]->running;
        } else if (net::may_pass(numbers[i].error().kind)) {
            choice.failed(all[i].url, numbers[i].error().wait, now);
        }
    }
    return all;
}

}  // namespace remote
