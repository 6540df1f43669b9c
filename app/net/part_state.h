// PartState says which bytes of a file have come, so that fetching can go on after the program has ended.
#pragma once

#include "app/net/byte_ranges.h"
#include "app/net/failure.h"

#include <filesystem>
#include <optional>
#include <string>

namespace net {

/// Says of which file a part is, and which of that file's bytes are on the disk.
struct PartState {
    std::int64_t bytes = 0;  // of the whole file
    std::string sha256;      // empty: not known
    std::string validator;   // ETag or Last-Modified of the server; empty: there was none
    ByteRanges done;
};

/// Return the paths of the part that becomes `target`, and of its state. They do not end in ".incomplete": other
/// programs that use the Hugging Face cache would take such a file, and bytes that have not come, for their own.
std::filesystem::path part_path(const std::filesystem::path& target);
std::filesystem::path state_path(const std::filesystem::path& target);

/// Reads a state. Nothing: there is none, or it is damaged; then the file is fetched from its beginning.
std::optional<PartState> read_part_state(const std::filesystem::path& file);
/// Writes a state in one step: at any moment either the old or the new one is on the disk.
Status write_part_state(const std::filesystem::path& file, const PartState& state);

}  // namespace net
