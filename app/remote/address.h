// Reads the addresses of servers and the paths of their models.
#pragma once

#include "app/net/failure.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace remote {

/// Returns what a user typed or pasted, as scheme, host, port and path without what the API adds ("/v1",
/// "/chat/completions"). Without a scheme it is http where only this machine or a local network can be meant, else
/// https. BadRequest with a sentence for what is no address, or has a name and a password in it.
net::Result<std::string> read_address(std::string_view typed);

/// Returns the host as people write it, with the port where it is not the usual one.
std::string host_of(const std::string& url);

/// Says whether others on the way could read what is sent: plain http to another machine.
bool is_in_clear(const std::string& url);

/// Names a model of a server. Written as a path it stands where other models have that of a file:
/// "http://127.0.0.1:8000/#org%2Fmodel".
struct RemoteModel {
    std::string server;  // its address
    std::string model;   // as the server calls it
};
std::filesystem::path path_of(const RemoteModel& model);
/// Reads a path as a model of a server. Empty: it is the path of a file.
std::optional<RemoteModel> model_at(const std::filesystem::path& path);

}  // namespace remote
