#include "app/cli/predictions.h"

#include "app/cli/saved_rates.h"
#include "engine/planner.h"

#include <array>
#include <cstdio>

namespace cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kContexts = {0, 4096, 8192, 16384, 32768, 65536, 131072};
constexpr std::array kPolicies = {engine::KvPolicy::Resident, engine::KvPolicy::Stream, engine::KvPolicy::Merge,
                                  engine::KvPolicy::Auto, engine::KvPolicy::CpuDecode};

Json to_json(const engine::MemoryUse& use)
{
    return {{"weight_bytes", use.weight_bytes}, {"kv_bytes", use.kv_bytes},           {"state_bytes", use.state_bytes},
            {"ring_bytes", use.ring_bytes},     {"scratch_bytes", use.scratch_bytes}, {"total_bytes", use.total()}};
}

Json to_json(const engine::PlanRow& row)
{
    Json json = {{"context_tokens", row.context_tokens},
                 {"beyond_trained_context", row.beyond_training},
                 {"host", to_json(row.host)},
                 {"device", nullptr},
                 {"draft_model", nullptr},
                 {"device_layers", row.device_layers},
                 {"host_expert_layers", row.host_expert_layers},
                 {"expert_cache_bytes", row.expert_cache_bytes},
                 {"experts", nullptr},
                 {"kv_share_on_host", row.kv_share_on_host},
                 {"stops", row.stops},
                 {"tok_s", nullptr}};
    if (row.device)
        json["device"] = to_json(*row.device);
    if (row.draft_model)
        json["draft_model"] = to_json(*row.draft_model);
    if (row.experts) {
        const auto ms = [](std::optional<double> s) { return s ? Json(*s * 1000) : Json(); };
        json["experts"] = {{"bytes", row.experts->bytes},
                           {"share", row.experts->share},
                           {"saved_ms", ms(row.experts->saved_s)},
                           {"kv_columns_on_host", row.experts->kv_columns_on_host},
                           {"kv_would_save_ms", ms(row.experts->kv_saved_s)},
                           {"sentence", engine::sentence_of(*row.experts)}};
    }
    if (row.tok_s)
        json["tok_s"] = *row.tok_s;
    return json;
}

double megabytes(const Json& bytes)
{
    return bytes.get<double>() / 1e6;
}

std::string context_name(const Json& row)
{
    const int tokens = row["context_tokens"];
    return std::to_string(tokens < 1024 ? tokens : tokens / 1024) + (tokens < 1024 ? "" : "K") +
           (row["beyond_trained_context"] ? "*" : "");
}

void print_header(std::initializer_list<const char*> names, const Json& rows)
{
    std::string dashes;
    for (const char* name : names) {
        std::printf("| %s ", name);
        dashes += "| --- ";
    }
    for (const Json& row : rows) {
        std::printf("| %s ", context_name(row).c_str());
        dashes += "| --- ";
    }
    std::printf("|\n%s|\n", dashes.c_str());
}

void print_memory(const Json& plan)
{
    const bool device = !plan["rows"][0]["device"].is_null();
    std::printf("\nKV %s", plan["kv_type"].get<std::string>().c_str());
    if (device) {
        std::printf(", %d of %d layers on the device, %.1f MB below its watermark, ", plan["device_layers"].get<int>(),
                    plan["layers"].get<int>(), megabytes(plan["device_watermark_bytes"]));
        if (plan["expert_layers"] > 0)
            std::printf("experts of %d to %d layers on the host, ",
                        plan["rows"].front()["host_expert_layers"].get<int>(),
                        plan["rows"].back()["host_expert_layers"].get<int>());
        if (plan["spill_tokens"].is_null())
            std::printf("no block ever leaves");
        else
            std::printf("full at %d tokens", plan["spill_tokens"].get<int>());
    }
    std::printf("; MB:\n");
    print_header({"memory", "weights", "states", "ring", "scratch", "KV at"}, plan["rows"]);
    for (const char* memory : {"host", "device", "draft_model"}) {
        if (plan["rows"][0][memory].is_null())
            continue;
        const Json& fixed = plan["rows"][0][memory];
        const char* const name = std::string_view(memory) == "draft_model" ? "draft model, on the host" : memory;
        std::printf("| %s | %.1f | %.1f | %.1f | %.1f | ", name, megabytes(fixed["weight_bytes"]),
                    megabytes(plan["rows"].back()[memory]["state_bytes"]), megabytes(fixed["ring_bytes"]),
                    megabytes(fixed["scratch_bytes"]));
        for (const Json& row : plan["rows"])
            std::printf("| %.1f ", megabytes(row[memory]["kv_bytes"]));
        std::puts("|");
    }
    // Says why experts lie where they do; of several contexts with the same reason only at the last.
    for (std::size_t i = 0; i < plan["rows"].size(); ++i) {
        const Json& experts = plan["rows"][i]["experts"];
        const bool again = i + 1 < plan["rows"].size() && experts == plan["rows"][i + 1]["experts"];
        if (!experts.is_null() && !again && experts["sentence"] != "")
            std::printf("at %s tokens %s\n", context_name(plan["rows"][i]).c_str(),
                        experts["sentence"].get<std::string>().c_str());
    }
}

void print_speed(const Json& plan)
{
    std::printf("| %s | %s ", plan["kv_type"].get<std::string>().c_str(),
                plan["kv_policy"].is_null() ? "cpu" : plan["kv_policy"].get<std::string>().c_str());
    for (const Json& row : plan["rows"])
        if (row["stops"])
            std::printf("| stops ");
        else if (row["tok_s"].is_null())
            std::printf("| unknown ");
        else
            std::printf("| %.1f ", row["tok_s"].get<double>());
    std::puts("|");
}

}  // namespace

engine::Result<Json> predict(const engine::LoadRequest& request)
{
    const auto planner = engine::Planner::open(request.model);
    if (!planner)
        return tl::unexpected(planner.error());
    const auto rates = saved_rates(request.threads);
    const bool device = request.placement.device != engine::PlacementOptions::Device::Cpu;
    Json plans = Json::array();
    for (const auto& [type, name] : engine::kKvTypes)
        for (const engine::KvPolicy policy : kPolicies) {
            engine::LoadRequest each = request;
            each.k_type = each.v_type = type;
            each.placement.kv_policy = policy;
            const auto plan = planner->plan(each, kContexts, rates ? &*rates : nullptr);
            // A GPU may lack kernels for one of the types and still compute with the others.
            if (!plan && plan.error().code == engine::Error::Code::Unsupported && !plans.empty())
                break;
            if (!plan)
                return tl::unexpected(plan.error());
            Json json = {{"kv_type", name},
                         {"kv_policy", nullptr},
                         {"layers", plan->layers},
                         {"device_layers", plan->device_layers},
                         {"expert_layers", plan->expert_layers},
                         {"device_budget_bytes", plan->device_budget_bytes},
                         {"device_watermark_bytes", plan->device_watermark_bytes},
                         {"spill_tokens", nullptr},
                         {"rows", Json::array()}};
            if (device)
                json["kv_policy"] = std::string(engine::name_of(policy));
            if (plan->spill_tokens)
                json["spill_tokens"] = *plan->spill_tokens;
            for (const engine::PlanRow& row : plan->rows)
                json["rows"].push_back(to_json(row));
            plans.push_back(std::move(json));
            if (!device)
                break;
        }
    return Json{{"rates_known", rates.has_value()},
                {"trained_context_tokens", planner->context_length()},
                {"plans", std::move(plans)}};
}

void print_predictions(const Json& predictions)
{
    const Json& plans = predictions["plans"];
    std::string shown;
    for (const Json& plan : plans)  // one policy stands for all: only `resident` uses more memory, the whole budget
        if (plan["kv_type"] != shown && (plan["kv_policy"].is_null() || plan["kv_policy"] == "auto")) {
            print_memory(plan);
            shown = plan["kv_type"];
        }
    std::printf("\nPredicted tokens a second:\n");
    print_header({"KV", "policy"}, plans[0]["rows"]);
    for (const Json& plan : plans)
        print_speed(plan);
    if (plans[0]["rows"].back()["beyond_trained_context"])
        std::printf("\n* beyond the %d tokens the model was made for\n",
                    predictions["trained_context_tokens"].get<int>());
    if (!predictions["rates_known"])
        std::printf("\nThe rates of this machine are not known for so many threads: run spillway-cli calibrate.\n");
}

}  // namespace cli
