#include "app/remote/server_choice.h"

#include <algorithm>
#include <tuple>

namespace remote {

namespace {

/// Nobody is left out for longer because it said so.
constexpr std::chrono::seconds kLongestRest{600};

}  // namespace

std::vector<std::string> ServerChoice::order(std::vector<Occupancy> servers, engine::SequenceId sequence,
                                             Clock::time_point now) const
{
    const auto last = last_.find(sequence);
    std::ranges::stable_sort(servers, {}, [&](const Occupancy& server) {
        return std::tuple(rests(server.url, now), server.waiting.value_or(0),
                          last == last_.end() || last->second != server.url, server.running.value_or(0));
    });
    std::vector<std::string> urls;
    for (Occupancy& server : servers)
        urls.push_back(std::move(server.url));
    return urls;
}

void ServerChoice::failed(const std::string& url, std::chrono::seconds wait, Clock::time_point now)
{
    rests_until_[url] = now + std::clamp(wait, kRest, kLongestRest);
}

bool ServerChoice::rests(const std::string& url, Clock::time_point now) const
{
    const auto found = rests_until_.find(url);
    return found != rests_until_.end() && now < found->second;
}

void ServerChoice::answered(const std::string& url, engine::SequenceId sequence)
{
    rests_until_.erase(url);
    last_[sequence] = url;
}

void ServerChoice::branch(engine::SequenceId from, engine::SequenceId to)
{
    if (const auto found = last_.find(from); found != last_.end())
        last_[to] = found->second;
}

}  // namespace remote
