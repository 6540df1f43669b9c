#include "engine/kv/kv_slabs.h"

#include <algorithm>
#include <new>
#include <system_error>

namespace engine {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLargestSlab = std::size_t(64) << 20;
constexpr std::size_t kMostComing = 16;
// The pause before the device is asked again when it had none: other programs do not give memory back at once.
constexpr std::chrono::seconds kPause{1};

}  // namespace

KvSlabs::KvSlabs(Vram& vram, std::size_t slab_bytes)
    : vram_(vram)
    , slab_bytes_(slab_bytes)
{
    arrived_.reserve(kMostComing);
}

KvSlabs::~KvSlabs()
{
    settle();
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    asked_.notify_one();
    if (thread_.joinable())
        thread_.join();
    give_up(0);
}

std::size_t KvSlabs::slab_bytes_for(const Vram& vram)
{
    const std::int64_t budget = vram.budget(), above = budget - vram.high_mark();
    const auto bytes =
        std::min(kLargestSlab, std::size_t(std::min(budget / 100, std::max(above / 2, budget / 400)))) + 1;
    const std::size_t granularity = vram.device().granularity();
    return bytes < granularity ? bytes : bytes / granularity * granularity;
}

std::size_t KvSlabs::rounded(std::size_t bytes) const
{
    return has_slabs() ? (bytes + kAlignment - 1) / kAlignment * kAlignment : bytes;
}

void KvSlabs::count(std::size_t block_bytes, int sign)
{
    vram_.count(Vram::Use::Kv, sign * std::int64_t(block_bytes));
    vram_.count(Vram::Use::KvAhead, -sign * std::int64_t(block_bytes));
}

/// Returns the size of a slab: whole blocks, and whole pieces of what the driver gives, with as little left over as can
/// be.
std::size_t KvSlabs::size_for(std::size_t block_bytes) const
{
    const std::size_t most = std::max(slab_bytes_ / block_bytes, std::size_t(1));
    const std::size_t granularity = slab_bytes_ < vram_.device().granularity() ? 1 : vram_.device().granularity();
    const auto rounded_size = [&](std::size_t blocks) {
        return (blocks * block_bytes + granularity - 1) / granularity * granularity;
    };
    std::size_t best = most;
    for (std::size_t blocks = most; 2 * blocks > most && granularity > 1; --blocks)
        if (rounded_size(blocks) * best < rounded_size(best) * blocks)
            best = blocks;
    return rounded_size(best);
}

DevicePtr KvSlabs::take_other(std::size_t bytes, std::size_t owner)
{
    const DevicePtr place = places_.take(rounded(bytes), owner);
    if (place)
        count(bytes, 1);
    return place;
}

Result<DevicePtr> KvSlabs::take(std::size_t bytes, std::size_t owner)
{
    for (;;) {
        take_arrived();
        if (const DevicePtr place = take_other(bytes, owner))
            return place;
        if (coming_ == 0)
            break;
        wait_for_arrival();
    }
    if (const Status ok = take_slab(rounded(bytes)); !ok)
        return tl::unexpected(ok.error());
    return take_other(bytes, owner);
}

/// Takes a slab at once, since none came ahead. It is less than a whole one where no more is left; what blocks leave
/// free of it may lie above the watermark.
Status KvSlabs::take_slab(std::size_t block_bytes)
{
    const auto left = std::size_t(std::max<std::int64_t>(0, vram_.budget() - vram_.held()));
    const std::size_t whole = size_for(block_bytes);
    const std::size_t most = whole <= left ? whole : std::max(left / block_bytes, std::size_t(1)) * block_bytes;
    for (std::size_t bytes = most;; bytes = block_bytes) {
        const auto memory =
            has_slabs() ? vram_.take_zeroed(Vram::Use::KvAhead, bytes) : vram_.take(Vram::Use::KvAhead, bytes);
        if (memory) {
            add(*memory, bytes);
            return {};
        }
        if (bytes == block_bytes || memory.error().code != Error::Code::DeviceFull)
            return tl::unexpected(memory.error());
    }
}

/// Adds a slab. Throws std::bad_alloc; then the memory is given back.
void KvSlabs::add(DevicePtr memory, std::size_t bytes)
{
    try {
        places_.add(memory, bytes);
    } catch (...) {
        vram_.give_back(Vram::Use::KvAhead, memory, bytes);
        throw;
    }
}

void KvSlabs::give_back(DevicePtr block, std::size_t bytes)
{
    const bool empty = places_.give_back(block);
    count(bytes, -1);
    if (empty && !has_slabs())
        release_one();
}

/// Gives back the largest slab without blocks. False: there is none.
bool KvSlabs::release_one()
{
    const auto slab = places_.remove_empty();
    if (slab)
        vram_.give_back(Vram::Use::KvAhead, slab->first, slab->bytes);
    return slab.has_value();
}

void KvSlabs::give_up(std::int64_t most)
{
    if (vram_.held() > most)
        settle();
    while (vram_.held() > most && release_one()) {
    }
}

// ---- ahead ----

void KvSlabs::grow_ahead(std::int64_t blocks, std::size_t block_bytes, std::int64_t mark)
{
    if (!has_slabs() || block_bytes == 0 || !vram_.device().orders_itself())
        return;
    take_arrived();
    const std::size_t block = rounded(block_bytes), size = size_for(block);
    const auto in_a_slab = std::int64_t(size / block);
    std::int64_t missing = blocks - std::int64_t(coming_) * in_a_slab;
    missing -= places_.places(block, missing);
    while (missing > 0 && coming_ < kMostComing && vram_.held() + std::int64_t(size) <= mark &&
           std::chrono::steady_clock::now() >= not_before_ && ask_for(size))
        missing -= in_a_slab;
}

/// Has the thread take a slab, whose bytes count from now on. False: the system gives no more threads.
bool KvSlabs::ask_for(std::size_t bytes)
{
    if (!thread_.joinable())
        try {
            thread_ = std::thread([this] { work(); });
        } catch (const std::system_error&) {
            return false;  // slabs are taken when they are needed
        }
    {
        const std::lock_guard lock(mutex_);
        wanted_.push_back(bytes);
    }
    vram_.count(Vram::Use::KvAhead, std::int64_t(bytes));
    ++coming_;
    asked_.notify_one();
    return true;
}

void KvSlabs::take_arrived()
{
    if (coming_ == 0)
        return;
    const std::lock_guard lock(mutex_);
    while (!arrived_.empty()) {
        const Arrival arrival = arrived_.back();
        arrived_.pop_back();
        --coming_;
        if (arrival.memory) {
            add(arrival.memory, arrival.bytes);
            continue;
        }
        vram_.count(Vram::Use::KvAhead, -std::int64_t(arrival.bytes));
        not_before_ = std::chrono::steady_clock::now() + kPause;
    }
}

void KvSlabs::wait_for_arrival()
{
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !arrived_.empty(); });
}

void KvSlabs::settle()
{
    for (take_arrived(); coming_ > 0; take_arrived())
        wait_for_arrival();
}

void KvSlabs::work()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        asked_.wait(lock, [&] { return quit_ || !wanted_.empty(); });
        if (wanted_.empty())
            return;
        const std::size_t bytes = wanted_.front();
        wanted_.pop_front();
        lock.unlock();
        DevicePtr memory = nullptr;
        try {
            memory = vram_.device().allocate_zeroed(bytes).value_or(nullptr);
        } catch (const std::bad_alloc&) {
            // as where there is none; a device that is lost is noticed by the next step
        }
        lock.lock();
        arrived_.push_back({bytes, memory});
        done_.notify_all();
    }
}

}  // namespace engine
