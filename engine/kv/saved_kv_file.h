// Writes and reads one conversation's saved KV page by page. saved_kv_format.h says how the file is laid out.
#pragma once

#include "engine/files/private_file.h"
#include "engine/kv/saved_kv_format.h"
#include "engine/telemetry.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace engine {

/// Reads one file. Used by one thread.
class SavedKvReader
{
public:
    /// Opens a file and checks its beginning; the error says why it is of no use.
    static tl::expected<SavedKvReader, SavedKvMiss> open(const std::filesystem::path& path,
                                                         std::shared_ptr<const SavedKvFormat> format);

    int tokens() const { return tokens_; }
    int block_tokens() const { return format_->block_tokens(); }
    const SavedKvFormat& format() const { return *format_; }
    /// Returns the model's earlier answers; none where the file's end is missing.
    const SavedReplies& replies() const { return replies_; }

    /// Returns how many of the next page's tokens are the first of `ids`. 0: none, or there is no next page.
    int next_matches(std::span<const int> ids);
    /// Reads the next page into blocks (layers,), each of the first KV head. False: it is damaged; the blocks are as
    /// they were.
    bool read_page(std::span<std::byte* const> blocks);
    std::int64_t bytes_read() const { return bytes_read_; }  // of pages and states

    /// Counts the saved states of recurrent layers.
    int states() const { return states_; }
    /// Reads a state into `state` and returns after how many tokens it is the conversation's, where `ids` begin with
    /// the ids that it was saved with. 0: they do not, or it is damaged; what is in `state` then means nothing.
    int read_state(int number, std::span<const int> ids, std::span<std::byte> state);

private:
    SavedKvReader(PrivateFile file, std::shared_ptr<const SavedKvFormat> format, int tokens, int states);
    SavedReplies read_replies();
    int page_tokens(int page) const;
    bool read_ids(int page, std::vector<int>& ids) const;

    PrivateFile file_;
    std::shared_ptr<const SavedKvFormat> format_;
    int tokens_ = 0;
    int states_ = 0;
    SavedReplies replies_;
    std::int64_t bytes_read_ = 0;
    int page_ = 0;             // the next one
    std::uint64_t chain_ = 0;  // the checksum's chain before it
    std::vector<int> ids_;     // of it, when asked for
    std::vector<std::byte> record_;
};

/// A state of a model's recurrent layers, after this many tokens.
struct SavedState {
    int tokens = 0;
    std::span<const std::byte> bytes;
};

/// Writes one file, over an older one if need be. Used by one thread.
class SavedKvWriter
{
public:
    /// `ids`: of all tokens that the file will hold. CannotWrite.
    static Result<SavedKvWriter> open(const std::filesystem::path& path, std::shared_ptr<const SavedKvFormat> format,
                                      std::span<const int> ids);

    int next_page() const { return page_; }
    bool has_next() const { return page_ * format_->block_tokens() < int(ids_.size()); }
    std::int64_t bytes_written() const { return bytes_written_; }

    /// Writes page next_page(). blocks: (layers,) each of the first KV head. CannotWrite.
    Status write_page(std::span<const std::byte* const> blocks);
    /// Writes the next state of recurrent layers; call it after the last page, SavedKvFormat::kMostStates times at
    /// most. CannotWrite.
    Status write_state(const SavedState& state);
    /// Ends the file, after the pages and states, whose bytes are not needed any more. CannotWrite.
    Status finish(const SavedReplies& replies);
    /// Brings the file to the disk, in pieces; `goes_on` false ends that between two of them. CannotWrite.
    Status sync(const std::function<bool()>& goes_on);

private:
    SavedKvWriter(PrivateFile file, std::shared_ptr<const SavedKvFormat> format, std::span<const int> ids);
    void skip_same_pages();
    std::span<const int> page_ids(int page) const;
    Status write(std::uint64_t offset, std::span<const std::byte> bytes);
    Status write_header(int tokens, int states);

    PrivateFile file_;
    std::shared_ptr<const SavedKvFormat> format_;
    std::span<const int> ids_;
    int page_ = 0;
    std::uint64_t chain_ = 0;
    int states_ = 0;
    std::int64_t bytes_written_ = 0;
    std::vector<std::byte> record_;
};

}  // namespace engine
