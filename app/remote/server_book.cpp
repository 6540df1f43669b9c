#include "app/remote/server_book.h"

#include <algorithm>

namespace remote {

namespace {

bool has_model(const ServerFacts& facts, const std::string& model)
{
    return std::ranges::find(facts.models, model, &ServedModel::id) != facts.models.end();
}

}  // namespace

void ServerBook::set(std::vector<ListedServer> servers)
{
    const std::lock_guard lock(mutex_);
    servers_ = std::move(servers);
    std::erase_if(answering_, [this](const auto& pair) { return !at(pair.first.second) || !at(pair.second); });
}

void ServerBook::learn(const std::string& url, const ServerFacts& facts)
{
    const std::lock_guard lock(mutex_);
    for (ListedServer& listed : servers_)
        if (listed.server.url == url)
            listed.facts = facts;
}

const ListedServer* ServerBook::at(const std::string& url) const
{
    const auto found = std::ranges::find(servers_, url, [](const ListedServer& listed) { return listed.server.url; });
    return found == servers_.end() ? nullptr : &*found;
}

std::optional<Server> ServerBook::find(const std::string& url) const
{
    const std::lock_guard lock(mutex_);
    const ListedServer* const found = at(url);
    return found ? std::optional(keys_.with_known_key(found->server)) : std::nullopt;
}

std::vector<ListedServer> ServerBook::for_model(const std::string& url, const std::string& model) const
{
    const std::lock_guard lock(mutex_);
    const ListedServer* const first = at(url);
    if (!first)
        return {};
    std::vector<ListedServer> all{*first};
    for (const ListedServer& other : servers_)
        if (&other != first && !other.name.empty() && other.name == first->name && has_model(other.facts, model))
            all.push_back(other);
    for (ListedServer& listed : all)
        listed.server = keys_.with_known_key(std::move(listed.server));
    return all;
}

void ServerBook::set_answering(const std::string& url, engine::SequenceId sequence, const std::string& answering)
{
    const std::lock_guard lock(mutex_);
    answering_[{sequence, url}] = answering;
}

void ServerBook::end_sequence(engine::SequenceId sequence)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(answering_, [&](const auto& pair) { return pair.first.first == sequence; });
}

std::optional<Server> ServerBook::answering(const std::string& url, engine::SequenceId sequence) const
{
    const std::lock_guard lock(mutex_);
    auto known = answering_.find({sequence, url});
    if (known == answering_.end())
        known = answering_.find({0, url});
    const ListedServer* const found = at(known == answering_.end() ? url : known->second);
    return found ? std::optional(keys_.with_known_key(found->server)) : std::nullopt;
}

net::HttpClient& ServerBook::client()
{
    const std::lock_guard lock(mutex_);
    if (!client_)
        client_ = std::make_unique<net::HttpClient>();
    return *client_;
}

std::vector<net::Connection> ServerBook::connections() const
{
    const std::lock_guard lock(mutex_);
    return client_ ? client_->connections().connections() : std::vector<net::Connection>();
}

}  // namespace remote
