#include "engine/run/placement_checks.h"

#include <cmath>
#include <string>

namespace engine {

static std::string percent(double share)
{
    return std::to_string(std::lround(100 * share));
}

Status check(const PlacementOptions& options)
{
    if (options.emulated.vram_bytes < 0 || options.emulated.fit_tokens < 0 || options.emulated.link_bytes_per_s < 0 ||
        options.vram_budget_bytes < 0)
        return fail(Error::Code::BadRequest,
                    "a device cannot have less than no memory, and no link less than no speed");
    if (options.device_layers.value_or(0) < 0)
        return fail(Error::Code::BadRequest, "a device cannot hold less than no layer");
    if (options.host_expert_layers.value_or(0) < 0)
        return fail(Error::Code::BadRequest, "the host cannot have the experts of less than no layer");
    if (options.expert_cache_bytes.value_or(0) < 0)
        return fail(Error::Code::BadRequest, "copies of experts cannot have less than no memory");
    if (!(options.watermark >= kLowestWatermark && options.watermark <= kHighestWatermark))
        return fail(Error::Code::BadRequest, "the watermark must be between " + percent(kLowestWatermark) + " and " +
                                                 percent(kHighestWatermark) + " percent of the budget");
    if (!(options.kv_offload_share >= 0 && options.kv_offload_share <= 1))
        return fail(Error::Code::BadRequest, "between 0 and 100 percent of the KV cache can lie on the host");
    return {};
}

}  // namespace engine
