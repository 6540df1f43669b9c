// Divides the KV that a device layer has on the host, in one decode step: a part goes over the link, the CPU attends
// the rest, and both happen while the device attends its own. The policy `auto` asks here.
#pragma once

namespace engine {

/// Holds what the attention of one layer costs in each way.
struct SplitCosts {
    double resident_s = 0;   // the device's attention, if all KV were there
    double ahead_bytes = 0;  // what the ring takes in while the weights are read
    double cpu_s_per_byte = 0, link_s_per_byte = 0, dram_s_per_byte = 0;
    double hand_off_s = 0;  // to the CPU and back
};

struct ThreeWaySplit {
    double streamed_bytes = 0;
    double seconds = 0;  // of the layer's attention
};

/// Returns the seconds where `streamed` of `host` bytes go over the link: the longest of what happens at the same time.
double split_seconds(double host, double streamed, const SplitCosts& costs);

/// Returns the fastest division.
ThreeWaySplit three_way_split(double host, const SplitCosts& costs);

/// Returns how many of `blocks` on the host are streamed in the fastest division by whole blocks.
int blocks_to_stream(int blocks, double block_bytes, const SplitCosts& costs);

}  // namespace engine
