// Holds the emulated driver's functions for the device, contexts, and modules of kernels.
#include "tests/support/cuda/emulated_state.h"
#include "tests/support/cuda/grid.h"

namespace emulator {

namespace {

Status init(unsigned)
{
    return Call(Call::Needs::Nothing).status;
}

Status driver_version(int* version)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        *version = gpu->facts.driver_version;
    return call.status;
}

Status error_text(Status status, const char** text)
{
    switch (status) {
    case Status::OutOfMemory:
        *text = "out of memory";
        return Status::Ok;
    case Status::LaunchFailed:
        *text = "unspecified launch failure";
        return Status::Ok;
    default:
        *text = "an emulated error";
        return Status::Ok;
    }
}

Status device_count(int* count)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        *count = gpu->facts.count;
    return call.status;
}

Status device_get(DeviceId* device, int ordinal)
{
    const Call call(Call::Needs::Nothing);
    if (call.refused())
        return call.status;
    *device = ordinal;
    return ordinal < gpu->facts.count ? Status::Ok : Status::InvalidDevice;
}

Status device_name(char* name, int length, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        name[gpu->facts.name.copy(name, std::size_t(length) - 1)] = '\0';
    return call.status;
}

Status device_memory(std::size_t* bytes, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        *bytes = gpu->facts.memory_bytes;
    return call.status;
}

Status device_attribute(int* value, DeviceAttribute attribute, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (call.refused())
        return call.status;
    switch (attribute) {
    case DeviceAttribute::Multiprocessors:
        *value = gpu->facts.multiprocessors;
        break;
    case DeviceAttribute::ClockKhz:
        *value = gpu->facts.clock_khz;
        break;
    case DeviceAttribute::L2Bytes:
        *value = 4 << 20;
        break;
    case DeviceAttribute::ComputeMajor:
        *value = gpu->facts.compute_major;
        break;
    case DeviceAttribute::ComputeMinor:
        *value = gpu->facts.compute_minor;
        break;
    }
    return Status::Ok;
}

Status context_retain(Context* context, DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (call.refused())
        return call.status;
    ++gpu->context_uses;
    *context = &gpu->context;
    return Status::Ok;
}

Status context_release(DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (gpu)
        --gpu->context_uses;
    return call.status;
}

Status context_reset(DeviceId)
{
    const Call call(Call::Needs::Nothing);
    if (gpu && gpu->context_uses > 0 && gpu->fault.empty())
        gpu->fault = "a context was reset that somebody uses";
    if (gpu && gpu->lost != Status::Ok && gpu->facts.returns_by_reset) {
        gpu->lost = Status::Ok;
        gpu->device.clear();
        gpu->used = 0;
        return Status::Ok;
    }
    return call.status;
}

Status context_set_current(Context context)
{
    const Call call(Call::Needs::Nothing);
    if (!call.refused())
        current_context = context;
    return call.status;
}

Status module_load(Module* module, const void* image)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (spoils_capture())
        return Status::CaptureUnsupported;
    *module = *gpu->modules.insert(new ModuleTag{static_cast<const char*>(image)}).first;
    return Status::Ok;
}

Status module_unload(Module module)
{
    const Call call;
    if (gpu && gpu->modules.erase(module))
        delete module;
    return call.status;
}

Status module_function(Function* function, Module module, const char* name)
{
    const Call call;
    if (call.refused())
        return call.status;
    const host::HostKernel* kernel = find_kernel(name);
    if (!gpu->modules.count(module) || !kernel)
        return Status::NotFound;
    *function = &gpu->functions.emplace(name, FunctionTag{kernel}).first->second;
    return Status::Ok;
}

Status function_attribute(int* value, int attribute, Function function)
{
    const Call call;
    if (call.refused())
        return call.status;
    if (!function || attribute != kCompiledFor)
        return Status::InvalidValue;
    *value = 10 * gpu->facts.compute_major + gpu->facts.compute_minor;
    return Status::Ok;
}

}  // namespace

void add_device_functions(DriverTable& table)
{
    table.init = init;
    table.driver_version = driver_version;
    table.error_text = error_text;
    table.device_count = device_count;
    table.device_get = device_get;
    table.device_name = device_name;
    table.device_memory = device_memory;
    table.device_attribute = device_attribute;
    table.context_retain = context_retain;
    table.context_release = context_release;
    table.context_reset = context_reset;
    table.context_set_current = context_set_current;
    table.module_load = module_load;
    table.module_unload = module_unload;
    table.module_function = module_function;
    table.function_attribute = function_attribute;
}

}  // namespace emulator
