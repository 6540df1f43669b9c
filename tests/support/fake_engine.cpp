#include "tests/support/fake_engine.h"

#include <algorithm>
#include <condition_variable>
#include <sstream>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

/// Sleeps until then; returns false where a stop came first.
bool sleep_until(Clock::time_point then, const std::stop_token& stop)
{
    if (stop.stop_requested())
        return false;
    if (then <= Clock::now())
        return true;
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_until(lock, stop, then, [] { return false; });
    return !stop.stop_requested();
}

}  // namespace

FakeScript::Settings FakeScript::settings() const
{
    const std::lock_guard lock(mutex_);
    return settings_;
}

int FakeScript::counted_prompts() const
{
    const std::lock_guard lock(mutex_);
    return counted_prompts_;
}

int FakeScript::counted_texts() const
{
    const std::lock_guard lock(mutex_);
    return counted_texts_;
}

std::vector<engine::Request> FakeScript::requests() const
{
    const std::lock_guard lock(mutex_);
    return requests_;
}

std::vector<engine::LoadRequest> FakeScript::loads() const
{
    const std::lock_guard lock(mutex_);
    return loads_;
}

std::vector<engine::Command> FakeScript::commands() const
{
    const std::lock_guard lock(mutex_);
    return commands_;
}

int FakeScript::live_engines() const
{
    const std::lock_guard lock(mutex_);
    return live_engines_;
}

int FakeScript::stopped_turns() const
{
    const std::lock_guard lock(mutex_);
    return stopped_turns_;
}

int FakeScript::live_sequences() const
{
    const std::lock_guard lock(mutex_);
    return live_sequences_;
}

std::vector<engine::SequenceId> FakeScript::sequences() const
{
    const std::lock_guard lock(mutex_);
    return sequences_;
}

std::vector<engine::SequenceId> FakeScript::branched_from() const
{
    const std::lock_guard lock(mutex_);
    return branched_from_;
}

engine::ModelInfo FakeScript::model(const std::filesystem::path& path) const
{
    const Settings now = settings();
    engine::ModelInfo info;
    info.path = path;
    info.name = path.stem().string();
    info.architecture = "llama";
    info.quantization = "Q4_K_M";
    info.parameters = 1'235'814'432;
    info.file_bytes = 807'694'464;
    info.weight_bytes = 799'862'912;
    if (info.name.starts_with("half-")) {  // of even fewer bytes than half, since draft models have to be small
        info.file_bytes = 207'694'464;
        info.weight_bytes = 199'862'912;
    }
    info.context_tokens = now.context_tokens;
    info.layers = 16;
    info.heads = 32;
    info.kv_heads = 8;
    info.kv_bytes_per_token_f16 = 32768;
    const std::int64_t heads = (16 - now.recurrent_layers) * 8;
    info.memory = {.kv_heads = heads, .key_numbers = heads * 64, .value_numbers = heads * 64};
    info.memory.kv_layers = 16 - now.recurrent_layers;
    info.memory.recurrent_layers = now.recurrent_layers;
    info.memory.state_bytes = now.recurrent_layers * std::int64_t(100'000);
    info.has_chat_template = now.has_chat_template;
    info.template_arguments = now.template_arguments;
    info.runnable = now.runnable;
    if (!now.runnable)
        info.obstacle = "this version cannot run the architecture 'mamba'";
    return info;
}

/// Returns a frame that says where everything lies while no turn runs.
engine::Telemetry FakeEngine::placement_frame(const FakeScript::Settings& settings, int context_limit)
{
    engine::Telemetry frame;
    frame.context_limit = context_limit;
    frame.device = settings.device;
    frame.kv_map = settings.kv_map;
    frame.expert_map = settings.expert_map;
    frame.threads = settings.threads;
    frame.cores = settings.cores;
    return frame;
}

FakeEngine::FakeEngine(std::shared_ptr<FakeScript> script)
    : script_(std::move(script))
{
    const std::lock_guard lock(script_->mutex_);
    ++script_->live_engines_;
}

FakeEngine::~FakeEngine()
{
    const std::lock_guard lock(script_->mutex_);
    --script_->live_engines_;
}

engine::Result<engine::ModelInfo> FakeEngine::load(const engine::LoadRequest& request, const engine::Listener& listener,
                                                   std::stop_token stop)
{
    unload();
    {
        const std::lock_guard lock(script_->mutex_);
        script_->loads_.push_back(request);
    }
    const FakeScript::Settings settings = script_->settings();
    engine::ModelInfo info = script_->model(request.model);
    constexpr int kSteps = 50;
    const auto start = Clock::now();
    for (int step = 1; step <= kSteps; ++step) {
        if (!sleep_until(start + settings.load * step / kSteps, stop))
            return engine::fail(engine::Error::Code::Cancelled, "loading was cancelled");
        if (settings.load_error && step == kSteps / 2)
            return tl::unexpected(*settings.load_error);
        if (listener.on_load)
            listener.on_load({info.file_bytes * step / kSteps, info.file_bytes});
    }
    info.context_in_use = request.context_tokens > 0 ? request.context_tokens : settings.context_tokens;
    info.context_tokens = std::max(settings.model_context_tokens, info.context_in_use);
    context_tokens_ = info.context_in_use;
    info.device = settings.device ? settings.device->id : std::string();
    loaded_ = true;
    if (listener.on_telemetry)
        listener.on_telemetry(placement_frame(settings, context_tokens_));
    return info;
}

void FakeEngine::unload()
{
    loaded_ = false;
    turns_.clear();
    const std::lock_guard lock(script_->mutex_);
    script_->live_sequences_ = 0;
}

engine::Result<engine::SequenceId> FakeEngine::create_sequence()
{
    if (!loaded_)
        return engine::fail(engine::Error::Code::NotLoaded, "no model is loaded");
    const std::lock_guard lock(script_->mutex_);
    ++script_->live_sequences_;
    return next_sequence_++;
}

engine::Result<engine::SequenceId> FakeEngine::branch(engine::SequenceId from, int)
{
    {
        const std::lock_guard lock(script_->mutex_);
        script_->branched_from_.push_back(from);
    }
    return create_sequence();
}

void FakeEngine::end_sequence(engine::SequenceId)
{
    const std::lock_guard lock(script_->mutex_);
    --script_->live_sequences_;
}

engine::Result<int> FakeEngine::count_tokens(std::string_view text, std::stop_token stop) const
{
    if (!loaded_)
        return engine::fail(engine::Error::Code::NotLoaded, "no model is loaded");
    {
        const std::lock_guard lock(script_->mutex_);
        ++script_->counted_texts_;
    }
    if (!sleep_until(Clock::now() + script_->settings().count_text, stop))
        return engine::fail(engine::Error::Code::Cancelled, "the count was stopped");
    return words_in(text);
}

engine::Result<engine::PromptLedger> FakeEngine::count_prompt(const engine::Request& request,
                                                              std::stop_token stop) const
{
    if (!loaded_)
        return engine::fail(engine::Error::Code::NotLoaded, "no model is loaded");
    {
        const std::lock_guard lock(script_->mutex_);
        ++script_->counted_prompts_;
    }
    if (!sleep_until(Clock::now() + script_->settings().count, stop))
        return engine::fail(engine::Error::Code::Cancelled, "the count was stopped");
    if (!script_->settings().counts_prompts)
        return engine::fail(engine::Error::Code::Unsupported, "nothing is counted here");
    return ledger_of(request);
}

std::uint64_t FakeEngine::post(engine::Command command)
{
    std::uint64_t id = 0;
    {
        const std::lock_guard lock(posted_mutex_);
        id = ++last_command_;
        posted_.emplace_back(id, std::move(command));
    }
    if (on_posted)
        on_posted();
    return id;
}

/// Under the script's lock.
void FakeEngine::change_device(const engine::SetDevice& command, const engine::Listener& listener,
                               engine::Event& answer)
{
    using Kind = engine::PlacementOptions::Device;
    FakeScript::Settings& settings = script_->settings_;
    answer.ok = !settings.device_error;
    answer.sentence = settings.device_error.value_or("");
    if (settings.device_error)
        return;
    settings.device.reset();
    if (command.placement.device != Kind::Cpu) {
        const bool emulated = command.placement.device == Kind::Emulated;
        engine::DeviceTelemetry device;
        device.id = emulated ? "emulated" : "cuda:" + std::to_string(command.placement.cuda_ordinal);
        device.layers = device.layers_wanted = settings.layers_that_fit;
        device.total_bytes = emulated && command.placement.emulated.vram_bytes > 0
                                 ? command.placement.emulated.vram_bytes
                                 : std::int64_t(8e9);
        device.budget_bytes = device.total_bytes;
        settings.device = device;
    }
    if (listener.on_event)
        listener.on_event({.kind = engine::Event::Kind::DeviceChanged, .sentence = "a device → another"});
}

void FakeEngine::carry_out(const engine::Command& command, const engine::Listener& listener, engine::Event& answer)
{
    const std::lock_guard lock(script_->mutex_);
    script_->commands_.push_back(command);
    if (const auto* change = std::get_if<engine::SetDevice>(&command))
        change_device(*change, listener, answer);
    auto& device = script_->settings_.device;
    const auto* const placement = std::get_if<engine::PlacementCommand>(&command);
    if (!device || !placement)
        return;
    if (const auto* layers = std::get_if<engine::SetDeviceLayers>(placement))
        device->layers = device->layers_wanted = layers->layers.value_or(script_->settings_.layers_that_fit);
    else if (const auto* experts = std::get_if<engine::SetHostExperts>(placement))
        device->host_expert_layers = device->layers_without_experts =
            std::min(experts->layers.value_or(0), device->expert_layers);
    else if (const auto* cache = std::get_if<engine::SetExpertCache>(placement))
        device->expert_cache_bytes = cache->bytes.value_or(device->total_bytes / 4);
    else if (const auto* budget = std::get_if<engine::SetVramBudget>(placement))
        device->budget_bytes = budget->bytes > 0 ? budget->bytes : device->total_bytes;
}

void FakeEngine::poll(const engine::Listener& listener)
{
    if (script_->one_of(&FakeScript::Settings::in_long_step))
        return;
    std::deque<std::pair<std::uint64_t, engine::Command>> done;
    {
        const std::lock_guard lock(posted_mutex_);
        done.swap(posted_);
    }
    bool changed = false;  // the device
    for (const auto& [id, command] : done) {
        engine::Event answer{.kind = engine::Event::Kind::CommandDone, .command = id, .sentence = {}};
        carry_out(command, listener, answer);
        if (listener.on_event)
            listener.on_event(answer);
        changed = changed || std::holds_alternative<engine::SetDevice>(command);
    }
    if (loaded_ && !done.empty() && (changed || script_->one_of(&FakeScript::Settings::device)) &&
        listener.on_telemetry)
        listener.on_telemetry(placement_frame(script_->settings(), context_tokens_));
}

engine::Result<engine::ModelInfo> inspect_fake(const FakeScript& script, const std::filesystem::path& path)
{
    if (path.string().find("broken") != std::string::npos)
        return engine::fail(engine::Error::Code::BadFile, "the file ends inside the GGUF header");
    return script.model(path);
}
