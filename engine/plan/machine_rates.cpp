#include "engine/machine_rates.h"

#include "engine/machine.h"
#include "engine/metrics/host_probe.h"
#include "kernels/cpu.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

/// Interpolates at `at` between (x0, y0) and (x1, y1); outside it is as at the nearer end.
double between(double at, double x0, double y0, double x1, double y1)
{
    const double t = x1 > x0 ? std::clamp((at - x0) / (x1 - x0), 0.0, 1.0) : 0.0;
    return y0 + t * (y1 - y0);
}

}  // namespace

RateCurve::RateCurve(std::vector<Point> points)
    : points_(std::move(points))
{
    std::ranges::sort(points_, {}, &Point::set_bytes);
    double slowest = std::numeric_limits<double>::max();
    for (Point& point : points_)
        point.bytes_per_s = slowest = std::min(slowest, point.bytes_per_s);
}

double RateCurve::seconds_per_byte(double set_bytes) const
{
    const auto above = std::ranges::find_if(points_, [&](const Point& p) { return p.set_bytes >= set_bytes; });
    if (above == points_.begin())
        return 1 / points_.front().bytes_per_s;
    if (above == points_.end())
        return 1 / points_.back().bytes_per_s;
    const Point& below = *(above - 1);
    return between(std::log(set_bytes), std::log(below.set_bytes), 1 / below.bytes_per_s, std::log(above->set_bytes),
                   1 / above->bytes_per_s);
}

DeviceRates MachineRates::device_rates(const std::string& id, std::string_view name, KvType k_type, KvType v_type) const
{
    const auto found = devices.find(id);
    if (found == devices.end() || found->second.name != name)
        return {};
    DeviceRates device = found->second;
    if (k_type == KvType::Q8_0 && v_type == KvType::Q8_0 && device.attention_q8_0_bytes_per_s)
        device.attention_bytes_per_s = device.attention_q8_0_bytes_per_s;
    return device;
}

std::optional<double> MachineRates::product_seconds(std::string_view type, int row_length, double bytes,
                                                    double set_bytes) const
{
    // A row costs something by itself, so that time per byte is linear in 1 / length.
    const ProductRate *shorter = nullptr, *longer = nullptr;
    for (const ProductRate& rate : products) {
        if (rate.type != type)
            continue;
        if (rate.row_length <= row_length && (!shorter || rate.row_length > shorter->row_length))
            shorter = &rate;
        if (rate.row_length >= row_length && (!longer || rate.row_length < longer->row_length))
            longer = &rate;
    }
    if (!shorter && !longer)
        return std::nullopt;
    if (!shorter || !longer)
        return bytes * (shorter ? shorter : longer)->curve.seconds_per_byte(set_bytes);
    return bytes * between(1.0 / row_length, 1.0 / longer->row_length, longer->curve.seconds_per_byte(set_bytes),
                           1.0 / shorter->row_length, shorter->curve.seconds_per_byte(set_bytes));
}

std::optional<double> MachineRates::prompt_seconds(std::string_view type, int row_length, double operations) const
{
    const ProductRate* nearest = nullptr;
    const auto distance = [&](const ProductRate& rate) {
        return std::abs(std::log(double(rate.row_length) / row_length));
    };
    for (const ProductRate& rate : products)
        if (rate.type == type && rate.prompt_ops_per_s && (!nearest || distance(rate) < distance(*nearest)))
            nearest = &rate;
    return nearest ? std::optional(operations / *nearest->prompt_ops_per_s) : std::nullopt;
}

std::optional<double> MachineRates::attention_seconds(KvType k_type, KvType v_type, int head_length, int group,
                                                      double bytes, double set_bytes) const
{
    int nearest = 0;
    for (const AttentionRate& rate : attention)
        if (rate.k_type == k_type && rate.v_type == v_type &&
            (nearest == 0 || std::abs(std::log(double(rate.head_length) / head_length)) <
                                 std::abs(std::log(double(nearest) / head_length))))
            nearest = rate.head_length;
    if (nearest == 0 && k_type != v_type) {
        const auto keys = attention_seconds(k_type, k_type, head_length, group, bytes, set_bytes);
        const auto values = attention_seconds(v_type, v_type, head_length, group, bytes, set_bytes);
        return keys && values ? std::optional((*keys + *values) / 2) : std::nullopt;
    }
    const AttentionRate *fewer = nullptr, *more = nullptr;
    for (const AttentionRate& rate : attention) {
        if (rate.k_type != k_type || rate.v_type != v_type || rate.head_length != nearest)
            continue;
        if (rate.group <= group && (!fewer || rate.group > fewer->group))
            fewer = &rate;
        if (rate.group >= group && (!more || rate.group < more->group))
            more = &rate;
    }
    if (!fewer && !more)
        return std::nullopt;
    if (!more)  // the query heads of a group share each byte read, not the arithmetic
        return bytes * fewer->curve.seconds_per_byte(set_bytes) * group / fewer->group;
    if (!fewer)
        fewer = more;
    return bytes * between(group, fewer->group, fewer->curve.seconds_per_byte(set_bytes), more->group,
                           more->curve.seconds_per_byte(set_bytes));
}

bool hold_here(const MachineRates& rates, int threads)
{
    return rates.cpu == cpu_device().description && rates.kernels == kernels::cpu_kernels().name &&
           rates.threads == (threads > 0 ? threads : physical_cores());
}

}  // namespace engine
