#include "app/remote/server_choice.h"

#include <algorithm>
#include <tuple>

namespace remote {

namespace {

/// The longest that a server is left alone, whatever it says.
constexpr std::chrono::seconds kLongestRest{600};

}  // namespace

std::vector<std::string> ServerChoice::order(std::vector<Occupancy> servers, engine::SequenceId sequence,
                                             Clock::time_point now) const
{
    const std::lock_guard lock(mutex_);
    return in_order(std::move(servers), sequence, now);
}

std::vector<std::string> ServerChoice::choose(std::vector<Occupancy> servers, engine::SequenceId sequence,
                                              Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string> urls = in_order(std::move(servers), sequence, now);
    if (!urls.empty())
        count(urls.front(), now);
    return urls;
}

std::vector<std::string> ServerChoice::in_order(std::vector<Occupancy> servers, engine::SequenceId sequence,
                                                Clock::time_point now) const
{
    const auto last = last_.find(sequence);
    std::ranges::stable_sort(servers, {}, [&](const Occupancy& server) {
        return std::tuple(is_resting(server.url, now), server.waiting.value_or(0),
                          last == last_.end() || last->second != server.url, running_at(server, now));
    });
    std::vector<std::string> urls;
    for (Occupancy& server : servers)
        urls.push_back(std::move(server.url));
    return urls;
}

double ServerChoice::running_at(const Occupancy& server, Clock::time_point now) const
{
    const auto asked = asked_.find(server.url);
    if (asked == asked_.end())
        return server.running.value_or(0);
    if (!server.running)
        return asked->second.running;
    return *server.running + double(std::ranges::count_if(
                                 asked->second.newest, [&](Clock::time_point when) { return now - when < kUnseen; }));
}

void ServerChoice::asks(const std::string& url, Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    count(url, now);
}

void ServerChoice::count(const std::string& url, Clock::time_point now)
{
    Asked& asked = asked_[url];
    ++asked.running;
    std::erase_if(asked.newest, [&](Clock::time_point when) { return now - when >= kUnseen; });
    asked.newest.push_back(now);
}

void ServerChoice::asks_no_more(const std::string& url)
{
    const std::lock_guard lock(mutex_);
    if (const auto asked = asked_.find(url); asked != asked_.end())
        --asked->second.running;
}

void ServerChoice::failed(const std::string& url, std::chrono::seconds wait, Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    rests_until_[url] = now + std::clamp(wait, kRest, kLongestRest);
}

bool ServerChoice::rests(const std::string& url, Clock::time_point now) const
{
    const std::lock_guard lock(mutex_);
    return is_resting(url, now);
}

bool ServerChoice::is_resting(const std::string& url, Clock::time_point now) const
{
    const auto found = rests_until_.find(url);
    return found != rests_until_.end() && now < found->second;
}

void ServerChoice::answered(const std::string& url, engine::SequenceId sequence)
{
    const std::lock_guard lock(mutex_);
    rests_until_.erase(url);
    last_[sequence] = url;
}

void ServerChoice::end_sequence(engine::SequenceId sequence)
{
    const std::lock_guard lock(mutex_);
    last_.erase(sequence);
}

void ServerChoice::branch(engine::SequenceId from, engine::SequenceId to)
{
    const std::lock_guard lock(mutex_);
    if (const auto found = last_.find(from); found != last_.end())
        last_[to] = found->second;
}

}  // namespace remote
