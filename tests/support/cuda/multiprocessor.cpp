#include "tests/support/cuda/multiprocessor.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <span>
#include <thread>

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local uint3 blockDim{};
constinit thread_local uint3 gridDim{};

namespace emulator {

static std::string text(uint3 p)
{
    return "(" + std::to_string(p.x) + ", " + std::to_string(p.y) + ", " + std::to_string(p.z) + ")";
}

static std::string name_of(const std::string& file)
{
    return file.substr(file.rfind('/') + 1);
}

static constinit thread_local Multiprocessor* running = nullptr;  // of this thread: whose blocks run

Multiprocessor::Multiprocessor(unsigned seed)
    : random_(seed | 1)
{
}

unsigned Multiprocessor::random()
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return random_;
}

void Multiprocessor::begin(const Launch& launch)
{
    running = this;
    kernel_ = &launch.kernel;
    arguments_ = launch.arguments;
    count_ = launch.block.x * launch.block.y * launch.block.z;
    shared_bytes_ = launch.shared_bytes;
    while (threads_.size() < count_)
        threads_.push_back(std::make_unique<Thread>());
    standings_.resize(threads_.size());
    blockDim = {launch.block.x, launch.block.y, launch.block.z};
    gridDim = {launch.grid.x, launch.grid.y, launch.grid.z};
}

std::string Multiprocessor::run_block(uint3 block)
{
    fault_.clear();
    stops_ = 0;
    blockIdx = block;
    shared_.reset(new std::byte[shared_bytes_]);  // its exact size, so that ASan sees what goes beyond
    std::fill_n(shared_.get(), shared_bytes_, kNeverWritten);
    run_threads();
    static_shared_.clean();
    return fault_.empty() ? fault_ : std::string(kernel_->name) + ", block " + text(blockIdx) + ": " + fault_;
}

void Multiprocessor::run_threads()
{
    for (unsigned i = 0; i < count_; ++i) {
        Thread& t = *threads_[i];
        t.place = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        t.copies.clear();
        t.groups.clear();
        t.uncommitted = 0;
        t.fiber.start(body, this);
    }
    const unsigned warps = std::max(1u, count_ / kWarpLanes);
    do {
        const unsigned first = random() % warps;
        for (unsigned w = 0; w < warps && fault_.empty(); ++w)
            run_warp((first + w) % warps);
    } while (fault_.empty() && release_barrier());
}

// Runs a warp until every lane has ended or waits for the block. A lane that stops hands over to the next one.
void Multiprocessor::run_warp(unsigned w)
{
    warp_ = w;
    begin_round();
    current_->fiber.resume();
}

void Multiprocessor::begin_round()
{
    ++stops_;
    flip_ = random() % kWarpLanes;
    lanes_taken_ = 0;
    parted_ = false;
    take_next_lane();
    first_ = &standings_[index_];
}

void Multiprocessor::take_next_lane()
{
    index_ = warp_ * kWarpLanes + (lanes_taken_++ ^ flip_);
    current_ = threads_[index_].get();
    threadIdx = current_->place;
}

// Says whether the warp goes on: then all its lanes met in one exchange.
bool Multiprocessor::finish_round()
{
    const auto lanes = std::span(standings_).subspan(std::size_t(warp_) * kWarpLanes, kWarpLanes);
    const auto exchanges = [](const Standing& lane) { return lane.state == Standing::State::AtWarpExchange; };
    if (!parted_ && exchanges(lanes.front())) {
        ++exchanges_;
        return true;
    }
    if (std::any_of(lanes.begin(), lanes.end(), exchanges))
        fault("a warp's lanes part ways:" + standing());
    return false;
}

// Says whether the block goes on: then all its threads waited at one barrier. Else all have ended, or it is at fault.
bool Multiprocessor::release_barrier()
{
    const std::span all = std::span(standings_).first(count_);
    const bool ended = all.front().state == Standing::State::Ended;
    for (const Standing& s : all)
        if (s.state != all.front().state || (!ended && !(s.where == all.front().where))) {
            fault("not all threads come to the barrier:" + standing());
            return false;
        }
    return !ended;
}

// Returns where the threads are: "thread 0 at rms_norm.cu:12, thread 32 has ended, ..."; one thread for each place.
std::string Multiprocessor::standing() const
{
    std::map<std::string, unsigned> places;
    for (unsigned i = count_; i-- > 0;) {
        const Standing& s = standings_[i];
        places[s.state == Standing::State::Ended ? "has ended"
                                                 : "at " + name_of(s.where.file) + ":" + std::to_string(s.where.line)] =
            i;
    }
    std::string all;
    for (const auto& [place, thread] : places)
        all += " thread " + std::to_string(thread) + " " + place + ";";
    return all;
}

void Multiprocessor::body(void* self)
{
    auto& m = *static_cast<Multiprocessor*>(self);
    m.kernel_->call(m.kernel_->function, m.arguments_);
    m.wait({Standing::State::Ended, {}});
}

void Multiprocessor::wait(Standing standing)
{
    Thread& here = *current_;
    standings_[index_] = standing;
    parted_ = parted_ || standing != *first_;
    if (!fault_.empty())
        return here.fiber.suspend();
    if (lanes_taken_ < kWarpLanes)
        take_next_lane();
    else if (finish_round())
        begin_round();
    else
        return here.fiber.suspend();
    if (current_ != &here)
        here.fiber.switch_to(current_->fiber);
}

void Multiprocessor::fault(const std::string& what)
{
    if (fault_.empty())
        fault_ = what;
}

void Multiprocessor::end_here()
{
    wait({Standing::State::Ended, {}});
    std::abort();  // it was resumed after its end
}

}  // namespace emulator

// ---- what device_on_host.h declares ----

namespace kernels::cuda::host {

using emulator::running;
using emulator::Standing;
using emulator::Thread;

void block_barrier(Where where)
{
    running->wait({Standing::State::AtBlockBarrier, where});
}

const std::byte* warp_exchange(unsigned mask, const void* mine, std::size_t bytes, Where where)
{
    std::byte* const brought = running->brought();
    std::byte* const place = brought + threadIdx.x % emulator::kWarpLanes * bytes;
    if (mask != ~0u || bytes > kExchangeBytes)
        running->fault("an exchange among a part of a warp");
    else if (bytes == sizeof(std::uint32_t))  // nearly always: without a call
        std::memcpy(place, mine, sizeof(std::uint32_t));
    else if (bytes > 0)
        std::memcpy(place, mine, bytes);
    running->wait({Standing::State::AtWarpExchange, where});
    return brought;
}

std::byte* dynamic_shared()
{
    return running->shared();
}

std::uint64_t now_ns()
{
    return std::uint64_t(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

void yield()
{
    std::this_thread::yield();
}

void must_be_aligned(const void* at, std::size_t bytes, Where where)
{
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(at) % bytes;
    if (beyond == 0)
        return;
    running->fault("at " + emulator::name_of(where.file) + ":" + std::to_string(where.line) + " an address is " +
                   std::to_string(beyond) + " bytes beyond a multiple of " + std::to_string(bytes));
    running->end_here();
}

void copy_async(void* to, const void* from, std::size_t bytes, Where where)
{
    must_be_aligned(to, bytes, where);
    must_be_aligned(from, bytes, where);
    Thread& t = running->current();
    t.copies.push_back({to, from, bytes});
    ++t.uncommitted;
}

void commit_copies()
{
    Thread& t = running->current();
    t.groups.push_back(t.uncommitted);
    t.uncommitted = 0;
}

void wait_for_copies(int groups_still_under_way)
{
    Thread& t = running->current();
    const auto left = std::size_t(groups_still_under_way);
    if (t.groups.size() <= left)
        return;
    const auto arrived = t.groups.end() - std::ptrdiff_t(left);
    const std::size_t count = std::accumulate(t.groups.begin(), arrived, std::size_t(0));
    for (const emulator::Copy& copy : std::span(t.copies).first(count))
        std::memcpy(copy.to, copy.from, copy.bytes);
    t.copies.erase(t.copies.begin(), t.copies.begin() + std::ptrdiff_t(count));
    t.groups.erase(t.groups.begin(), arrived);
}

}  // namespace kernels::cuda::host

// ---- what the compiler calls before an access whose address does not suit its type ----

namespace emulator {

/// The compiler's note of such an access, as its own library of sanitizers reads it.
struct AccessNote {
    const char* file;
    std::uint32_t line, column;
    const struct TypeNote* type;
    std::uint8_t log2_alignment;
    std::uint8_t kind;  // 0: a load, 1: a store, others: a reference, a member
};

struct TypeNote {
    std::uint16_t kind, info;
    char name[1];  // and more: 'const struct float4'
};

}  // namespace emulator

// NOLINTNEXTLINE(bugprone-reserved-identifier): it is the compiler's name
extern "C" void __ubsan_handle_type_mismatch_v1(const emulator::AccessNote* note, std::uintptr_t address)
{
    const std::size_t alignment = std::size_t(1) << note->log2_alignment;
    emulator::running->fault(std::string("a misaligned ") + (note->kind == 1 ? "store" : "load") + " at " +
                             emulator::name_of(note->file) + ":" + std::to_string(note->line) + ": " +
                             note->type->name + " is at a multiple of " + std::to_string(alignment) +
                             " bytes, and this address is " + std::to_string(address % alignment) + " beyond one");
    emulator::running->end_here();
}
