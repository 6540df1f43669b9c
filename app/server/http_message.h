// Declares requests and answers of HTTP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace server {

struct HttpHeader {
    std::string name;  // of a request: in lower case
    std::string value;
};

struct HttpRequest {
    std::string method;  // "POST"
    std::string path;    // "/v1/models", without what follows a question mark
    std::string query;
    std::vector<HttpHeader> headers;
    std::string body;
    bool http_1_0 = false;
    bool keeps_alive = true;        // the client wants to ask again on this connection
    bool expects_continue = false;  // the client waits for "100 Continue" before it sends the body
    std::string client = {};        // its address and port

    /// Returns the value of the first header of this name, given in lower case; null: there is none.
    const std::string* header(std::string_view name) const;
};

struct HttpAnswer {
    int status = 200;
    std::string body;
    std::string content_type = "application/json";
    std::vector<HttpHeader> headers = {};
};

/// Returns the phrase for a status: "Not Found".
const char* status_phrase(int status);

/// Returns the text with ASCII letters in lower case, as HTTP compares its names.
std::string lower_case(std::string_view text);

}  // namespace server
