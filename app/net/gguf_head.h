// inspect_remote() reads the header of a GGUF file that is still on a server, and says what the model is.
#pragma once

#include "app/net/http_client.h"

#include "engine/model_info.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace net {

/// Returns how many bytes the header has that begins so. Nothing: more of it has to be read to know. BadAnswer: this is
/// no GGUF file.
Result<std::optional<std::int64_t>> header_bytes(std::span<const std::byte> beginning);

struct RemotePart {
    std::string url;
    std::string token;
    std::string name;  // of the file
    std::int64_t bytes = 0;
};

/// Holds what a model is that has not been fetched yet.
struct RemoteModel {
    engine::ModelInfo info;        // as inspect_model() will say it, without a path
    std::filesystem::path header;  // stands for its first file: a sparse file of the full size that has only the header
    std::shared_ptr<const void> kept;  // `header` exists as long as this
};

/// Says what a model on a server is. Only the headers of its files are fetched, into a temporary folder.
Result<RemoteModel> inspect_remote(HttpClient& client, const std::vector<RemotePart>& parts,
                                   const std::stop_token& stop);

}  // namespace net
