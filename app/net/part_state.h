// PartState says what of a file is there already, so that fetching goes on after the program has ended.
#pragma once

#include "app/net/byte_ranges.h"
#include "app/net/failure.h"

#include <filesystem>
#include <optional>
#include <string>

namespace net {

/// Holds what a part is of, and which bytes of that file are on the disk.
struct PartState {
    std::int64_t bytes = 0;  // of the whole file
    std::string sha256;      // empty: nobody has said
    std::string validator;   // ETag or Last-Modified of the server; empty: there was none
    ByteRanges done;
};

/// Return where a file that becomes `target` is kept meanwhile, and what is known of it. Not ".incomplete": other
/// programs that use the Hugging Face cache would take such a file for theirs, and its size for what they have.
std::filesystem::path part_path(const std::filesystem::path& target);
std::filesystem::path state_path(const std::filesystem::path& target);

/// Reads a state. Nothing where there is none, or none that makes sense: then the file is fetched from its beginning.
std::optional<PartState> read_part_state(const std::filesystem::path& file);
/// Writes a state in one step: the old one is there until the new one is.
Status write_part_state(const std::filesystem::path& file, const PartState& state);

}  // namespace net
