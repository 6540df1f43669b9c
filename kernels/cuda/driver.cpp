#include "kernels/cuda/driver.h"

#include "kernels/cuda/blas.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace kernels::cuda {

namespace {

struct KernelName {
    const char* file;
    const char* name;
};

#define SPILLWAY_NAME(file, name) {#file, #name},
constexpr KernelName kNames[] = {SPILLWAY_CUDA_KERNELS(SPILLWAY_NAME)};
#undef SPILLWAY_NAME

// Flags of the driver's own header.
constexpr unsigned kPinnedForAllContexts = 0x01;
constexpr unsigned kPinnedMapped = 0x02;
constexpr unsigned kQueueBesideDefault = 0x01;
constexpr unsigned kEventWithoutTiming = 0x02;
constexpr int kCaptureThisThread = 1;

// From this compute capability and this driver on, kernels may begin before those before them have ended, also in
// graphs.
constexpr int kEarlyCompute = 90;
constexpr int kEarlyDriver = 12030;

constexpr int kOldestCompute = 75;  // integer dot products and tensor cores as our kernels use them

constexpr const char* kNoKernels = "this build of the program has no CUDA kernels";

std::string version_text(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Names the oldest driver that runs what CUDA's compilers of that major version make, by the number that people know.
std::string driver_number(int major)
{
    return major == 12 ? "driver 525" : major == 13 ? "driver 580" : "a newer driver";
}

/// Returns a text such as "out of memory (CUDA error 2)".
std::string status_text(const DriverTable& table, Status status)
{
    const char* text = nullptr;
    if (table.error_text(status, &text) != Status::Ok || !text)
        text = "unknown error";
    return std::string(text) + " (CUDA error " + std::to_string(int(status)) + ")";
}

}  // namespace

// ---- the library ----

// Never closed: the driver keeps threads of its own.
static DriverLibrary load_driver_library()
{
    OpenedLibrary opened = open_driver_library();
    if (!opened.library)
        return {nullptr, std::move(opened.problem)};
    static DriverTable table;
    if (const char* missing = fill_table(table, opened.symbol, opened.library))
        return {nullptr, std::string("the NVIDIA driver is too old: it lacks ") + missing};
    return {&table, {}};
}

const DriverLibrary& driver_library()
{
    static const DriverLibrary library = load_driver_library();
    return library;
}

static Platform& other_platform()
{
    static Platform platform;
    return platform;
}

Platform platform()
{
    if (other_platform().table)
        return other_platform();
    return {driver_library().table, kernel_images(), driver_library().problem, blas_library};
}

void set_platform(const Platform& other)
{
    other_platform() = other;
}

const char* fill_table(DriverTable& t, Symbol symbol, void* library)
{
    Binder bind(symbol, library);
    bind(t.init, "cuInit");
    bind(t.driver_version, "cuDriverGetVersion");
    bind(t.error_text, "cuGetErrorString");
    bind(t.device_count, "cuDeviceGetCount");
    bind(t.device_get, "cuDeviceGet");
    bind(t.device_name, "cuDeviceGetName");
    bind(t.device_memory, "cuDeviceTotalMem_v2");
    bind(t.device_attribute, "cuDeviceGetAttribute");
    bind(t.context_retain, "cuDevicePrimaryCtxRetain");
    bind(t.context_release, "cuDevicePrimaryCtxRelease_v2");
    bind(t.context_reset, "cuDevicePrimaryCtxReset_v2");
    bind(t.context_set_current, "cuCtxSetCurrent");
    bind(t.module_load, "cuModuleLoadData");
    bind(t.module_unload, "cuModuleUnload");
    bind(t.module_function, "cuModuleGetFunction");
    bind(t.memory_info, "cuMemGetInfo_v2");
    bind(t.memory_alloc, "cuMemAlloc_v2");
    bind(t.memory_free, "cuMemFree_v2");
    bind(t.pinned_alloc, "cuMemHostAlloc");
    bind(t.pinned_free, "cuMemFreeHost");
    bind(t.host_register, "cuMemHostRegister_v2");
    bind(t.host_unregister, "cuMemHostUnregister");
    bind(t.copy_to_device, "cuMemcpyHtoDAsync_v2");
    bind(t.copy_to_host, "cuMemcpyDtoHAsync_v2");
    bind(t.copy_rectangle, "cuMemcpy2DAsync_v2");
    bind(t.copy_on_device, "cuMemcpyDtoDAsync_v2");
    bind(t.fill, "cuMemsetD8Async");
    bind(t.queue_create, "cuStreamCreateWithPriority");
    bind(t.queue_destroy, "cuStreamDestroy_v2");
    bind(t.queue_synchronize, "cuStreamSynchronize");
    bind(t.queue_wait_event, "cuStreamWaitEvent");
    bind(t.queue_begin_capture, "cuStreamBeginCapture_v2");
    bind(t.queue_end_capture, "cuStreamEndCapture");
    bind(t.event_create, "cuEventCreate");
    bind(t.event_destroy, "cuEventDestroy_v2");
    bind(t.event_record, "cuEventRecord");
    bind(t.event_query, "cuEventQuery");
    bind(t.event_synchronize, "cuEventSynchronize");
    bind(t.event_elapsed_ms, "cuEventElapsedTime");
    bind(t.graph_instantiate, "cuGraphInstantiateWithFlags");
    bind(t.graph_launch, "cuGraphLaunch");
    bind(t.graph_destroy, "cuGraphDestroy");
    bind(t.graph_exec_destroy, "cuGraphExecDestroy");
    bind(t.launch_kernel, "cuLaunchKernel");
    bind.optional(t.launch_kernel_ex, "cuLaunchKernelEx");
    bind.optional(t.function_attribute, "cuFuncGetAttribute");
    bind.optional(t.device_luid, "cuDeviceGetLuid");
    return bind.missing();
}

// ---- opening ----

Driver::Opened Driver::open(const DriverTable& table, const KernelImages& images, int ordinal)
{
    if (images.files.empty())
        return {nullptr, kNoKernels};
    std::unique_ptr<Driver> driver(new Driver(table));
    std::string problem = driver->describe(ordinal, images.cuda_version);
    if (problem.empty())
        problem = driver->load(images);
    if (!problem.empty())
        return {nullptr, problem};
    return {std::move(driver), {}};
}

std::vector<ListedDevice> list_devices(const Platform& platform)
{
    std::vector<ListedDevice> list;
    int count = 0;
    if (!platform.table || platform.table->init(0) != Status::Ok || platform.table->device_count(&count) != Status::Ok)
        return list;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        Driver driver(*platform.table);
        std::string problem = driver.describe(ordinal, platform.images.cuda_version);
        if (problem.empty() && platform.images.files.empty())
            problem = kNoKernels;
        list.push_back({driver.info_, std::move(problem)});
    }
    return list;
}

std::string why_no_device(const Platform& platform)
{
    if (!platform.table)
        return platform.problem;
    int count = 0;
    Status s = platform.table->init(0);
    if (s == Status::Ok)
        s = platform.table->device_count(&count);
    if (s != Status::Ok)
        return "the NVIDIA driver does not start: " + status_text(*platform.table, s);
    return count > 0 ? std::string() : "the NVIDIA driver knows no GPU";
}

// Fills info_, also for a device that it refuses since our kernels cannot run on it.
std::string Driver::describe(int ordinal, int built_for)
{
    info_.ordinal = ordinal;
    if (const Status s = table_.init(0); s != Status::Ok)
        return "the NVIDIA driver does not start: " + error_text(s);
    if (const Status s = table_.driver_version(&info_.driver_version); s != Status::Ok)
        return "the NVIDIA driver does not answer: " + error_text(s);

    int count = 0;
    if (table_.device_count(&count) != Status::Ok || ordinal < 0 || ordinal >= count)
        return "there is no CUDA device " + std::to_string(ordinal) + ": the driver knows " + std::to_string(count);

    char name[256] = "";
    Status s = table_.device_get(&device_, ordinal);
    if (s == Status::Ok)
        s = table_.device_name(name, int(sizeof name) - 1, device_);
    if (s == Status::Ok)
        s = table_.device_memory(&info_.memory_bytes, device_);
    const auto attribute = [&](int& value, DeviceAttribute which) {
        if (s == Status::Ok)
            s = table_.device_attribute(&value, which, device_);
    };
    attribute(info_.compute_major, DeviceAttribute::ComputeMajor);
    attribute(info_.compute_minor, DeviceAttribute::ComputeMinor);
    attribute(info_.multiprocessors, DeviceAttribute::Multiprocessors);
    attribute(info_.l2_bytes, DeviceAttribute::L2Bytes);
    if (s == Status::Ok && table_.device_attribute(&info_.clock_khz, DeviceAttribute::ClockKhz, device_) != Status::Ok)
        info_.clock_khz = 0;
    info_.name = name;
    char luid[sizeof info_.luid] = {};
    unsigned node_mask = 0;
    if (table_.device_luid && table_.device_luid(luid, &node_mask, device_) == Status::Ok)
        std::memcpy(&info_.luid, luid, sizeof luid);
    if (s != Status::Ok)
        return "CUDA device " + std::to_string(ordinal) + " does not answer: " + error_text(s);
    if (info_.compute_major * 10 + info_.compute_minor < kOldestCompute)
        return info_.name + " has compute capability " + std::to_string(info_.compute_major) + "." +
               std::to_string(info_.compute_minor) + ", and 7.5 or higher is needed";
    // A driver runs the kernels of every compiler of its own major version.
    const int needed = built_for / 1000 * 1000;
    if (info_.driver_version < needed)
        return "NVIDIA " + driver_number(needed / 1000) + " or newer is needed, which supports CUDA " +
               version_text(needed) + "; the one here supports CUDA " + version_text(info_.driver_version) +
               ": please update it";
    return {};
}

/// Counts how many of the process's drivers use a device's primary context, which is one for all of them.
class ContextUses
{
public:
    static ContextUses& of(DeviceId device)
    {
        static std::array<ContextUses, 64> all;
        return all[std::size_t(device) % all.size()];
    }
    /// Counts one use more. Waits while the context is being reset.
    void begin()
    {
        int uses = count_.load();
        while (uses < 0 || !count_.compare_exchange_weak(uses, uses + 1))
            uses = count_.load();
    }
    void end() { --count_; }
    /// Returns false if the context is in use.
    bool begin_reset()
    {
        int none = 0;
        return count_.compare_exchange_strong(none, -1);
    }
    void end_reset() { count_ = 0; }

private:
    std::atomic<int> count_ = 0;  // -1: it is being reset
};

// Takes the device's primary context, which cuBLAS would use too. Asking for its memory shows an error that has stuck.
Status Driver::take_context()
{
    ContextUses::of(device_).begin();
    if (const Status s = table_.context_retain(&context_, device_); s != Status::Ok) {
        context_ = nullptr;
        ContextUses::of(device_).end();
        return s;
    }
    const Status s = make_current();
    return s == Status::Ok ? memory().status : s;
}

void Driver::give_context_back()
{
    (void)table_.context_set_current(nullptr);
    if (!std::exchange(context_, nullptr))
        return;
    (void)table_.context_release(device_);
    ContextUses::of(device_).end();
}

// Returns false, and resets nothing, where others use the context: their memory and kernels would be gone.
bool Driver::reset_context() const
{
    if (!ContextUses::of(device_).begin_reset())
        return false;
    (void)table_.context_reset(device_);
    ContextUses::of(device_).end_reset();
    return true;
}

// Looks every kernel up. An error that has stuck since a kernel failed goes away when the context is reset; if it
// cannot be reset, only when the process ends.
std::string Driver::load(const KernelImages& images)
{
    Status s = take_context();
    if (is_device_lost(s)) {
        give_context_back();
        if (!reset_context())
            return info_.name + " has stopped working, and another model of this program still holds it: it comes " +
                   "back when that has let it go";
        s = take_context();
    }
    if (is_device_lost(s)) {
        give_context_back();
        return info_.name +
               " has stopped working, and the driver gives it back only to a program that is started again";
    }
    if (s != Status::Ok)
        return info_.name + " cannot be used: " + error_text(s);

    for (std::size_t file = 0; file < images.files.size() && file < modules_.size(); ++file) {
        const KernelImage& image = images.files[file];
        s = table_.module_load(&modules_[file], image.fatbin);
        for (std::size_t k = 0; k < functions_.size() && s == Status::Ok; ++k)
            if (std::strcmp(kNames[k].file, image.file) == 0)
                s = table_.module_function(&functions_[k], modules_[file], kNames[k].name);
        if (s == Status::NoBinaryForGpu)
            return "this build of the program has no kernels for the " + info_.name + ", of compute capability " +
                   std::to_string(info_.compute_major) + "." + std::to_string(info_.compute_minor);
        if (s != Status::Ok)
            return "the kernels do not load on " + info_.name + ": " + error_text(s);
    }
    for (std::size_t k = 0; k < functions_.size(); ++k)
        if (!functions_[k])
            return std::string("this build of the program lacks the kernel ") + kNames[k].name;
    begins_early_ = can_begin_early();
    return {};
}

// Kernels that were compiled for older devices do not wait by themselves, also where a newer one runs them.
bool Driver::can_begin_early() const
{
    int compiled_for = 0;
    return table_.launch_kernel_ex && table_.function_attribute && info_.driver_version >= kEarlyDriver &&
           table_.function_attribute(&compiled_for, kCompiledFor, functions_.front()) == Status::Ok &&
           compiled_for >= kEarlyCompute;
}

// On a lost device each of these calls fails, which does no harm.
Driver::~Driver()
{
    if (!context_)
        return;
    (void)make_current();
    for (Module module : modules_)
        if (module)
            (void)table_.module_unload(module);
    give_context_back();
}

// ---- calls ----

std::string Driver::error_text(Status status) const
{
    return status_text(table_, status);
}

Answer<MemoryInfo> Driver::memory() const
{
    Answer<MemoryInfo> a;
    a.status = table_.memory_info(&a.value.free_bytes, &a.value.total_bytes);
    return a;
}

Answer<DevicePtr> Driver::alloc(std::size_t bytes) const
{
    Answer<DevicePtr> a;
    a.status = table_.memory_alloc(&a.value, bytes);
    return a;
}

Answer<void*> Driver::alloc_pinned(std::size_t bytes) const
{
    Answer<void*> a;
    a.status = table_.pinned_alloc(&a.value, bytes, kPinnedForAllContexts | kPinnedMapped);
    return a;
}

Status Driver::pin(void* ptr, std::size_t bytes) const
{
    return table_.host_register(ptr, bytes, kPinnedForAllContexts | kPinnedMapped);
}

Answer<Queue> Driver::make_queue() const
{
    Answer<Queue> a;
    a.status = table_.queue_create(&a.value, kQueueBesideDefault, 0);
    return a;
}

Answer<Event> Driver::make_event(Timing timing) const
{
    Answer<Event> a;
    a.status = table_.event_create(&a.value, timing == Timing::On ? 0 : kEventWithoutTiming);
    return a;
}

Answer<float> Driver::elapsed_ms(Event from, Event to) const
{
    Answer<float> a;
    a.status = table_.event_elapsed_ms(&a.value, from, to);
    return a;
}

Status Driver::copy_to_device(DevicePtr to, const void* from, std::size_t bytes, Queue queue) const
{
    return table_.copy_to_device(to, from, bytes, queue);
}

Status Driver::copy_to_host(void* to, DevicePtr from, std::size_t bytes, Queue queue) const
{
    return table_.copy_to_host(to, from, bytes, queue);
}

Status Driver::copy_runs_to_host(void* to, DevicePtr from, std::size_t width, std::size_t height, std::size_t pitch,
                                 Queue queue) const
{
    RectangleCopy copy;
    copy.from.memory = RectangleCopy::Memory::Device;
    copy.from.device = from;
    copy.from.pitch_bytes = pitch;
    copy.to.memory = RectangleCopy::Memory::Host;
    copy.to.host = to;
    copy.to.pitch_bytes = pitch;
    copy.width_bytes = width;
    copy.height = height;
    return table_.copy_rectangle(&copy, queue);
}

Status Driver::copy_on_device(DevicePtr to, DevicePtr from, std::size_t bytes, Queue queue) const
{
    return table_.copy_on_device(to, from, bytes, queue);
}

Status Driver::fill(DevicePtr to, std::uint8_t value, std::size_t bytes, Queue queue) const
{
    return table_.fill(to, value, bytes, queue);
}

Status Driver::begin_capture(Queue queue) const
{
    return table_.queue_begin_capture(queue, kCaptureThisThread);
}

Answer<GraphExec> Driver::end_capture(Queue queue) const
{
    Answer<GraphExec> a;
    Graph graph = nullptr;
    a.status = table_.queue_end_capture(queue, &graph);
    if (a.status != Status::Ok)
        return a;
    a.status = table_.graph_instantiate(&a.value, graph, 0);
    if (const Status s = table_.graph_destroy(graph); a.status == Status::Ok)
        a.status = s;
    return a;
}

}  // namespace kernels::cuda
