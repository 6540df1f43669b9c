// Driver is the CUDA driver as this program sees it: our own declarations of the functions we use (CUDA's driver API,
// by its own types and numbers), filled from the driver's library when there is one, or by a twin in memory in the
// tests. So no CUDA header or library is needed to build or to start.
//
// Nothing here prints, throws or exits: every call answers with a Status, and the caller can go on without the device.
#pragma once

#include "kernels/cuda/kernel_names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kernels::cuda {

/// Says what a driver call answers; the numbers are CUDA's. Numbers that are not listed here may come too.
enum class [[nodiscard]] Status : int{
    Ok = 0,
    InvalidValue = 1,
    OutOfMemory = 2,
    NotInitialized = 3,
    NoDevice = 100,
    InvalidDevice = 101,
    InvalidImage = 200,
    InvalidContext = 201,
    NoBinaryForGpu = 209,
    NotFound = 500,
    NotReady = 600,  // an event that has not happened yet; no failure
    IllegalAddress = 700,
    LaunchOutOfResources = 701,
    LaunchTimeout = 702,  // Windows' two seconds are over
    LaunchFailed = 719,
    NotSupported = 801,
    CaptureUnsupported = 900,
    CaptureInvalidated = 901,
    Unknown = 999,
};

/// Says whether every further call to the device's context fails: its memory is gone, and its users must do without it.
constexpr bool is_device_lost(Status s)
{
    return (int(s) >= 700 && int(s) < 720 && s != Status::LaunchOutOfResources) || s == Status::Unknown ||
           (int(s) >= 46 && int(s) <= 47) || int(s) == 214;  // device unavailable, ECC
}

using DevicePtr = std::uint64_t;  // an address in the device's memory; 0 is none
using DeviceId = int;
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Queue = struct QueueTag*;  // CUDA: stream
using Event = struct EventTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;

/// CUDA's numbers of the few attributes we ask for.
enum class DeviceAttribute : int {
    ClockKhz = 13,
    Multiprocessors = 16,
    L2Bytes = 38,
    ComputeMajor = 75,
    ComputeMinor = 76
};

/// A copy of a rectangle of bytes between two memories, laid out as CUDA's own structure of that purpose.
struct RectangleCopy {
    enum class Memory : int { Host = 1, Device = 2 };
    struct Side {
        std::size_t x_bytes = 0, y = 0;
        Memory memory = Memory::Host;
        const void* host = nullptr;
        DevicePtr device = 0;
        void* array = nullptr;
        std::size_t pitch_bytes = 0;
    };
    Side from, to;
    std::size_t width_bytes = 0, height = 0;
};

/// A kernel's launch with attributes, laid out as CUDA's own structures of that purpose.
struct LaunchAttribute {
    int id = 0;
    int unused = 0;
    int value = 0;
    int rest_of_value[15] = {};
};
struct LaunchConfig {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z;
    unsigned shared_bytes;
    Queue queue;
    const LaunchAttribute* attributes;
    unsigned attribute_count;
};
/// The attribute of a launch that says that the kernel waits by itself for those before it, and may begin earlier.
constexpr int kMayBeginEarly = 6;
/// The attribute of a function that says for which compute capability its source was compiled, times ten; it may be a
/// lower one than the device's.
constexpr int kCompiledFor = 5;

/// The driver's functions with CUDA's own signatures.
struct DriverTable {
    Status (*init)(unsigned flags);
    Status (*driver_version)(int* version);  // 1000 * major + 10 * minor of the newest CUDA it supports
    Status (*error_text)(Status status, const char** text);
    Status (*device_count)(int* count);
    Status (*device_get)(DeviceId* device, int ordinal);
    Status (*device_name)(char* name, int length, DeviceId device);
    Status (*device_memory)(std::size_t* bytes, DeviceId device);
    Status (*device_attribute)(int* value, DeviceAttribute attribute, DeviceId device);

    Status (*context_retain)(Context* context, DeviceId device);
    Status (*context_release)(DeviceId device);
    Status (*context_reset)(DeviceId device);
    Status (*context_set_current)(Context context);
    Status (*module_load)(Module* module, const void* image);
    Status (*module_unload)(Module module);
    Status (*module_function)(Function* function, Module module, const char* name);

    Status (*memory_info)(std::size_t* free_bytes, std::size_t* total_bytes);
    Status (*memory_alloc)(DevicePtr* ptr, std::size_t bytes);
    Status (*memory_free)(DevicePtr ptr);
    Status (*pinned_alloc)(void** ptr, std::size_t bytes, unsigned flags);
    Status (*pinned_free)(void* ptr);
    Status (*host_register)(void* ptr, std::size_t bytes, unsigned flags);
    Status (*host_unregister)(void* ptr);
    Status (*copy_to_device)(DevicePtr to, const void* from, std::size_t bytes, Queue queue);
    Status (*copy_to_host)(void* to, DevicePtr from, std::size_t bytes, Queue queue);
    Status (*copy_rectangle)(const RectangleCopy* copy, Queue queue);
    Status (*copy_on_device)(DevicePtr to, DevicePtr from, std::size_t bytes, Queue queue);
    Status (*fill)(DevicePtr to, unsigned char value, std::size_t bytes, Queue queue);

    Status (*queue_create)(Queue* queue, unsigned flags, int priority);
    Status (*queue_destroy)(Queue queue);
    Status (*queue_synchronize)(Queue queue);
    Status (*queue_wait_event)(Queue queue, Event event, unsigned flags);
    Status (*queue_begin_capture)(Queue queue, int mode);
    Status (*queue_end_capture)(Queue queue, Graph* graph);
    Status (*event_create)(Event* event, unsigned flags);
    Status (*event_destroy)(Event event);
    Status (*event_record)(Event event, Queue queue);
    Status (*event_query)(Event event);
    Status (*event_synchronize)(Event event);
    Status (*event_elapsed_ms)(float* milliseconds, Event from, Event to);
    Status (*graph_instantiate)(GraphExec* exec, Graph graph, unsigned long long flags);
    Status (*graph_launch)(GraphExec exec, Queue queue);
    Status (*graph_destroy)(Graph graph);
    Status (*graph_exec_destroy)(GraphExec exec);
    Status (*launch_kernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, Queue queue, void** arguments,
                            void** extra);
    // Null where the driver does not have them.
    Status (*launch_kernel_ex)(const LaunchConfig* config, Function function, void** arguments, void** extra);
    Status (*function_attribute)(int* value, int attribute, Function function);
    Status (*device_luid)(char* luid, unsigned* node_mask, DeviceId device);  // eight bytes
};

/// The compiled kernels of one .cu file, for all architectures.
struct KernelImage {
    const char* file;  // without folder and suffix
    const void* fatbin;
};

/// Holds what this program was built with; no files where nvcc was missing.
struct KernelImages {
    std::span<const KernelImage> files;
    int cuda_version = 0;  // as DriverTable::driver_version
};
KernelImages kernel_images();

/// Holds the driver's library, which driver_library() opens on the first call and keeps. Where there is none, `table`
/// is null and `problem` says why in one sentence.
struct DriverLibrary {
    const DriverTable* table = nullptr;
    std::string problem;
};
const DriverLibrary& driver_library();

struct BlasLibrary;

/// Holds what the program computes with: the machine's driver and its own kernels, or what a test has put in their
/// place.
struct Platform {
    const DriverTable* table = nullptr;
    KernelImages images;
    std::string problem;
    const BlasLibrary& (*blas)() = nullptr;  // large, so opened when it is asked for; null: none
};
Platform platform();
/// Sets the platform to use from now on, for tests. One without a table sets the machine's own again.
void set_platform(const Platform& other);

/// An opened library and the function that finds its symbols. Where `library` is null, `problem` says why.
using Symbol = void* (*)(void* library, const char* name);
struct OpenedLibrary {
    void* library = nullptr;
    Symbol symbol = nullptr;
    std::string problem;
};
/// Opens the driver's library; each system has a version of its own.
OpenedLibrary open_driver_library();

/// Gives the slots of a table their functions in a library.
class Binder
{
public:
    Binder(Symbol symbol, void* library)
        : symbol_(symbol)
        , library_(library)
    {
    }
    template <class Slot>
    void operator()(Slot& slot, const char* name)
    {
        void* const found = symbol_(library_, name);
        if (!found && !missing_)
            missing_ = name;
        static_assert(sizeof slot == sizeof found);
        std::memcpy(&slot, &found, sizeof slot);
    }
    /// Sets a slot whose function the library may lack; the slot is null then.
    template <class Slot>
    void optional(Slot& slot, const char* name)
    {
        void* const found = symbol_(library_, name);
        std::memcpy(&slot, &found, sizeof slot);
    }
    /// Returns the name of the first function that the library lacks, or null.
    const char* missing() const { return missing_; }

private:
    const Symbol symbol_;
    void* const library_;
    const char* missing_ = nullptr;
};

/// Fills the table from a library's symbols. Returns the name of the first one that is missing, or null.
const char* fill_table(DriverTable& table, Symbol symbol, void* library);

template <class T>
struct [[nodiscard]] Answer {
    Status status = Status::Ok;
    T value{};  // meaningful when status is Ok
};

struct Dim {
    unsigned x = 1, y = 1, z = 1;
};

struct DeviceInfo {
    std::string name;
    int ordinal = 0;
    int compute_major = 0, compute_minor = 0;
    int multiprocessors = 0;
    int l2_bytes = 0;
    int clock_khz = 0;  // at most; 0: the driver does not say
    std::size_t memory_bytes = 0;
    int driver_version = 0;
    std::uint64_t luid = 0;  // Windows' number of the adapter (LUID), byte for byte; 0: none is known
};

struct ListedDevice {
    DeviceInfo info;
    std::string problem;  // why it cannot be used; empty: it can
};
/// The machine's devices, none of which is opened; nothing where there is no driver.
std::vector<ListedDevice> list_devices(const Platform& platform);
/// Says in one sentence why it lists none; empty: it lists some.
std::string why_no_device(const Platform& platform);

struct MemoryInfo {
    std::size_t free_bytes = 0, total_bytes = 0;
};

enum class Timing { Off, On };

/// One open device: its context, its kernels, its memory and queues. Owned by whoever opened it; all that was made
/// from it is given back before it is destroyed. Any thread may call it once it has called make_current(); each queue
/// is used by one thread at a time.
class Driver
{
public:
    struct Opened;

    /// Opens a device and loads all kernels; or says in one sentence why it cannot be used.
    static Opened open(const DriverTable& table, const KernelImages& images, int ordinal);

    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    const DeviceInfo& info() const { return info_; }
    Status make_current() const { return table_.context_set_current(context_); }
    std::string error_text(Status status) const;  // "out of memory (CUDA error 2)"

    Answer<MemoryInfo> memory() const;
    Answer<DevicePtr> alloc(std::size_t bytes) const;
    Status free(DevicePtr ptr) const { return table_.memory_free(ptr); }
    /// Page-locked host memory: copies to and from it run beside the host, and kernels reach it at its own address.
    Answer<void*> alloc_pinned(std::size_t bytes) const;
    Status free_pinned(void* ptr) const { return table_.pinned_free(ptr); }
    /// Page-locks memory that stays the caller's, also when the device is lost.
    Status pin(void* ptr, std::size_t bytes) const;
    Status unpin(void* ptr) const { return table_.host_unregister(ptr); }

    Answer<Queue> make_queue() const;
    Status destroy(Queue queue) const { return table_.queue_destroy(queue); }
    Status synchronize(Queue queue) const { return table_.queue_synchronize(queue); }
    Answer<Event> make_event(Timing timing = Timing::Off) const;
    Status destroy(Event event) const { return table_.event_destroy(event); }
    Status record(Event event, Queue queue) const { return table_.event_record(event, queue); }
    Status wait(Queue queue, Event event) const { return table_.queue_wait_event(queue, event, 0); }
    Status query(Event event) const { return table_.event_query(event); }  // Ok or NotReady
    Status synchronize(Event event) const { return table_.event_synchronize(event); }
    Answer<float> elapsed_ms(Event from, Event to) const;

    // Copies and fills are done in the order of their queue. The host's side must be pinned, or the call may wait.
    Status copy_to_device(DevicePtr to, const void* from, std::size_t bytes, Queue queue) const;
    Status copy_to_host(void* to, DevicePtr from, std::size_t bytes, Queue queue) const;
    /// Copies `height` runs of `width` bytes, each `pitch` bytes after the one before, on both sides.
    Status copy_runs_to_host(void* to, DevicePtr from, std::size_t width, std::size_t height, std::size_t pitch,
                             Queue queue) const;
    Status copy_on_device(DevicePtr to, DevicePtr from, std::size_t bytes, Queue queue) const;
    Status fill(DevicePtr to, std::uint8_t value, std::size_t bytes, Queue queue) const;

    /// Begins to keep what is queued instead of doing it; queues that wait for its events join in.
    Status begin_capture(Queue queue) const;
    Answer<GraphExec> end_capture(Queue queue) const;
    Status launch(GraphExec graph, Queue queue) const { return table_.graph_launch(graph, queue); }
    Status destroy(GraphExec graph) const { return table_.graph_exec_destroy(graph); }

    /// Queues a kernel. The arguments are of exactly the kernel's parameter types; a pointer is a DevicePtr.
    template <class... Args>
    Status launch(Kernel kernel, Dim grid, Dim block, unsigned shared_bytes, Queue queue, Args... args) const
    {
        void* arguments[] = {static_cast<void*>(&args)..., nullptr};
        return table_.launch_kernel(functions_[std::size_t(kernel)], grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                    shared_bytes, queue, arguments, nullptr);
    }

    /// Does the same for a kernel that waits for those before it by itself (device.h: wait_for_previous). Where device
    /// and driver can do that, it begins while they end.
    template <class... Args>
    Status launch_early(Kernel kernel, Dim grid, Dim block, unsigned shared_bytes, Queue queue, Args... args) const
    {
        if (!begins_early_)
            return launch(kernel, grid, block, shared_bytes, queue, args...);
        void* arguments[] = {static_cast<void*>(&args)..., nullptr};
        const LaunchAttribute early{.id = kMayBeginEarly, .value = 1};
        const LaunchConfig config{grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, queue, &early, 1};
        return table_.launch_kernel_ex(&config, functions_[std::size_t(kernel)], arguments, nullptr);
    }

private:
    friend std::vector<ListedDevice> list_devices(const Platform& platform);
    explicit Driver(const DriverTable& table)
        : table_(table)
    {
    }
    std::string describe(int ordinal, int built_for);
    std::string load(const KernelImages& images);
    bool can_begin_early() const;
    Status take_context();
    void give_context_back();
    bool reset_context() const;

    DriverTable table_;
    DeviceInfo info_;
    DeviceId device_ = 0;
    Context context_ = nullptr;
    std::array<Module, kKernelCount> modules_{};  // of as many files as there are, the rest null
    std::array<Function, kKernelCount> functions_{};
    bool begins_early_ = false;  // whether kernels that are launched early do begin early
};

struct Driver::Opened {
    std::unique_ptr<Driver> driver;
    std::string problem;  // one sentence, lower case, no full stop; empty when there is a driver
};

}  // namespace kernels::cuda
