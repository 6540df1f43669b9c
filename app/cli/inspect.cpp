// inspect and devices: say what a file is, and which devices this machine has.
#include "app/cli/command.h"
#include "app/cli/predictions.h"

#include "engine/draft_model.h"
#include "engine/machine.h"
#include "engine/model_info.h"
#include "engine/utf8_path.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

nlohmann::ordered_json to_json(const engine::ModelInfo& m)
{
    nlohmann::ordered_json types = nlohmann::ordered_json::object();
    for (const auto& [type, bytes] : m.bytes_by_type)
        types[type] = bytes;
    return {{"path", engine::utf8_text(m.path)},
            {"name", m.name},
            {"architecture", m.architecture},
            {"quantization", m.quantization},
            {"parameters", m.parameters},
            {"file_bytes", m.file_bytes},
            {"weight_bytes", m.weight_bytes},
            {"split_files", m.split_files},
            {"context_tokens", m.context_tokens},
            {"layers", m.layers},
            {"embedding_length", m.embedding_length},
            {"heads", m.heads},
            {"kv_heads", m.kv_heads},
            {"vocabulary", m.vocabulary},
            {"experts", m.experts},
            {"experts_used", m.experts_used},
            {"kv_bytes_per_token_f16", m.kv_bytes_per_token_f16},
            {"recurrent_layers", m.memory.recurrent_layers},
            {"state_bytes", m.memory.state_bytes},
            {"tokenizer", m.tokenizer},
            {"has_chat_template", m.has_chat_template},
            {"license", m.license},
            {"bytes_by_type", types},
            {"warnings", m.warnings},
            {"runnable", m.runnable},
            {"obstacle", m.obstacle}};
}

void print(const engine::ModelInfo& m)
{
    const auto line = [](const char* name, const std::string& value) {
        if (!value.empty())
            std::printf("%-20s %s\n", name, for_terminal(value).c_str());
    };
    const auto megabytes = [](std::int64_t bytes) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f MB", double(bytes) / 1e6);
        return std::string(text);
    };
    line("name", m.name);
    line("architecture", m.architecture);
    line("quantization", m.quantization);
    line("parameters", std::to_string(m.parameters));
    line("file",
         megabytes(m.file_bytes) + (m.split_files > 1 ? " in " + std::to_string(m.split_files) + " files" : ""));
    line("context", std::to_string(m.context_tokens) + " tokens");
    line("layers", std::to_string(m.layers));
    line("embedding length", std::to_string(m.embedding_length));
    line("heads", std::to_string(m.heads) + ", KV heads " + std::to_string(m.kv_heads));
    line("vocabulary", std::to_string(m.vocabulary));
    if (m.experts > 0)
        line("experts", std::to_string(m.experts) + ", used " + std::to_string(m.experts_used));
    line("KV per token", std::to_string(m.kv_bytes_per_token_f16) + " bytes in f16");
    if (m.memory.recurrent_layers > 0)
        line("states", megabytes(m.memory.state_bytes) + " in " + std::to_string(m.memory.recurrent_layers) + " of " +
                           std::to_string(m.layers) + " layers, however long a conversation is");
    line("tokenizer", m.tokenizer);
    line("chat template", m.has_chat_template ? "yes" : "no");
    line("license", m.license);
    for (const auto& [type, bytes] : m.bytes_by_type)
        line(("  " + type).c_str(), megabytes(bytes));
    for (const std::string& warning : m.warnings)
        line("note", warning);
    if (!m.runnable)
        line("cannot run", m.obstacle);
}

struct InspectOptions {
    CommonOptions common;
    std::string draft_model;
};

int inspect(InspectOptions& asked)
{
    CommonOptions& options = asked.common;
    auto request = options.request();
    if (!request)
        return report(request.error());
    if (!asked.draft_model.empty()) {
        request->draft_model = engine::utf8_path(asked.draft_model);
        if (const engine::Status ok = engine::may_draft(request->model, request->draft_model); !ok)
            return report(ok.error());
    }
    const auto info = engine::inspect_model(request->model);
    if (!info)
        return report(info.error());
    nlohmann::ordered_json json = to_json(*info);
    if (!options.json)
        print(*info);
    json["predictions"] = nullptr;
    if (info->runnable) {
        const auto predictions = predict(*request);
        if (!predictions)  // the rest of what is known of the file is printed all the same
            std::fprintf(stderr, "note: nothing is predicted, since %s\n",
                         for_terminal(predictions.error().what).c_str());
        else if (options.json)
            json["predictions"] = *predictions;
        else
            print_predictions(*predictions);
    }
    if (options.json)
        std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return kDone;
}

int list_devices(bool json)
{
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const engine::DeviceInfo& device : engine::devices()) {
        const std::string description =
            device.description + (device.obstacle.empty() ? "" : "; it cannot be used: " + device.obstacle);
        nlohmann::ordered_json entry = {{"id", device.id},
                                        {"description", description},
                                        {"cores", device.cores},
                                        {"kernels", device.kernels},
                                        {"all_kernels", device.all_kernels},
                                        {"memory_total_bytes", nullptr},
                                        {"memory_available_bytes", nullptr}};
        if (device.memory_total_bytes)
            entry["memory_total_bytes"] = *device.memory_total_bytes;
        if (device.memory_available_bytes)
            entry["memory_available_bytes"] = *device.memory_available_bytes;
        list.push_back(entry);
        if (!json) {
            std::printf("%s  %s, kernels %s", device.id.c_str(), description.c_str(), device.kernels.c_str());
            if (device.memory_total_bytes && device.memory_available_bytes)
                std::printf(", memory %.1f of %.1f GB free", double(*device.memory_available_bytes) / 1e9,
                            double(*device.memory_total_bytes) / 1e9);
            std::puts("");
        }
    }
    if (json)
        std::printf("%s\n", list.dump(2).c_str());
    else if (const std::string why = engine::why_no_gpu(); !why.empty())
        std::printf("no GPU: %s\n", why.c_str());
    return kDone;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("inspect", "What a GGUF file is, takes and could do here, without loading it");
    auto options = std::make_shared<InspectOptions>();
    options->common.add_to(*command, "file,");
    command->add_option("--md,--model-draft", options->draft_model,
                        "GGUF file of a draft model: whether it has the same vocabulary, and what it takes");
    command->callback([options, &exit_code] { exit_code = inspect(*options); });

    auto json = std::make_shared<bool>(false);
    command = app.add_subcommand("devices", "What this machine can compute on");
    command->add_flag("--json", *json);
    command->callback([json, &exit_code] { exit_code = list_devices(*json); });
}

}  // namespace cli
