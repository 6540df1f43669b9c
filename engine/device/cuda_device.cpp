#include "engine/device/cuda_device.h"

#include "engine/metrics/host_probe.h"

#include <algorithm>
#include <string>

namespace engine {

namespace cuda = kernels::cuda;
using CudaStatus = cuda::Status;

namespace {

cuda::DevicePtr cuda_address(const std::byte* memory)
{
    return static_cast<cuda::DevicePtr>(reinterpret_cast<std::uintptr_t>(memory));
}

DevicePtr engine_address(cuda::DevicePtr at)
{
    return reinterpret_cast<DevicePtr>(static_cast<std::uintptr_t>(at));
}

}  // namespace

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(int ordinal)
{
    const cuda::Platform platform = cuda::platform();
    if (!platform.table)
        return fail(Error::Code::Unsupported, platform.problem);
    const DriverGate::Call call(DriverGate::of(ordinal));  // loading kernels may wait, too
    auto opened = cuda::Driver::open(*platform.table, platform.images, ordinal);
    if (!opened.driver)
        return fail(Error::Code::Unsupported, opened.problem);
    std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(opened.driver)));
    if (const Status ok = device->make_queues(); !ok)
        return fail(Error::Code::Unsupported, ok.error().what);
    return device;
}

CudaDevice::CudaDevice(std::unique_ptr<cuda::Driver> driver)
    : driver_(std::move(driver))
    , id_("cuda:" + std::to_string(driver_->info().ordinal))
    , probe_(find_video_memory({driver_->info().name, driver_->info().luid}))
    , gate_(DriverGate::of(driver_->info().ordinal))
    , page_locks_(std::make_unique<PageLocks>(*driver_, gate_, most_page_locked(host_memory().total_bytes.value_or(0))))
{
}

Status CudaDevice::make_queues()
{
    for (cuda::Queue* queue : {&compute_, &zeroing_, &to_device_.queue, &to_host_.queue}) {
        const auto made = driver().make_queue();
        if (Status ok = checked(made.status); !ok)
            return ok;
        *queue = made.value;
    }
    for (Lane* lane : {&to_device_, &to_host_}) {
        const auto made = driver().make_event();
        if (Status ok = checked(made.status); !ok)
            return ok;
        lane->computed = made.value;
    }
    return {};
}

CudaDevice::~CudaDevice()
{
    (void)finish_work();
    page_locks_.reset();
    const DriverGate::Call call(gate_);
    for (Lane* lane : {&to_device_, &to_host_}) {
        if (lane->queue)
            (void)driver().synchronize(lane->queue);
        for (const Mark& mark : lane->marks)
            (void)driver().destroy(mark.event);
        for (const cuda::Event event : lane->spare)
            (void)driver().destroy(event);
        if (lane->computed)
            (void)driver().destroy(lane->computed);
        if (lane->queue)
            (void)driver().destroy(lane->queue);
    }
    for (const cuda::Queue queue : {compute_, zeroing_})
        if (queue)
            (void)driver().destroy(queue);
    driver_.reset();
}

Status CudaDevice::checked(CudaStatus status) const
{
    if (status == CudaStatus::Ok)
        return {};
    if (status == CudaStatus::OutOfMemory)
        return fail(Error::Code::DeviceFull, "the memory of " + driver_->info().name + " is full");
    return fail(Error::Code::DeviceLost, driver_->info().name + " stopped working: " + driver_->error_text(status));
}

Status CudaDevice::finish_work()
{
    if (!computing_)
        return {};
    computing_ = false;
    return checked(driver().synchronize(compute_));
}

// ---- memory ----

void CudaDevice::ask_for_memory() const
{
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_at_ < 100ms)
        return;
    asked_at_ = now;
    const std::int64_t allocated = allocated_bytes_;  // before the system is asked: another thread goes on allocating
    const std::optional<VideoMemory> left = probe_ ? probe_->ask() : std::nullopt;
    spilled_bytes_.reset();
    if (const auto memory = driver().memory(); memory.status == CudaStatus::Ok) {
        const auto taken = std::int64_t(memory.value.total_bytes) - std::int64_t(memory.value.free_bytes);
        other_programs_bytes_ = std::max<std::int64_t>(0, taken - used_bytes_);
    }
    if (left) {
        besides_bytes_ = held_besides(*left, used_bytes_, besides_bytes_);
        other_programs_bytes_ = std::max(other_programs_bytes_, held_by_others(*left, total_bytes(), besides_bytes_));
        spilled_bytes_ = engine::spilled_bytes(*left, allocated, besides_bytes_);
    }
}

std::int64_t CudaDevice::other_programs_bytes() const
{
    ask_for_memory();
    return other_programs_bytes_;
}

std::optional<std::int64_t> CudaDevice::spilled_bytes() const
{
    ask_for_memory();
    return spilled_bytes_;
}

/// Counts the bytes before the driver does: else another thread would take them for other programs' for a moment.
Result<DevicePtr> CudaDevice::allocate(std::size_t bytes)
{
    const DriverGate::Call call(gate_);
    used_bytes_ += std::int64_t(bytes);
    const auto memory = driver().alloc(bytes);
    if (const Status ok = checked(memory.status); !ok) {
        used_bytes_ -= std::int64_t(bytes);
        return tl::unexpected(ok.error());
    }
    allocated_bytes_ += std::int64_t(bytes);
    return engine_address(memory.value);
}

Result<DevicePtr> CudaDevice::allocate_zeroed(std::size_t bytes)
{
    const DriverGate::Call call(gate_);  // one at a time, too: they share a queue
    auto memory = allocate(bytes);
    if (!memory)
        return memory;
    CudaStatus status = driver().fill(cuda_address(*memory), 0, bytes, zeroing_);
    if (status == CudaStatus::Ok)
        status = driver().synchronize(zeroing_);
    if (const Status ok = checked(status); !ok) {
        (void)driver().free(cuda_address(*memory));
        allocated_bytes_ -= std::int64_t(bytes);
        used_bytes_ -= std::int64_t(bytes);
        return tl::unexpected(ok.error());
    }
    return memory;
}

void CudaDevice::release(DevicePtr memory, std::size_t bytes)
{
    (void)finish_work();  // a lost device is noticed by the next step
    const DriverGate::Call call(gate_);
    (void)driver().free(cuda_address(memory));
    allocated_bytes_ -= std::int64_t(bytes);
    used_bytes_ -= std::int64_t(bytes);
}

Status CudaDevice::clear(DevicePtr memory, std::size_t bytes)
{
    computing_ = true;
    return checked(driver().fill(cuda_address(memory), 0, bytes, compute_));
}

Status CudaDevice::copy_within(DevicePtr from, DevicePtr to, std::size_t bytes)
{
    computing_ = true;
    return checked(driver().copy_on_device(cuda_address(to), cuda_address(from), bytes, compute_));
}

// ---- copies ----

Device::Ticket CudaDevice::give(Lane& lane, std::size_t bytes)
{
    lane.bytes_moved += std::int64_t(bytes);
    return ++lane.given;
}

/// Records an event behind all copies so far. Events that have happened are used again: without that they would pile up
/// where copies are not asked about for a long time.
Status CudaDevice::mark(Lane& lane) const
{
    if (lane.marked == lane.given)
        return {};
    if (lane.spare.empty())
        note_ended(lane);
    if (lane.spare.empty()) {
        const auto made = driver().make_event();
        if (Status ok = checked(made.status); !ok)
            return ok;
        lane.spare.push_back(made.value);
    }
    const cuda::Event event = lane.spare.back();
    if (Status ok = checked(driver().record(event, lane.queue)); !ok)
        return ok;
    lane.spare.pop_back();
    lane.marks.push_back({lane.given, event});
    lane.marked = lane.given;
    return {};
}

/// Returns the first event behind a copy that has not been seen to end.
Result<cuda::Event> CudaDevice::mark_of(Lane& lane, Ticket ticket) const
{
    if (ticket > lane.marked)
        if (const Status ok = mark(lane); !ok)
            return tl::unexpected(ok.error());
    return std::ranges::lower_bound(lane.marks, ticket, {}, &Mark::ticket)->event;
}

/// Marks the end of a batch at once: what is computed then waits for these copies and not for those after them.
Result<Device::Ticket> CudaDevice::to_device(const std::byte* from, DevicePtr to, std::size_t bytes, Batch batch)
{
    if (const Status ok = checked(driver().copy_to_device(cuda_address(to), from, bytes, to_device_.queue)); !ok)
        return tl::unexpected(ok.error());
    const Ticket ticket = give(to_device_, bytes);
    if (batch == Batch::GoesOn)
        return ticket;
    if (const Status ok = mark(to_device_); !ok) {
        (void)driver().synchronize(to_device_.queue);  // the caller uses the memory for something else at once
        return tl::unexpected(ok.error());
    }
    return ticket;
}

/// Copies tokens [first, last) of every head, `row_bytes` each, that begin `offset` bytes into its block.
Status CudaDevice::copy_rows(const KvRows& rows, std::size_t offset, std::size_t row_bytes, int first, int last)
{
    const std::size_t at = offset + std::size_t(first) * row_bytes;
    return checked(driver().copy_runs_to_host(rows.to + at, cuda_address(rows.from) + at,
                                              std::size_t(last - first) * row_bytes, std::size_t(rows.kv_heads),
                                              rows.layout.bytes(), to_host_.queue));
}

Result<Device::Ticket> CudaDevice::to_host(const KvRows& rows)
{
    using kernels::kKvGroupTokens;
    const kernels::KvBlockLayout& l = rows.layout;
    Status status;
    const auto copy = [&](std::size_t offset, std::size_t row_bytes, int first, int last) {
        if (status)
            status = copy_rows(rows, offset, row_bytes, first, last);
    };
    if (rows.first == 0 && rows.last == l.tokens) {
        status = checked(driver().copy_to_host(rows.to, cuda_address(rows.from), l.bytes() * std::size_t(rows.kv_heads),
                                               to_host_.queue));
    } else {
        const int first_group = rows.first / kKvGroupTokens;
        const int end_group = (rows.last + kKvGroupTokens - 1) / kKvGroupTokens;
        copy(0, std::size_t(l.k_dim) * kernels::kv_value_bytes(l.k_type), first_group * kKvGroupTokens,
             end_group * kKvGroupTokens);
        if (l.k_type == kernels::KvType::Q8_0)
            copy(l.k_scales_offset(), sizeof(float), rows.first, rows.last);
        if (!l.values_in_keys) {
            copy(l.v_offset(), std::size_t(l.v_dim) * kernels::kv_value_bytes(l.v_type), rows.first, rows.last);
            if (l.v_type == kernels::KvType::Q8_0)
                copy(l.v_scales_offset(), sizeof(float), rows.first, rows.last);
        }
    }
    if (!status)
        return tl::unexpected(status.error());
    return give(to_host_, rows.bytes());
}

Result<Device::Ticket> CudaDevice::to_host(DevicePtr from, std::byte* to, std::size_t bytes)
{
    if (const Status ok = checked(driver().copy_to_host(to, cuda_address(from), bytes, to_host_.queue)); !ok)
        return tl::unexpected(ok.error());
    return give(to_host_, bytes);
}

void CudaDevice::note_ended(Lane& lane) const
{
    while (!lane.marks.empty() && driver().query(lane.marks.front().event) == CudaStatus::Ok) {
        lane.ended = lane.marks.front().ticket;
        lane.spare.push_back(lane.marks.front().event);
        lane.marks.pop_front();
    }
}

bool CudaDevice::ended(Direction direction, Ticket ticket) const
{
    Lane& lane = this->lane(direction);
    if (lane.ended >= ticket)
        return true;
    if (ticket > lane.marked && !mark(lane))
        return false;  // a lost device
    note_ended(lane);
    return lane.ended >= ticket;
}

Status CudaDevice::wait(Direction direction, Ticket ticket)
{
    if (ended(direction, ticket))
        return {};
    Lane& lane = this->lane(direction);
    const auto event = mark_of(lane, ticket);
    if (!event)
        return tl::unexpected(event.error());
    Status waited = checked(driver().synchronize(*event));
    note_ended(lane);
    return waited;
}

Status CudaDevice::compute_after(Direction direction, Ticket ticket)
{
    if (ended(direction, ticket))
        return {};
    const auto event = mark_of(lane(direction), ticket);
    return event ? checked(driver().wait(compute_, *event)) : Status(tl::unexpected(event.error()));
}

/// Marks the copies until now, which belong to one step, by one event.
Status CudaDevice::copy_after_compute(Direction direction)
{
    Lane& lane = this->lane(direction);
    if (Status ok = mark(lane); !ok)
        return ok;
    if (Status ok = checked(driver().record(lane.computed, compute_)); !ok)
        return ok;
    return checked(driver().wait(lane.queue, lane.computed));
}

}  // namespace engine
