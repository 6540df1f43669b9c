#include "engine/plan/three_way.h"

#include <algorithm>
#include <cmath>

namespace engine {

double split_seconds(double host, double streamed, const SplitCosts& c)
{
    const double attended = host - streamed;
    const double ahead = std::min(c.ahead_bytes, streamed);
    const double link = (streamed - ahead) * c.link_s_per_byte;
    const double cpu = attended > 0 ? attended * c.cpu_s_per_byte + c.hand_off_s : 0;
    const double dram = streamed > 0 ? (host - ahead) * c.dram_s_per_byte : 0;  // the CPU's rate is of DRAM already
    return std::max({c.resident_s, link, cpu, dram});
}

/// Returns the bytes to stream where the two times meet, which is best: the CPU's falls with them and the link's rises.
static double meeting_point(double host, const SplitCosts& c)
{
    const double meet = (host * c.cpu_s_per_byte + c.hand_off_s + c.ahead_bytes * c.link_s_per_byte) /
                        (c.cpu_s_per_byte + c.link_s_per_byte);
    return std::clamp(meet, std::min(c.ahead_bytes, host), host);
}

ThreeWaySplit three_way_split(double host, const SplitCosts& c)
{
    ThreeWaySplit best{host, split_seconds(host, host, c)};
    for (const double streamed : {meeting_point(host, c), std::min(c.ahead_bytes, host), 0.0})
        if (const double seconds = split_seconds(host, streamed, c); seconds < best.seconds)
            best = {streamed, seconds};
    return best;
}

int blocks_to_stream(int blocks, double block_bytes, const SplitCosts& c)
{
    const double host = blocks * block_bytes;
    const double meet = meeting_point(host, c) / block_bytes, ahead = std::min(c.ahead_bytes, host) / block_bytes;
    int best = blocks;
    for (const double streamed : {std::ceil(meet), std::floor(meet), std::floor(ahead), 0.0})
        if (split_seconds(host, streamed * block_bytes, c) < split_seconds(host, best * block_bytes, c))
            best = int(streamed);
    return best;
}

}  // namespace engine
