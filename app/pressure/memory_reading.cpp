#include "app/pressure/memory_reading.h"

#include <algorithm>

MemoryReading MemoryReading::ofDevice(const engine::Telemetry& frame)
{
    MemoryReading reading;
    if (!frame.device)
        return reading;
    const engine::DeviceTelemetry& device = *frame.device;
    reading.known = true;
    reading.weights = double(device.weight_bytes - device.expert_cache_bytes);
    reading.experts = double(device.expert_cache_bytes);
    reading.kv = double(device.kv_bytes);
    reading.state = double(device.state_bytes);
    reading.scratch = double(device.ring_bytes + device.scratch_bytes + device.kv_ahead_bytes);
    reading.others = double(device.other_programs_bytes);
    reading.total = double(device.total_bytes);
    reading.budget = double(device.budget_bytes);
    const double ours =
        reading.budget > 0 ? std::min(reading.budget, reading.total - reading.others) : reading.total - reading.others;
    reading.free = std::max(0.0, ours - reading.used());
    reading.watermark = double(device.watermark_bytes);
    return reading;
}

MemoryReading MemoryReading::ofHost(const engine::Telemetry& frame)
{
    MemoryReading reading;
    if (!frame.ram_total_bytes || !frame.ram_available_bytes)
        return reading;
    reading.known = true;
    reading.weights = double(frame.weight_bytes_host);
    reading.kv = double(frame.kv_bytes_host);
    reading.state = double(frame.state_bytes_host);
    reading.scratch = double(frame.scratch_bytes);
    for (const auto& guesser : {frame.draft_model, frame.mtp}) {
        if (!guesser)
            continue;
        reading.weights += double(guesser->weight_bytes);
        reading.kv += double(guesser->kv_bytes);
        reading.scratch += double(guesser->scratch_bytes);
    }
    reading.total = double(*frame.ram_total_bytes);
    // RAM that is not available is held by this program or by others.
    const double taken = reading.total - double(*frame.ram_available_bytes);
    const double ours = double(frame.process_resident_bytes.value_or(std::int64_t(reading.used())));
    reading.others = std::max(0.0, taken - ours);
    reading.free = std::max(0.0, reading.total - reading.used() - reading.others);
    return reading;
}

#include "moc_memory_reading.cpp"
