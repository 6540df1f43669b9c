// The rates as a small JSON text. Read back as a file from elsewhere: sizes and numbers are checked.
#include "engine/caught.h"
#include "engine/machine_rates.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace engine {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 9;
constexpr std::size_t kLongestText = 1 << 20;
constexpr std::size_t kMostRates = 1000, kMostPoints = 100, kLongestName = 200;
constexpr double kMostBytesPerS = 1e15;

Json optional(const std::optional<double>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json curve_json(const RateCurve& curve)
{
    Json points = Json::array();
    for (const RateCurve::Point& point : curve.points())
        points.push_back({point.set_bytes, point.bytes_per_s});
    return points;
}

/// Thrown where the text is not as to_json() writes it; parse_machine_rates() makes one sentence of it.
struct Wrong {
};

double positive(const Json& value)
{
    const double number = value.get<double>();
    if (!(number > 0) || number > kMostBytesPerS)
        throw Wrong();
    return number;
}

std::optional<double> optional_of(const Json& value)
{
    return value.is_null() ? std::nullopt : std::optional(positive(value));
}

/// Reads a rate that older files lack: the rest of them still holds.
std::optional<double> newer(const Json& rates, const char* name)
{
    return optional_of(rates.value(name, Json(nullptr)));
}

std::string text_of(const Json& value)
{
    auto text = value.get<std::string>();
    if (text.size() > kLongestName)
        throw Wrong();
    return text;
}

int count_of(const Json& value, int most)
{
    const double number = value.get<double>();
    if (!(number >= 1) || number > most || number != std::floor(number))
        throw Wrong();
    return int(number);
}

const Json& list_of(const Json& value, std::size_t most)
{
    if (!value.is_array() || value.size() > most)
        throw Wrong();
    return value;
}

RateCurve curve_of(const Json& value)
{
    std::vector<RateCurve::Point> points;
    for (const Json& point : list_of(value, kMostPoints))
        points.push_back({positive(point.at(0)), positive(point.at(1))});
    if (points.empty())
        throw Wrong();
    return RateCurve(std::move(points));
}

KvType kv_type_of(const Json& value)
{
    const auto type = kv_type_named(text_of(value));
    return type ? *type : throw Wrong();
}

MachineRates rates_of(const Json& json)
{
    constexpr int kMostLength = 1 << 24;
    MachineRates rates;
    rates.cpu = text_of(json.at("cpu"));
    rates.kernels = text_of(json.at("kernels"));
    rates.threads = count_of(json.at("threads"), 1024);
    rates.dram_read_bytes_per_s = optional_of(json.at("dram_read_bytes_per_s"));
    rates.values_per_s = optional_of(json.at("values_per_s"));
    rates.wake_s = optional_of(json.at("wake_s"));
    rates.token_s = optional_of(json.at("token_s"));
    rates.choice_s_per_value = optional_of(json.at("choice_s_per_value"));
    rates.copy_start_s = optional_of(json.at("copy_start_s"));
    rates.stream_bytes_per_s = optional_of(json.at("stream_bytes_per_s"));
    for (const Json& rate : list_of(json.at("products"), kMostRates))
        rates.products.push_back({text_of(rate.at("type")), count_of(rate.at("row_length"), kMostLength),
                                  curve_of(rate.at("bytes_per_s_by_set")), newer(rate, "prompt_ops_per_s")});
    for (const Json& rate : list_of(json.at("attention"), kMostRates))
        rates.attention.push_back({kv_type_of(rate.at("k_type")), kv_type_of(rate.at("v_type")),
                                   count_of(rate.at("head_length"), kMostLength),
                                   count_of(rate.at("group"), kMostLength), curve_of(rate.at("bytes_per_s_by_set"))});
    const Json& devices = json.at("devices");
    if (!devices.is_object() || devices.size() > kMostRates)
        throw Wrong();
    for (const auto& [id, device] : devices.items())
        rates.devices[id.substr(0, kLongestName)] = {
            .name = text_of(device.at("name")),
            .copy_bytes_per_s = optional_of(device.at("copy_bytes_per_s")),
            .weights_bytes_per_s = optional_of(device.at("weights_bytes_per_s")),
            .small_kernels_s = optional_of(device.at("small_kernels_s")),
            .attention_bytes_per_s = optional_of(device.at("attention_bytes_per_s")),
            .attention_q8_0_bytes_per_s = optional_of(device.at("attention_q8_0_bytes_per_s")),
            .to_device_bytes_per_s = optional_of(device.at("to_device_bytes_per_s")),
            .to_host_bytes_per_s = optional_of(device.at("to_host_bytes_per_s")),
            .unlocked_to_device_bytes_per_s = newer(device, "unlocked_to_device_bytes_per_s"),
            .stream_bytes_per_s = newer(device, "stream_bytes_per_s"),
            .hand_off_s = optional_of(device.at("hand_off_s")),
            .flag_hand_off_s = optional_of(device.at("flag_hand_off_s")),
            .matmul_ops_per_s = optional_of(device.at("matmul_ops_per_s")),
            .blas_ops_per_s = optional_of(device.at("blas_ops_per_s"))};
    return rates;
}

}  // namespace

std::string to_json(const MachineRates& rates)
{
    Json products = Json::array(), attention = Json::array(), devices = Json::object();
    for (const ProductRate& rate : rates.products)
        products.push_back({{"type", rate.type},
                            {"row_length", rate.row_length},
                            {"bytes_per_s_by_set", curve_json(rate.curve)},
                            {"prompt_ops_per_s", optional(rate.prompt_ops_per_s)}});
    for (const AttentionRate& rate : rates.attention)
        attention.push_back({{"k_type", name_of(rate.k_type)},
                             {"v_type", name_of(rate.v_type)},
                             {"head_length", rate.head_length},
                             {"group", rate.group},
                             {"bytes_per_s_by_set", curve_json(rate.curve)}});
    for (const auto& [id, device] : rates.devices)
        devices[id] = {{"name", device.name},
                       {"copy_bytes_per_s", optional(device.copy_bytes_per_s)},
                       {"weights_bytes_per_s", optional(device.weights_bytes_per_s)},
                       {"small_kernels_s", optional(device.small_kernels_s)},
                       {"attention_bytes_per_s", optional(device.attention_bytes_per_s)},
                       {"attention_q8_0_bytes_per_s", optional(device.attention_q8_0_bytes_per_s)},
                       {"to_device_bytes_per_s", optional(device.to_device_bytes_per_s)},
                       {"to_host_bytes_per_s", optional(device.to_host_bytes_per_s)},
                       {"unlocked_to_device_bytes_per_s", optional(device.unlocked_to_device_bytes_per_s)},
                       {"stream_bytes_per_s", optional(device.stream_bytes_per_s)},
                       {"hand_off_s", optional(device.hand_off_s)},
                       {"flag_hand_off_s", optional(device.flag_hand_off_s)},
                       {"matmul_ops_per_s", optional(device.matmul_ops_per_s)},
                       {"blas_ops_per_s", optional(device.blas_ops_per_s)}};
    const Json json = {{"version", kVersion},
                       {"cpu", rates.cpu},
                       {"kernels", rates.kernels},
                       {"threads", rates.threads},
                       {"dram_read_bytes_per_s", optional(rates.dram_read_bytes_per_s)},
                       {"values_per_s", optional(rates.values_per_s)},
                       {"wake_s", optional(rates.wake_s)},
                       {"token_s", optional(rates.token_s)},
                       {"choice_s_per_value", optional(rates.choice_s_per_value)},
                       {"copy_start_s", optional(rates.copy_start_s)},
                       {"stream_bytes_per_s", optional(rates.stream_bytes_per_s)},
                       {"products", products},
                       {"attention", attention},
                       {"devices", devices}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

Result<MachineRates> parse_machine_rates(std::string_view text)
try {
    if (text.size() > kLongestText)
        return fail(Error::Code::BadFile, "the rates of this machine take more room than they can");
    const Json json = Json::parse(text);
    if (json.at("version") != kVersion)
        return fail(Error::Code::BadFile, "the rates of this machine were written by another version");
    return rates_of(json);
} catch (const Wrong&) {
    return fail(Error::Code::BadFile, "the rates of this machine hold a number that makes no sense");
} catch (const Json::exception&) {
    return fail(Error::Code::BadFile, "the rates of this machine are not what this program writes");
} catch (...) {
    return caught("to read the rates of this machine");
}

}  // namespace engine
