#include "engine/kv/saved_kv_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace engine {

namespace {

constexpr std::uint32_t kMostTokens = 1 << 24;      // as in a context
constexpr std::uint64_t kMostReplyBytes = 8 << 20;  // some two million tokens
// A slow disk takes a second or so for it.
constexpr std::uint64_t kSyncedAtOnce_bytes = 64 << 20;

std::optional<SavedKvHeader> read_header(const PrivateFile& file)
{
    SavedKvHeader header;
    if (!file.read(0, std::as_writable_bytes(std::span(&header, 1))))
        return {};
    return header;
}

SavedKvMiss compare(const std::optional<SavedKvHeader>& found, const SavedKvFormat& format)
{
    const SavedKvHeader ours = format.header(0, 0);
    if (!found || std::memcmp(found->mark, ours.mark, sizeof ours.mark) != 0)
        return SavedKvMiss::Damaged;
    const SavedKvOrigin& a = found->origin;
    const SavedKvOrigin& b = ours.origin;
    if (a.layout != b.layout)  // even the checksum may lie elsewhere
        return SavedKvMiss::OtherVersion;
    if (found->checksum != SavedKvFormat::header_checksum(*found) || found->tokens > kMostTokens ||
        found->states > std::uint32_t(SavedKvFormat::kMostStates))
        return SavedKvMiss::Damaged;
    if (a.engine != b.engine)
        return SavedKvMiss::OtherVersion;
    if (a.model != b.model)
        return SavedKvMiss::OtherModel;
    return std::memcmp(&a, &b, sizeof a) == 0 ? SavedKvMiss::None : SavedKvMiss::OtherFormat;
}

int common_prefix(std::span<const int> a, std::span<const int> b)
{
    return int(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool read_ids_at(const PrivateFile& file, const SavedKvFormat& format, int page, int tokens, std::vector<int>& ids)
{
    ids.resize(std::size_t(tokens));
    return file.read(format.record_at(page) + sizeof(std::uint64_t), std::as_writable_bytes(std::span(ids)));
}

}  // namespace

// ---- reading ----

tl::expected<SavedKvReader, SavedKvMiss> SavedKvReader::open(const std::filesystem::path& path,
                                                             std::shared_ptr<const SavedKvFormat> format)
{
    auto file = PrivateFile::open(path, PrivateFile::Access::Read);
    if (!file)
        return tl::unexpected(file.error().code == Error::Code::NotFound ? SavedKvMiss::NoFile : SavedKvMiss::Damaged);
    const auto header = read_header(*file);
    if (const SavedKvMiss miss = compare(header, *format); miss != SavedKvMiss::None)
        return tl::unexpected(miss);
    return SavedKvReader(std::move(*file), std::move(format), int(header->tokens), int(header->states));
}

SavedKvReader::SavedKvReader(PrivateFile file, std::shared_ptr<const SavedKvFormat> format, int tokens, int states)
    : file_(std::move(file))
    , format_(std::move(format))
    , tokens_(tokens)
    , states_(states)
    , chain_(format_->first_chain())
{
    replies_ = read_replies();
}

int SavedKvReader::page_tokens(int page) const
{
    return std::clamp(tokens_ - page * block_tokens(), 0, block_tokens());
}

/// Reads the answers, which count only with the ids before them: their chain is that of the whole file.
SavedReplies SavedKvReader::read_replies()
{
    const std::uint64_t at = format_->replies_at(tokens_, states_);
    if (file_.size() <= at || file_.size() - at > kMostReplyBytes)
        return {};
    std::uint64_t chain = chain_;
    for (int page = 0; page_tokens(page) > 0; ++page) {
        if (!read_ids_at(file_, *format_, page, page_tokens(page), ids_))
            return {};
        chain = SavedKvFormat::next_chain(chain, ids_);
    }
    std::vector<std::byte> bytes(std::size_t(file_.size() - at));
    return file_.read(at, bytes) ? unpack_replies(bytes, chain) : SavedReplies();
}

int SavedKvReader::next_matches(std::span<const int> ids)
{
    const int tokens = page_tokens(page_);
    if (tokens == 0 || !read_ids_at(file_, *format_, page_, tokens, ids_))
        return 0;
    return common_prefix(ids_, ids);
}

bool SavedKvReader::read_page(std::span<std::byte* const> blocks)
{
    const int tokens = page_tokens(page_);
    if (tokens == 0)
        return false;
    record_.resize(format_->record_bytes(tokens));
    if (!file_.read(format_->record_at(page_), record_) || !format_->unpack(record_, tokens, chain_, blocks))
        return false;
    bytes_read_ += std::int64_t(record_.size());
    ids_.resize(std::size_t(tokens));
    std::memcpy(ids_.data(), SavedKvFormat::ids_of(record_, tokens).data(), ids_.size() * sizeof(int));
    chain_ = SavedKvFormat::next_chain(chain_, ids_);
    ++page_;
    return true;
}

int SavedKvReader::read_state(int number, std::span<const int> ids, std::span<std::byte> state)
{
    SavedKvFormat::StateMark mark;
    const std::uint64_t at = format_->state_at(tokens_, number);
    if (state.size() != format_->state_bytes() || !file_.read(at, std::as_writable_bytes(std::span(&mark, 1))) ||
        mark.tokens == 0 || mark.tokens > ids.size() || !file_.read(at + sizeof mark, state))
        return 0;
    if (mark.checksum != format_->mark_of(ids.first(mark.tokens), state).checksum)
        return 0;
    bytes_read_ += std::int64_t(state.size());
    return int(mark.tokens);
}

// ---- writing ----

Result<SavedKvWriter> SavedKvWriter::open(const std::filesystem::path& path,
                                          std::shared_ptr<const SavedKvFormat> format, std::span<const int> ids)
{
    auto file = PrivateFile::open(path, PrivateFile::Access::Write);
    if (!file)
        return tl::unexpected(file.error());
    SavedKvWriter writer(std::move(*file), std::move(format), ids);
    writer.skip_same_pages();
    if (Status ok = writer.write_header(writer.page_ * writer.format_->block_tokens(), 0); !ok)
        return tl::unexpected(ok.error());
    return writer;
}

SavedKvWriter::SavedKvWriter(PrivateFile file, std::shared_ptr<const SavedKvFormat> format, std::span<const int> ids)
    : file_(std::move(file))
    , format_(std::move(format))
    , ids_(ids)
    , chain_(format_->first_chain())
{
}

std::span<const int> SavedKvWriter::page_ids(int page) const
{
    const auto first = std::size_t(page) * std::size_t(format_->block_tokens());
    return ids_.subspan(first, std::min(std::size_t(format_->block_tokens()), ids_.size() - first));
}

/// Skips full pages of an older file that hold the same tokens. Should one of them be damaged, its reader finds out.
void SavedKvWriter::skip_same_pages()
{
    const auto header = read_header(file_);
    if (compare(header, *format_) != SavedKvMiss::None)
        return;
    const int block = format_->block_tokens();
    const int most = std::min(int(header->tokens), int(ids_.size())) / block;
    std::vector<int> there;
    while (page_ < most && read_ids_at(file_, *format_, page_, block, there) &&
           std::ranges::equal(there, page_ids(page_))) {
        chain_ = SavedKvFormat::next_chain(chain_, there);
        ++page_;
    }
}

Status SavedKvWriter::write(std::uint64_t offset, std::span<const std::byte> bytes)
{
    bytes_written_ += std::int64_t(bytes.size());
    return file_.write(offset, bytes);
}

Status SavedKvWriter::write_header(int tokens, int states)
{
    const SavedKvHeader header = format_->header(tokens, states);
    return write(0, std::as_bytes(std::span(&header, 1)));
}

Status SavedKvWriter::write_page(std::span<const std::byte* const> blocks)
{
    const auto ids = page_ids(page_);
    format_->pack(ids, blocks, chain_, record_);
    if (Status ok = write(format_->record_at(page_), record_); !ok)
        return ok;
    chain_ = SavedKvFormat::next_chain(chain_, ids);
    const int tokens = page_ * format_->block_tokens() + int(ids.size());
    ++page_;
    return write_header(tokens, 0);
}

Status SavedKvWriter::write_state(const SavedState& state)
{
    const auto mark = format_->mark_of(ids_.first(std::size_t(state.tokens)), state.bytes);
    const std::uint64_t at = format_->state_at(int(ids_.size()), states_);
    if (Status ok = write(at, std::as_bytes(std::span(&mark, 1))); !ok)
        return ok;
    if (Status ok = write(at + sizeof mark, state.bytes); !ok)
        return ok;
    ++states_;
    return {};
}

Status SavedKvWriter::finish(const SavedReplies& replies)
{
    const int tokens = int(ids_.size());
    if (states_ > 0)
        if (Status ok = write_header(tokens, states_); !ok)
            return ok;
    const auto bytes = pack_replies(replies, chain_);
    const std::uint64_t at = format_->replies_at(tokens, states_);
    if (Status ok = write(at, bytes); !ok)
        return ok;
    return file_.cut(at + bytes.size());
}

Status SavedKvWriter::sync(const std::function<bool()>& goes_on)
{
    for (std::uint64_t at = 0; at < file_.size() && goes_on(); at += kSyncedAtOnce_bytes)
        if (Status ok = file_.sync_part(at, kSyncedAtOnce_bytes); !ok)
            return ok;
    return goes_on() ? file_.sync() : Status();
}

}  // namespace engine
