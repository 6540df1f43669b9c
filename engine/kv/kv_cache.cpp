#include "engine/kv/kv_cache.h"

#include <cassert>
#include <cstring>
#include <new>

namespace engine {

static constexpr std::align_val_t kAlignment{64};

void KvCache::FreeAligned::operator()(std::byte* p) const
{
    ::operator delete[](p, kAlignment);
}

KvCache::KvCache(std::vector<KvLayerShape> layers, int block_tokens, int page_limit)
    : layers_(std::move(layers))
    , pool_(page_limit, block_tokens)
    , memory_(std::size_t(page_limit))
    , residency_(std::size_t(page_limit) * layers_.size(), Residency::Host)
{
    for (const KvLayerShape& layer : layers_) {
        layer_offset_.push_back(page_bytes_);
        page_bytes_ += (layer.bytes() + 63) / 64 * 64;
    }
}

Result<PageId> KvCache::take_page()
{
    const auto page = pool_.take();
    if (!page)
        return fail(Error::Code::ContextFull, "the KV cache is full");
    PageMemory& memory = memory_[std::size_t(*page)];
    if (!memory) {
        memory.reset(static_cast<std::byte*>(::operator new[](page_bytes_, kAlignment, std::nothrow)));
        if (!memory) {
            pool_.give_back(*page);
            return fail(Error::Code::NoMemory, "no memory is left for the KV cache");
        }
        // Attention reads whole groups of 16 keys; those not yet written must at least be numbers.
        std::memset(memory.get(), 0, page_bytes_);
    }
    return *page;
}

Status KvCache::reserve(KvSequence& sequence, int tokens)
{
    const auto old_pages = sequence.pages.size();
    const auto undo = [&] {
        while (sequence.pages.size() > old_pages) {
            pool_.give_back(sequence.pages.back());
            sequence.pages.pop_back();
        }
    };
    while (int(sequence.pages.size()) < pool_.pages_for(tokens)) {
        const auto page = take_page();
        if (!page) {
            undo();
            return tl::unexpected(page.error());
        }
        sequence.pages.push_back(*page);
    }
    // The page that holds the next token may be read by another sequence: write to a copy.
    const auto tail = std::size_t(sequence.length() / block_tokens());
    if (tail < old_pages && pool_.owners(sequence.pages[tail]) > 1) {
        const auto copy = take_page();
        if (!copy) {
            undo();
            return tl::unexpected(copy.error());
        }
        std::memcpy(memory_[std::size_t(*copy)].get(), memory_[std::size_t(sequence.pages[tail])].get(), page_bytes_);
        pool_.give_back(sequence.pages[tail]);
        sequence.pages[tail] = *copy;
    }
    return {};
}

void KvCache::truncate(KvSequence& sequence, int tokens)
{
    if (tokens < sequence.length())
        sequence.ids.resize(std::size_t(tokens));
    while (int(sequence.pages.size()) > pool_.pages_for(sequence.length())) {
        pool_.give_back(sequence.pages.back());
        sequence.pages.pop_back();
    }
}

KvSequence KvCache::branch(const KvSequence& from, int tokens)
{
    assert(tokens <= from.length());
    KvSequence to;
    to.ids.assign(from.ids.begin(), from.ids.begin() + tokens);
    to.pages.assign(from.pages.begin(), from.pages.begin() + pool_.pages_for(tokens));
    for (const PageId page : to.pages)
        pool_.share(page);
    return to;
}

std::byte* KvCache::block(PageId page, int l, int kv_head)
{
    return memory_[std::size_t(page)].get() + layer_offset_[std::size_t(l)] +
           std::size_t(kv_head) * layer(l).block.bytes();
}

const std::byte* KvCache::block(PageId page, int l, int kv_head) const
{
    return const_cast<KvCache*>(this)->block(page, l, kv_head);
}

}  // namespace engine
