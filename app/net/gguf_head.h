// Reads the header of a GGUF file that is still on a server, and says what the model is.
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

/// Bytes of the header that begins so; nothing: more of it has to be seen. BadAnswer: this is no GGUF file.
Result<std::optional<std::int64_t>> header_bytes(std::span<const std::byte> beginning);

struct RemotePart {
    std::string url;
    std::string token;
    std::string name;  // of the file
    std::int64_t bytes = 0;
};

/// Holds what a model is that has not been fetched yet.
struct RemoteModel {
    engine::ModelInfo info;  // as inspect_model() will say it, without a path
    std::filesystem::path
        header;  // what stands for its first file: sparse, of the full size, with nothing but its header
    std::shared_ptr<const void> kept;  // `header` is there as long as this
};

/// Looks at a model elsewhere. Only the headers of its files are fetched, into a temporary folder.
Result<RemoteModel> inspect_remote(HttpClient& client, const std::vector<RemotePart>& parts,
                                   const std::stop_token& stop);

}  // namespace net
