// Reads the header of a GGUF file that is still on a server, and says what the model is.
#pragma once

#include "app/net/http_client.h"

#include "engine/model_info.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace net {

/// Bytes of the header that begins so; nothing: more of it has to be seen. BadAnswer: this is no GGUF file.
Result<std::optional<std::int64_t>> header_bytes(std::span<const std::byte> beginning);

struct RemotePart {
    std::string url;
    std::string token;
    std::string name;  // of the file
    std::int64_t bytes = 0;
};

/// What inspect_model() will say of files that are not fetched yet. Only their headers are fetched, into sparse files
/// of the full size in a temporary folder, which is gone afterwards.
Result<engine::ModelInfo> inspect_remote(HttpClient& client, const std::vector<RemotePart>& parts,
                                         const std::stop_token& stop);

}  // namespace net
