// Reads the command line's words for a placement, the same for the window and for spillway-cli.
#pragma once

#include "engine/placement_options.h"
#include "engine/result.h"

#include <string>
#include <string_view>

namespace engine {

struct PlacementText {
    std::string device = "cpu";         // cpu, cuda, cuda:1, emulated
    std::string layers = "auto";        // a number, or as many as fit
    std::string host_experts = "auto";  // a number of layers, "all", or as many as KV drives out
    std::string expert_cache;           // "2GiB": for copies of experts that lie on the host; auto; empty: none
    std::string override_tensor;        // "REGEX=cpu,REGEX=cuda:0,...": which experts lie where, as in llama.cpp
    std::string vram;                   // "64MiB", or "fit:1024": room for this many tokens beside the model
    std::string vram_budget;            // "48MiB", or "fit:4096" as for vram; empty: all of it
    std::string link = "16GB/s";        // of the emulated device
    std::string kv_policy = "auto";     // resident, stream, merge, auto, cpu-decode
    double kv_offload_percentage = 0;
    bool no_kv_offload = false;  // -nkvo: all KV on the host
};

/// Reads the words of a command line. BadRequest names the word that is wrong.
Result<PlacementOptions> parse_placement(const PlacementText& text);

/// Reads a number of bytes: "48MiB", "2GB", "123". BadRequest.
Result<std::int64_t> parse_bytes(std::string_view text);

std::string_view name_of(KvPolicy policy);

}  // namespace engine
