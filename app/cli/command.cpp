#include "app/cli/command.h"

#include "app/cli/interrupt.h"
#include "app/cli/saved_rates.h"
#include "app/cli/system.h"
#include "engine/utf8_path.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>

namespace cli {

namespace {

/// Lists the names, separated by commas.
std::string kv_type_names()
{
    std::string names;
    for (const engine::NamedKvType& one : engine::kKvTypes)
        names += (names.empty() ? "" : ", ") + std::string(one.name);
    return names;
}

engine::Result<engine::KvType> kv_type(const std::string& name)
{
    if (const auto type = engine::kv_type_named(name))
        return *type;
    return engine::fail(engine::Error::Code::BadRequest, "the KV type '" + name + "' is none of " + kv_type_names());
}

/// Returns the option that is of no use without a device; null: none is. llama.cpp takes a GPU without being asked.
const char* without_device(const engine::PlacementText& text)
{
    if (text.layers != "auto" && text.layers != "0")
        return "-ngl";
    if (!text.vram_budget.empty())
        return "--vram-budget";
    if (!text.vram.empty())
        return "--vram";
    return text.expert_cache.empty() ? nullptr : "--expert-cache";
}

/// Takes off the byte order mark that editors of Windows write; PowerShell's own files are in UTF-16.
engine::Result<std::string> without_mark(std::string text, const std::string& path)
{
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return engine::fail(engine::Error::Code::BadRequest, path + " is in UTF-16; save it as UTF-8");
    if (text.starts_with("\xef\xbb\xbf"))
        text.erase(0, 3);
    return text;
}

}  // namespace

CLI::Option_group* CommonOptions::add_to(CLI::App& command, const std::string& file)
{
    auto* source = command.add_option_group("model", "the model: a file, or a shape");
    source->add_option(file + "-m,--model", model, "GGUF file (of a split model: any part)");
    source->add_option(
        "--shape", shape,
        "a model of random weights, made on the spot in the folder for temporary files: NAME:QUANT, such "
        "as mistral-7b:q4_k_m");
    source->require_option(1);
    add_placement_to(command);
    return source;
}

void CommonOptions::add_placement_to(CLI::App& command)
{
    command.add_option("-c,--ctx-size", load.context_tokens,
                       "context in tokens; 0: the model's own, or what memory allows");
    command.add_option("-t,--threads", load.threads, "threads; 0: one per physical core");
    command.add_flag("--pin-threads", load.pin_threads, "each thread but the first stays on a core of its own");
    command.add_option("-b,--batch-size", load.prefill_chunk_tokens,
                       "tokens of a prefill step; 0: 512, or as many as keep a GPU and its link busy");
    command.add_option("--ub,--ubatch-size", ubatch_tokens, "the same, and goes before -b");
    command.add_option("--cache-type-k,--ctk", k_type, "type of the KV cache's keys: " + kv_type_names());
    command.add_option("--cache-type-v,--ctv", v_type,
                       "type of the KV cache's values: " + kv_type_names() +
                           "; without effect where a value is a part of its key (latent attention)");
    command.add_option("--kv-block", load.kv_block_tokens, "tokens of a KV block, a multiple of 16");
    command.add_option("--device", placement.device,
                       "where to compute: cpu, cuda[:N], or emulated: a device in host memory");
    command.add_option("--ngl,--n-gpu-layers", placement.layers, "layers on the device, the first ones; auto");
    command.add_flag_callback(
        "--cmoe,--cpu-moe", [this] { placement.host_experts = "all"; },
        "routed experts of all layers on the host, the rest on the device");
    command.add_option("--ncmoe,--n-cpu-moe", placement.host_experts,
                       "layers, the first ones, whose routed experts lie on the host; auto");
    command.add_option(
        "--expert-cache", placement.expert_cache,
        "memory of the device for copies of the experts that tokens choose most: 2GiB; auto: as many as save more "
        "time than KV would");
    command
        .add_option_function<std::vector<std::string>>(
            "--ot,--override-tensor",
            [this](const std::vector<std::string>& words) {
                for (const std::string& word : words)
                    placement.override_tensor += (placement.override_tensor.empty() ? "" : ",") + word;
            },
            "REGEX=cpu, REGEX=cuda:0 or REGEX=emulated, separated by commas: where routed experts lie whose tensors "
            "have "
            "such names")
        ->allow_extra_args(false);
    command.add_option("--vram", placement.vram, "memory of an emulated device: 64MiB, or fit:TOKENS");
    command.add_option("--vram-budget", placement.vram_budget,
                       "what may be used of a device's memory: 48MiB, or fit:TOKENS");
    command.add_option("--link", placement.link, "speed of an emulated device's link: 16GB/s");
    command.add_option("--kv-policy", placement.kv_policy,
                       "KV beyond the device's memory: resident, stream, merge, auto, cpu-decode");
    command.add_option("--kv-offload-percentage,--cache-offload-percentage", placement.kv_offload_percentage,
                       "least percentage on the host, of the KV blocks that may leave the device");
    command.add_flag("--nkvo,--no-kv-offload", placement.no_kv_offload, "all KV on the host");
    command.add_flag("--json", json, "results as JSON");
}

engine::Status CommonOptions::make_shape()
{
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error)
        return engine::fail(engine::Error::Code::CannotWrite, "there is no folder for temporary files");
    const bool shown = stderr_is_terminal();
    auto made = engine::ShapeModel::make(shape, folder, [this, shown, last = -1](double share) mutable {
        if (const int percent = int(100 * share); shown && percent != last)
            std::fprintf(stderr, "\rmaking %s %3d %%", for_terminal(shape).c_str(), last = percent);
        return !interrupted();
    });
    if (shown)
        std::fprintf(stderr, "\r%60s\r", "");
    if (!made)
        return tl::unexpected(made.error());
    made_ = std::move(*made);
    return {};
}

engine::Result<engine::LoadRequest> CommonOptions::request(Computes who)
{
    engine::LoadRequest request = load;
    request.prefill_chunk_tokens = ubatch_tokens.value_or(load.prefill_chunk_tokens);
    const auto k = kv_type(k_type), v = kv_type(v_type);
    if (!k || !v)
        return tl::unexpected(!k ? k.error() : v.error());
    const auto placed = engine::parse_placement(placement);
    if (!placed)
        return tl::unexpected(placed.error());
    if (who == Computes::Here && placed->device == engine::PlacementOptions::Device::Cpu)
        if (const char* const option = without_device(placement))
            std::fprintf(stderr, "note: %s does nothing on the cpu; --device cuda takes a GPU\n", option);
    if (!shape.empty() && !made_)
        if (engine::Status ok = make_shape(); !ok)
            return tl::unexpected(ok.error());
    request.model = made_ ? made_->path() : engine::utf8_path(model);
    request.placement = *placed;
    if (placed->device == engine::PlacementOptions::Device::Cuda)
        if (auto rates = saved_rates(request.threads))
            request.placement.rates = std::make_shared<const engine::MachineRates>(std::move(*rates));
    request.k_type = *k;
    request.v_type = *v;
    return request;
}

void add_sampling(CLI::App& command, engine::SamplingOptions& s)
{
    command.add_option("--temp,--temperature", s.temperature, "temperature; 0: always the likeliest token");
    command.add_option("--top-k", s.top_k, "only the K likeliest tokens; 0: off");
    command.add_option("--top-p", s.top_p, "only the likeliest tokens that make up P; 1: off");
    command.add_option("--min-p", s.min_p, "only tokens at least P times as likely as the likeliest; 0: off");
    command.add_option("--typical", s.typical_p, "locally typical sampling; 1: off");
    command.add_option("--repeat-penalty", s.repeat_penalty, "1: off");
    command.add_option("--repeat-last-n", s.repeat_last_n, "tokens the penalties look back on; -1: all");
    command.add_option("--presence-penalty", s.presence_penalty);
    command.add_option("--frequency-penalty", s.frequency_penalty);
    command.add_option("--dry-multiplier", s.dry_multiplier, "0: off");
    command.add_option("--dry-base", s.dry_base);
    command.add_option("--dry-allowed-length", s.dry_allowed_length);
    command.add_option("--dry-penalty-last-n", s.dry_penalty_last_n);
    command.add_option("--xtc-probability", s.xtc_probability, "0: off");
    command.add_option("--xtc-threshold", s.xtc_threshold);
    command.add_option("-s,--seed", s.seed, "seed of the random choice; without it one is drawn");
}

int report(const engine::Error& error)
{
    std::fprintf(stderr, "error: %s\n", for_terminal(error.what).c_str());
    return kFailed;
}

engine::Listener progress_on_stderr()
{
    engine::Listener listener;
    listener.on_event = [](const engine::Event& event) {
        if (event.kind != engine::Event::Kind::LoadFinished && !event.sentence.empty())
            std::fprintf(stderr, "note: %s\n", for_terminal(event.sentence).c_str());
    };
    if (stderr_is_terminal())
        listener.on_load = [shown = -1](const engine::LoadProgress& p) mutable {
            const int percent = p.bytes_total > 0 ? int(100 * p.bytes_done / p.bytes_total) : 100;
            if (percent != shown)
                std::fprintf(stderr, "\rloading %3d %%%s", percent, percent == 100 ? "\r              \r" : "");
            shown = percent;
        };
    return listener;
}

engine::Result<std::string> read_text(const std::string& path)
{
    if (path == "-")
        return std::string(std::istreambuf_iterator<char>(std::cin), {});
    std::ifstream file(engine::utf8_path(path), std::ios::binary);
    std::ostringstream text;
    if (file.peek() != std::ifstream::traits_type::eof())  // the next line would fail for an empty file
        text << file.rdbuf();
    if (!file.is_open() || file.bad() || !text)
        return engine::fail(engine::Error::Code::CannotRead, "cannot read " + path);
    return without_mark(text.str(), path);
}

std::string for_terminal(std::string_view text)
{
    const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = at(i);
        const bool c1 = c == 0xc2 && at(i + 1) >= 0x80 && at(i + 1) < 0xa0;
        const bool reorders = c == 0xe2 && ((at(i + 1) == 0x80 && at(i + 2) >= 0xaa && at(i + 2) <= 0xae) ||
                                            (at(i + 1) == 0x81 && at(i + 2) >= 0xa6 && at(i + 2) <= 0xa9));
        if (c1)
            i += 1;  // U+0080..U+009F: control characters of eight-bit terminals
        else if (reorders)
            i += 2;  // U+202A..U+202E, U+2066..U+2069: they change the order in which text is shown
        else if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f))
            out += text[i];
    }
    return out;
}

}  // namespace cli
