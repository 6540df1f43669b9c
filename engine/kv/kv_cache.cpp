#include "engine/kv/kv_cache.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace engine {

bool KvBlocks::next()
{
    if (stream_ && run_last_ > run_first_)
        stream_->release();
    run_first_ = run_last_;
    for (; run_last_ < last_; ++run_last_) {
        if (!stream_ || !stream_->next_is(layer_, run_last_))
            continue;
        // What is there already is attended while the rest is on its way.
        if (!stream_->may_take() || (run_last_ > run_first_ && !stream_->ready()))
            break;
        pointers_[std::size_t(run_last_)] = stream_->take();
    }
    if (stream_)
        stream_->wait_for_taken();
    return run_last_ > run_first_;
}

KvCache::KvCache(std::vector<KvLayerShape> layers, int block_tokens, int page_limit, RecurrentStates states)
    : states_(std::move(states))
    , layers_(std::move(layers))
    , pool_(page_limit, block_tokens)
    , memory_(std::size_t(page_limit))
    , damaged_(std::size_t(page_limit), false)
    , opened_(std::size_t(page_limit))
{
    lay_out_page();
    states_.ask_before_memory([this](std::size_t bytes) { return find_room(bytes); });
}

void KvCache::lay_out_page()
{
    layer_offset_.clear();
    page_bytes_ = 0;
    for (const KvLayerShape& layer : layers_) {
        layer_offset_.push_back(layer.source < 0 ? page_bytes_ : layer_offset_[std::size_t(layer.source)]);
        page_bytes_ += (layer.bytes() + 63) / 64 * 64;
    }
}

void KvCache::limit_memory(const KvMemoryLimit& limit)
{
    ask_for_limit([limit] { return limit; });
}

/// Returns the limit, but not less than what is promised.
std::int64_t KvCache::most_bytes() const
{
    const KvMemoryLimit limit = memory_limit();
    return std::max(limit.bytes,
                    limit.pages * std::int64_t(page_bytes_) + limit.states * std::int64_t(states_.bytes()));
}

/// Returns the bytes that pages and states have, and this many more.
std::int64_t KvCache::bytes_with(std::size_t more) const
{
    return allocated_bytes_ + states_.allocated_bytes() + std::int64_t(more);
}

/// Says whether this many bytes more are within the limit; if need be, frees the memory of unused pages and states. No
/// copy may be on its way from or to that.
bool KvCache::find_room(std::size_t bytes)
{
    const std::int64_t most = most_bytes();
    if (bytes_with(bytes) <= most)
        return true;
    if (stream_)
        stream_->clear();
    if (device_)
        (void)device_->vram().device().finish_work();  // a device that is lost copies nothing more
    for (PageId page = 0; page < page_limit() && bytes_with(bytes) > most; ++page)
        if (owners(page) == 0)
            release(std::move(memory_[std::size_t(page)]), page_bytes_);
    while (bytes_with(bytes) > most && states_.give_up_free()) {
    }
    return bytes_with(bytes) <= most;
}

/// Allocates a page, all zero: attention reads whole groups of 16 keys, and those not yet written must at least be
/// numbers. Null where the system has no memory.
HugeArray KvCache::new_memory()
{
    try {
        HugeArray memory(page_bytes_);
        if (device_)
            device_->vram().device().pin(memory.data(), page_bytes_);
        allocated_bytes_ += std::int64_t(page_bytes_);
        return memory;
    } catch (const std::bad_alloc&) {
        return {};
    }
}

void KvCache::release(HugeArray memory, std::size_t bytes)
{
    if (!memory)
        return;
    allocated_bytes_ -= std::int64_t(bytes);
    if (device_)
        device_->vram().device().unpin(memory.data(), bytes);
}

Result<PageId> KvCache::take_page()
{
    const auto page = pool_.take();
    if (!page)
        return fail(Error::Code::ContextFull, "the KV cache is full");
    HugeArray& memory = memory_[std::size_t(*page)];
    if (!memory && find_room(page_bytes_))
        memory = new_memory();
    if (!memory) {
        pool_.give_back(*page);
        return fail(Error::Code::NoMemory, "no memory is left for the KV cache");
    }
    return *page;
}

void KvCache::give_back(PageId page)
{
    pool_.give_back(page);
    if (pool_.owners(page) > 0)
        return;
    damaged_[std::size_t(page)] = false;
    for (int l = 0; device_ && l < num_layers(); ++l)
        device_->drop(page, l);
}

int KvCache::intact_tokens(const KvSequence& sequence) const
{
    int tokens = sequence.length();
    for (int b = int(sequence.pages.size()) - 1; b >= 0; --b)
        if (damaged_[std::size_t(sequence.pages[std::size_t(b)])])
            tokens = std::min(tokens, b * block_tokens());
    return states_.reachable(sequence, tokens);
}

Status KvCache::wait_mirrored(PageId page)
{
    for (int l = 0; device_ && l < num_layers(); ++l)
        if (Status ok = device_->wait_mirrored(page, l); !ok)
            return ok;
    return {};
}

Status KvCache::wait_mirrored(const KvSequence& sequence)
{
    for (const PageId page : sequence.pages)
        if (Status ok = wait_mirrored(page); !ok)
            return ok;
    return {};
}

void KvCache::bring_home(const KvSequence& sequence, int l, int first, int count)
{
    if (status_)
        status_ = device_->vram().device().copy_after_compute(Device::Direction::ToHost);
    const int tokens = block_tokens(), last = first + count;
    for (int b = first / tokens; b * tokens < last && status_; ++b) {
        const PageId page = sequence.pages[std::size_t(b)];
        status_ = device_->mirror(page, l, host_block(page, l), std::max(first - b * tokens, 0),
                                  std::min(last - b * tokens, tokens));
    }
    for (int b = layer(l).first_block(first); b * tokens < last && status_; ++b)
        status_ = device_->wait_mirrored(sequence.pages[std::size_t(b)], l);
}

/// The copy lies on the host; a device layer fetches its block when it writes there.
Status KvCache::copy_page(PageId from, PageId to)
{
    if (Status ok = wait_mirrored(from); !ok)
        return ok;
    std::memcpy(memory_[std::size_t(to)].data(), memory_[std::size_t(from)].data(), page_bytes_);
    return {};
}

bool KvCache::has_pages_for(const KvSequence& sequence, int tokens) const
{
    const auto tail = std::size_t(sequence.length() / block_tokens());
    const bool copies = tail < sequence.pages.size() && owners(sequence.pages[tail]) > 1;
    return pool_.pages_for(tokens) - int(sequence.pages.size()) + int(copies) <= pool_.free_pages();
}

Status KvCache::reserve(KvSequence& sequence, int tokens)
{
    const auto old_pages = sequence.pages.size();
    const auto undo = [&] {
        while (sequence.pages.size() > old_pages) {
            give_back(sequence.pages.back());
            sequence.pages.pop_back();
        }
    };
    sequence.pages.reserve(std::size_t(pool_.pages_for(tokens)));  // storing a page that was taken cannot fail then
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
        if (Status copied = copy_page(sequence.pages[tail], *copy); !copied) {
            give_back(*copy);
            undo();
            return copied;
        }
        give_back(sequence.pages[tail]);
        sequence.pages[tail] = *copy;
    }
    if (Status ok = states_.prepare(sequence); !ok) {
        undo();
        return ok;
    }
    make_ahead(int(sequence.pages.size() - old_pages));  // the next step may take as many
    return {};
}

void KvCache::make_ahead(int pages)
{
    if (!device_ || !device_->vram().device().locks_pages())
        return;
    const std::int64_t most = most_bytes();
    for (int i = 0; i < pages; ++i)
        if (const auto page = pool_.free_page(i);
            page && !memory_[std::size_t(*page)] && bytes_with(page_bytes_) <= most)
            memory_[std::size_t(*page)] = new_memory();
}

int KvCache::truncate(KvSequence& sequence, int tokens)
{
    sequence.lost.clear();
    cut_kv(sequence, states_.cut(sequence, tokens));
    return sequence.length();
}

void KvCache::cut_kv(KvSequence& sequence, int tokens)
{
    if (tokens < sequence.length())
        sequence.ids.resize(std::size_t(tokens));
    while (int(sequence.pages.size()) > pool_.pages_for(sequence.length())) {
        give_back(sequence.pages.back());
        sequence.pages.pop_back();
    }
}

KvSequence KvCache::branch(const KvSequence& from, int tokens)
{
    assert(tokens <= from.length());
    KvSequence to;
    to.ids.assign(from.ids.begin(), from.ids.begin() + tokens);
    to.pages.assign(from.pages.begin(), from.pages.begin() + pool_.pages_for(tokens));
    // Nothing is shared before all memory is taken: what throws in between loses no state.
    tokens = states_.branch(from, tokens, to);
    to.ids.resize(std::size_t(tokens));
    to.pages.resize(std::size_t(pool_.pages_for(tokens)));
    for (const PageId page : to.pages)
        pool_.share(page);
    return to;
}

std::byte* KvCache::host_block(PageId page, int l) const
{
    return memory_[std::size_t(page)].data() + layer_offset_[std::size_t(l)];
}

std::byte* KvCache::block(PageId page, int l, LayerOn on, int kv_head)
{
    std::byte* const device = on == LayerOn::Device ? device_block(page, l) : nullptr;
    return (device ? device : host_block(page, l)) + std::size_t(kv_head) * layer(l).block.bytes();
}

KvBlocks KvCache::open(const KvSequence& sequence, int l, LayerOn on, int first, int last) const
{
    int on_host = 0;
    for (int b = first; b < last; ++b) {
        const PageId page = sequence.pages[std::size_t(b)];
        const std::byte* const device = on == LayerOn::Device ? device_block(page, l) : nullptr;
        opened_[std::size_t(b)] = device ? device : host_block(page, l);
        on_host += device ? 0 : 1;
    }
    return {stream_, opened_, l, first, last, on_host};
}

KvBlocks KvCache::open_host(const KvSequence& sequence, int l, int first, int last) const
{
    for (int b = first; b < last; ++b) {
        const PageId page = sequence.pages[std::size_t(b)];
        opened_[std::size_t(b)] = device_block(page, l) ? nullptr : host_block(page, l);
    }
    if (stream_)
        for (const KvStream::Block& block : stream_->blocks_of(l))
            if (block.number >= first && block.number < last)
                opened_[std::size_t(block.number)] = nullptr;
    return {nullptr, opened_, l, first, last, last - first};
}

Residency KvCache::residency(PageId page, int l) const
{
    return device_ ? device_->residency(page, source(l)) : Residency::Host;
}

void KvCache::set_types(kernels::KvType k_type, kernels::KvType v_type, const Rewrite& rewrite)
{
    const std::vector<KvLayerShape> old_layers = layers_;
    const std::vector<std::size_t> old_offset = layer_offset_;
    const std::size_t old_bytes = page_bytes_;
    for (KvLayerShape& layer : layers_)
        layer.block.set_types(k_type, v_type);
    lay_out_page();
    for (PageId page = 0; page < page_limit(); ++page)
        if (owners(page) == 0)
            release(std::move(memory_[std::size_t(page)]), old_bytes);
    for (PageId page = 0; page < page_limit(); ++page) {
        HugeArray old = std::move(memory_[std::size_t(page)]);
        if (old) {
            memory_[std::size_t(page)] = new_memory();
            if (!memory_[std::size_t(page)])
                mark_damaged(page);
            for (std::size_t l = 0; l < layers_.size() && memory_[std::size_t(page)]; ++l)
                if (layers_[l].has_kv())
                    rewrite(old_layers[l], old.data() + old_offset[l], layers_[l], host_block(page, int(l)));
        }
        release(std::move(old), old_bytes);
    }
}

void KvCache::set_device(DeviceKv* device, KvStream* stream, DeviceStates* states)
{
    states_.set_device(states);
    device_ = device;
    stream_ = stream;
    status_ = {};  // of the device that goes
    for (std::size_t page = 0; device_ && page < memory_.size(); ++page)
        if (memory_[page])  // of conversations that another device held, or none
            device_->vram().device().pin(memory_[page].data(), page_bytes_);
}

}  // namespace engine
