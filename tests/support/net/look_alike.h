// LookAlike is a server that speaks OpenAI's API, as one of the known programs or as badly as a test wants it to.
#pragma once

#include "tests/support/net/web_server.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace support {

/// The program that the server looks like: its list of models, and a page that only this program has.
struct Look {
    std::string models =
        "{\"object\":\"list\",\"data\":[{\"id\":\"org/model\",\"object\":\"model\",\"owned_by\":\"someone\"}]}";
    std::string path = {};  // of that page
    std::string said = {};  // what the page says
};

class LookAlike
{
public:
    explicit LookAlike(Look look = {})
        : look_(std::move(look))
        , server_([this](const WebRequest& request) { return answer(request); })
    {
    }

    std::string url() const { return server_.url(); }
    WebServer& server() { return server_; }

    /// Answers the next chats with this.
    void says(WebAnswer answer)
    {
        const std::lock_guard lock(mutex_);
        chat_ = std::move(answer);
    }
    /// Sets the page of numbers; empty: there is none.
    void counts(std::string page)
    {
        const std::lock_guard lock(mutex_);
        numbers_ = std::move(page);
    }
    void wants(std::string key)
    {
        const std::lock_guard lock(mutex_);
        key_ = std::move(key);
    }
    /// Bodies of the chats so far.
    std::vector<nlohmann::json> chats() const
    {
        std::vector<nlohmann::json> all;
        for (const WebRequest& request : server_.requests())
            if (request.method == "POST")
                all.push_back(nlohmann::json::parse(request.body, nullptr, false));
        return all;
    }

    /// Makes an answer that streams these deltas.
    static WebAnswer stream(const std::vector<std::string>& deltas, const std::string& finish = "stop",
                            const std::string& usage = {})
    {
        WebAnswer answer;
        answer.headers = {{"Content-Type", "text/event-stream"}};
        for (const std::string& delta : deltas)
            answer.body +=
                "data: {\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":null}]}" + "\n\n";
        if (!finish.empty())
            answer.body +=
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" + finish + "\"}]}" + "\n\n";
        if (!usage.empty())
            answer.body += "data: {\"choices\":[],\"usage\":" + usage + "}\n\n";
        if (!finish.empty())
            answer.body += "data: [DONE]\n\n";
        return answer;
    }
    static std::string content(const std::string& text) { return nlohmann::json{{"content", text}}.dump(); }

private:
    WebAnswer answer(const WebRequest& request)
    {
        const std::lock_guard lock(mutex_);
        if (!key_.empty() && request.header("authorization") != "Bearer " + key_)
            return {401, {{"Content-Type", "application/json"}}, "{\"error\":{\"message\":\"Unauthorized\"}}"};
        if (request.method == "POST")
            return chat_;
        if (request.target == "/v1/models")
            return {200, {{"Content-Type", "application/json"}}, look_.models};
        if (request.target == "/metrics" && !numbers_.empty())
            return {200, {{"Content-Type", "text/plain; version=0.0.4"}}, numbers_};
        if (!look_.path.empty() && request.target == look_.path)
            return {200, {{"Content-Type", "application/json"}}, look_.said};
        return {404, {}, "{\"detail\":\"Not Found\"}"};
    }

    mutable std::mutex mutex_;
    Look look_;
    std::string key_;
    std::string numbers_;
    WebAnswer chat_ = stream({content("Hello")});
    WebServer server_;  // the last: it answers by what stands above
};

}  // namespace support
