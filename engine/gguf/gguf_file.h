// GgufFile opens a GGUF model file with all its parts and gives its metadata and named tensors. All checks of the
// format are made here: whoever comes after may trust sizes and ranges, but not contents.
#pragma once

#include "engine/files/mapped_file.h"
#include "engine/gguf/metadata.h"
#include "engine/result.h"
#include "kernels/types.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct GgufTensor {
    std::string name;
    std::array<std::int64_t, 4> dims = {1, 1, 1, 1};  // length of a row first; unused ones are 1, none is 0
    int num_dims = 0;
    kernels::TensorType type = {};     // as in the file; one we cannot compute with where can_compute() is false
    std::span<const std::byte> bytes;  // in the mapped file; empty where even the size of the type is not known
    int file = 0;                      // which part of a split model

    std::int64_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }  // cannot overflow: checked
    bool can_compute() const { return kernels::type_traits(static_cast<std::uint32_t>(type)) != nullptr; }
    std::string type_name() const;  // "Q4_K"; "type 99" where the id is new to us
    bool of_encoder() const;    // it reads pictures or sounds; some converters leave such tensors in the model's file
    bool of_loose_mtp() const;  // it predicts tokens ahead, and the converter has left it outside of blocks
    int block() const;          // 12 of "blk.12.attn_q.weight"; -1: it belongs to none
};

/// Owns the mapped parts; strings and tensor bytes are views into them and live as long as this does (moving it is
/// fine). Any thread may ask.
class GgufFile
{
public:
    /// Opens the file and, of a split model (NAME-00001-of-0000N.gguf), all other parts, whichever was named. Cancelled
    /// where that was stopped.
    static Result<GgufFile> open(const std::filesystem::path& path, const std::stop_token& stop = {});

    // These return metadata of the first part; nothing where the key is missing or holds another kind of value.
    std::optional<std::string_view> string(std::string_view key) const { return metadata_.string(key); }
    std::optional<std::int64_t> integer(std::string_view key) const { return metadata_.integer(key); }
    std::optional<double> number(std::string_view key) const { return metadata_.number(key); }
    std::optional<bool> boolean(std::string_view key) const { return metadata_.boolean(key); }
    std::optional<std::vector<std::string_view>> strings(std::string_view key) const { return metadata_.strings(key); }
    std::optional<std::vector<float>> floats(std::string_view key) const { return metadata_.floats(key); }
    std::optional<std::vector<std::int64_t>> integers(std::string_view key,
                                                      std::uint64_t most = kMaxArrayElements) const
    {
        return metadata_.integers(key, most);
    }
    std::optional<std::vector<bool>> booleans(std::string_view key, std::uint64_t most) const
    {
        return metadata_.booleans(key, most);
    }
    std::optional<std::uint64_t> array_length(std::string_view key) const { return metadata_.array_length(key); }
    std::vector<Metadata::Printed> printed_metadata() const { return metadata_.printed(); }

    const GgufTensor* tensor(std::string_view name) const;  // null: there is none
    std::span<const GgufTensor> tensors() const { return tensors_; }
    /// Returns the factor for all of these weights, which NVFP4's NAME.weight may have beside them as NAME.scale; null:
    /// there is none.
    const GgufTensor* scale_of(const GgufTensor& weights) const;

    std::uint64_t file_bytes() const;  // of all parts
    /// Returns a number that tells this model from others, wherever its files lie: it is computed over all metadata,
    /// the list of tensors, and samples of each tensor. Reads little of a large file.
    std::uint64_t fingerprint() const;
    const std::vector<std::filesystem::path>& paths() const { return paths_; }

    /// Fails with a sentence once a read found that a part had been cut off or could not be read any more (zeros were
    /// read in its place). Ask after each step that read weights from here, before its result is believed.
    Status still_whole() const;

    /// Gives back the RAM of mapped bytes (a tensor's, or part of them), for instance after they were repacked.
    void release_pages(std::span<const std::byte> bytes) const;
    /// Asks for mapped bytes to be read ahead.
    void prefetch_pages(std::span<const std::byte> bytes) const;

private:
    GgufFile() = default;
    Status add_part(const std::filesystem::path& path, MappedFile file, Metadata metadata, ByteReader reader,
                    std::uint64_t tensor_count, HeaderLimits& limits);
    Status add_other_parts(std::int64_t part_count, HeaderLimits& limits);
    Status index_tensors();
    const MappedFile* part_of(std::span<const std::byte> bytes) const;

    Metadata metadata_;  // of the first part
    std::vector<MappedFile> parts_;
    std::vector<std::filesystem::path> paths_;
    std::vector<GgufTensor> tensors_;     // in the order of parts and of each part's list
    std::vector<std::uint32_t> by_name_;  // indices into tensors_, sorted: a hostile file cannot make names collide
};

}  // namespace engine
