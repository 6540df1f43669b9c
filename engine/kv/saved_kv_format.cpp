#include "engine/kv/saved_kv_format.h"

#include "engine/files/checksum.h"

#include <bit>
#include <cassert>
#include <cstring>

namespace engine {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr char kMark[8] = {'S', 'P', 'I', 'L', 'L', 'K', 'V', '\n'};
constexpr std::size_t kIdsAt = sizeof(std::uint64_t);  // in a record
constexpr std::size_t kReplyWordsAt = sizeof(std::uint64_t) + sizeof(std::uint32_t);

int stored_heads(const KvLayerShape& layer)
{
    return layer.has_kv() ? layer.kv_heads : 0;
}

/// Returns the length of the values that are stored beside the keys. With latent attention it is 0, since values are a
/// part of the keys; files of versions that kept values there, too, have another number.
int stored_values(const kernels::KvBlockLayout& block)
{
    return block.values_in_keys ? 0 : block.v_dim;
}

std::uint64_t shape_of(std::span<const KvLayerShape> layers, std::size_t state_bytes)
{
    std::vector<std::uint32_t> numbers;
    for (const KvLayerShape& layer : layers)
        for (const int number : {stored_heads(layer), layer.block.k_dim, stored_values(layer.block), layer.window})
            numbers.push_back(std::uint32_t(number));
    if (state_bytes > 0)
        numbers.push_back(std::uint32_t(state_bytes));
    return checksum(std::as_bytes(std::span(numbers)));
}

}  // namespace

SavedKvFormat::SavedKvFormat(std::uint64_t model, std::span<const KvLayerShape> layers, std::size_t state_bytes)
    : layers_(layers.begin(), layers.end())
    , state_bytes_(state_bytes)
{
    const kernels::KvBlockLayout& block = layers_.front().block;
    origin_.model = model;
    origin_.k_type = std::uint32_t(block.k_type);
    origin_.v_type = std::uint32_t(block.v_type);
    origin_.block_tokens = std::uint32_t(block.tokens);
    origin_.layers = std::uint32_t(layers_.size());
    origin_.shape = shape_of(layers_, state_bytes);
}

int SavedKvFormat::rows(int tokens)
{
    return (tokens + kernels::kKvGroupTokens - 1) / kernels::kKvGroupTokens * kernels::kKvGroupTokens;
}

std::size_t SavedKvFormat::record_bytes(int tokens) const
{
    const int n = rows(tokens);
    std::size_t bytes = kIdsAt + std::size_t(n) * sizeof(std::int32_t);
    for (const KvLayerShape& layer : layers_) {
        kernels::KvBlockLayout short_block = layer.block;
        short_block.tokens = n;
        bytes += std::size_t(stored_heads(layer)) * short_block.bytes();
    }
    return bytes;
}

std::uint64_t SavedKvFormat::record_at(int block) const
{
    return sizeof(SavedKvHeader) + std::uint64_t(block) * record_bytes(block_tokens());
}

std::uint64_t SavedKvFormat::state_at(int tokens, int state) const
{
    const int tail = tokens % block_tokens();
    return record_at(tokens / block_tokens()) + (tail > 0 ? record_bytes(tail) : 0) +
           std::uint64_t(state) * (sizeof(StateMark) + state_bytes_);
}

SavedKvFormat::StateMark SavedKvFormat::mark_of(std::span<const int> ids, std::span<const std::byte> state) const
{
    const std::uint64_t chain = next_chain(first_chain(), ids);
    return {checksum(state, chain + ids.size()), std::uint32_t(ids.size()), 0};
}

SavedKvHeader SavedKvFormat::header(int tokens, int states) const
{
    SavedKvHeader header;
    std::memcpy(header.mark, kMark, sizeof kMark);
    header.origin = origin_;
    header.tokens = std::uint32_t(tokens);
    header.states = std::uint32_t(states);
    header.checksum = header_checksum(header);
    return header;
}

std::uint64_t SavedKvFormat::header_checksum(const SavedKvHeader& header)
{
    return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(SavedKvHeader, checksum)));
}

std::uint64_t SavedKvFormat::first_chain() const
{
    return checksum(std::as_bytes(std::span(&origin_, 1)));
}

std::uint64_t SavedKvFormat::next_chain(std::uint64_t chain, std::span<const int> ids)
{
    return checksum(std::as_bytes(ids), chain);
}

/// Calls move(layer, offset in its block, bytes) for each run of bytes that belongs to the first `rows` tokens of a
/// block.
template <class Move>
void SavedKvFormat::each_part(int rows, const Move& move) const
{
    for (int l = 0; l < num_layers(); ++l) {
        const KvLayerShape& layer = layers_[std::size_t(l)];
        const kernels::KvBlockLayout& block = layer.block;
        kernels::KvBlockLayout part = block;
        part.tokens = rows;
        for (int head = 0; head < stored_heads(layer); ++head) {
            const std::size_t at = std::size_t(head) * block.bytes();
            move(l, at, part.k_scales_offset());
            move(l, at + block.k_scales_offset(), part.k_bytes() - part.k_scales_offset());
            if (block.values_in_keys)
                continue;
            move(l, at + block.v_offset(), part.v_scales_offset() - part.v_offset());
            move(l, at + block.v_scales_offset(), part.bytes() - part.v_scales_offset());
        }
    }
}

void SavedKvFormat::pack(std::span<const int> ids, std::span<const std::byte* const> blocks, std::uint64_t chain,
                         std::vector<std::byte>& record) const
{
    assert(!ids.empty() && int(ids.size()) <= block_tokens() && int(blocks.size()) == num_layers());
    const int n = rows(int(ids.size()));
    record.resize(record_bytes(int(ids.size())));
    std::byte* to = record.data() + kIdsAt;
    std::memset(to, 0, std::size_t(n) * sizeof(std::int32_t));
    std::memcpy(to, ids.data(), ids.size_bytes());
    to += std::size_t(n) * sizeof(std::int32_t);
    each_part(n, [&](int l, std::size_t offset, std::size_t bytes) {
        std::memcpy(to, blocks[std::size_t(l)] + offset, bytes);
        to += bytes;
    });
    const std::uint64_t sum = checksum(std::span(record).subspan(kIdsAt), chain + ids.size());
    std::memcpy(record.data(), &sum, sizeof sum);
}

std::span<const std::byte> SavedKvFormat::ids_of(std::span<const std::byte> record, int tokens)
{
    return record.subspan(kIdsAt, std::size_t(tokens) * sizeof(std::int32_t));
}

bool SavedKvFormat::unpack(std::span<const std::byte> record, int tokens, std::uint64_t chain,
                           std::span<std::byte* const> blocks) const
{
    std::uint64_t sum = 0;
    std::memcpy(&sum, record.data(), sizeof sum);
    if (record.size() != record_bytes(tokens) || sum != checksum(record.subspan(kIdsAt), chain + std::uint64_t(tokens)))
        return false;
    const int n = rows(tokens);
    const std::byte* from = record.data() + kIdsAt + std::size_t(n) * sizeof(std::int32_t);
    each_part(n, [&](int l, std::size_t offset, std::size_t bytes) {
        std::memcpy(blocks[std::size_t(l)] + offset, from, bytes);
        from += bytes;
    });
    return true;
}

std::vector<std::byte> pack_replies(const SavedReplies& replies, std::uint64_t chain)
{
    std::vector<std::uint32_t> words;
    for (const std::vector<int>& ids : replies) {
        words.push_back(std::uint32_t(ids.size()));
        words.insert(words.end(), ids.begin(), ids.end());
    }
    const auto count = std::uint32_t(words.size());
    std::vector<std::byte> bytes(kReplyWordsAt + words.size() * sizeof(std::uint32_t));
    std::memcpy(bytes.data() + sizeof(std::uint64_t), &count, sizeof count);
    if (!words.empty())
        std::memcpy(bytes.data() + kReplyWordsAt, words.data(), words.size() * sizeof(std::uint32_t));
    const std::uint64_t sum = checksum(std::span(bytes).subspan(sizeof sum), chain);
    std::memcpy(bytes.data(), &sum, sizeof sum);
    return bytes;
}

SavedReplies unpack_replies(std::span<const std::byte> bytes, std::uint64_t chain)
{
    std::uint64_t sum = 0;
    std::uint32_t count = 0;
    if (bytes.size() < kReplyWordsAt)
        return {};
    std::memcpy(&sum, bytes.data(), sizeof sum);
    std::memcpy(&count, bytes.data() + sizeof sum, sizeof count);
    bytes = bytes.subspan(sizeof sum);
    const std::size_t words_bytes = std::size_t(count) * sizeof(std::uint32_t);
    if (bytes.size() != sizeof count + words_bytes || sum != checksum(bytes, chain))
        return {};
    std::vector<std::uint32_t> words(count);
    if (count > 0)
        std::memcpy(words.data(), bytes.data() + sizeof count, words_bytes);
    SavedReplies replies;
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t length = words[at++];
        if (length == 0 || length > words.size() - at)
            return {};
        const auto first = words.begin() + std::ptrdiff_t(at);
        replies.emplace_back(first, first + std::ptrdiff_t(length));
        at += length;
    }
    return replies;
}

}  // namespace engine
