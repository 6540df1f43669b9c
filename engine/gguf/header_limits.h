// Bounds what reading a model's header may cost, whoever wrote it.
#pragma once

#include "engine/result.h"

#include <cstdint>
#include <stop_token>
#include <string>

namespace engine {

/// Elements of one array, those of arrays in it included. Vocabularies have under 300,000 tokens, and twice the merges.
constexpr std::uint64_t kMaxArrayElements = 1u << 22;
/// Elements of an array with one for each layer: the most layers a model can have.
constexpr std::uint64_t kMaxLayerElements = 4096;

/// Holds what is left for the headers of one model, all its parts together; far more than any model needs. With it any
/// header is read within seconds, in a few hundred megabytes.
struct HeaderLimits {
    std::stop_token stop = {};
    std::uint64_t bytes = std::uint64_t{256} << 20;
    std::uint64_t tensors = 1u << 17;

    /// Subtracts the bytes that were read. BadFile: there are fewer left.
    Status take_bytes(std::uint64_t read)
    {
        if (read > bytes)
            return fail(Error::Code::BadFile, "the file's header is larger than any model needs");
        bytes -= read;
        return {};
    }

    /// Call it every few thousand elements. Cancelled: reading is to stop.
    Status go_on() const
    {
        if (stop.stop_requested())
            return fail(Error::Code::Cancelled, "reading the file's header was stopped");
        return {};
    }
};

}  // namespace engine
