#include "app/server/metrics.h"

#include <algorithm>
#include <sstream>

namespace server {

namespace {

std::string head(const char* name, const char* help, const char* type)
{
    return std::string("# HELP ") + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

template <class Number>
std::string number(Number value)
{
    std::ostringstream out;  // writes numbers in the same form in all languages
    out.imbue(std::locale::classic());
    out.precision(15);
    out << value;
    return out.str();
}

template <class Number>
std::string one(const char* name, const char* help, const char* type, Number value)
{
    return head(name, help, type) + name + ' ' + number(value) + '\n';
}

struct Labelled {
    std::string labels;
    std::int64_t value = 0;
};

template <class List>
std::string several(const char* name, const char* help, const char* type, const List& values)
{
    std::string text = head(name, help, type);
    for (const Labelled& value : values)
        text += std::string(name) + '{' + value.labels + "} " + number(value.value) + '\n';
    return text;
}

std::string on(const std::string& device, const char* tenant)
{
    return "device=\"" + device + "\",tenant=\"" + tenant + '"';
}

/// Writes the bytes in each memory by what they are: weights, KV, states.
std::string memory_text(const engine::Telemetry& t)
{
    std::vector<Labelled> bytes = {{on("cpu", "weights"), t.weight_bytes_host},
                                   {on("cpu", "kv"), t.kv_bytes_host},
                                   {on("cpu", "state"), t.state_bytes_host},
                                   {on("cpu", "scratch"), t.scratch_bytes}};
    if (t.draft_model)
        bytes.push_back({on("cpu", "draft_model"), t.draft_model->used_bytes()});
    if (t.mtp)
        bytes.push_back({on("cpu", "mtp"), t.mtp->used_bytes()});
    if (const auto& d = t.device)
        for (const auto& [tenant, value] :
             {std::pair("weights", d->weight_bytes), std::pair("kv", d->kv_bytes), std::pair("state", d->state_bytes),
              std::pair("ring", d->ring_bytes), std::pair("scratch", d->scratch_bytes),
              std::pair("kv_ahead", d->kv_ahead_bytes)})
            bytes.push_back({on(d->id, tenant), value});
    std::string text = several("spillway_memory_bytes", "Bytes of the model in each memory.", "gauge", bytes);
    text += several("spillway_kv_blocks", "KV blocks in use, by where their bytes are.", "gauge",
                    std::array{Labelled{"residency=\"host\"", t.kv_blocks_host},
                               Labelled{"residency=\"device\"", t.kv_blocks_device}});
    if (const auto& d = t.device) {
        text += one("spillway_device_total_bytes", "Memory of the device.", "gauge", d->total_bytes);
        text +=
            one("spillway_device_budget_bytes", "Device memory that this program may use.", "gauge", d->budget_bytes);
        text += one("spillway_device_other_programs_bytes", "Device memory that other programs use.", "gauge",
                    d->other_programs_bytes);
        text += one("spillway_device_layers", "Layers that the device computes.", "gauge", d->layers);
        text += one("spillway_device_layers_without_experts",
                    "Layers that the device computes without their routed experts, which the host computes.", "gauge",
                    d->layers_without_experts);
        text += several(
            "spillway_host_experts_read_total",
            "Experts that steps of the device's layers read though they lie on the host, by whether the "
            "device had a copy; each counts once a step. Counted where there are copies.",
            "counter", std::array{Labelled{"copy=\"yes\"", d->expert_hits}, Labelled{"copy=\"no\"", d->expert_misses}});
        text += one("spillway_experts_streamed_bytes_total",
                    "Bytes of such experts that came to the device for one step of a prompt each.", "counter",
                    d->expert_streamed_bytes);
        text += several(
            "spillway_link_bytes_total", "Bytes copied since the model was loaded.", "counter",
            std::array{Labelled{"to=\"device\"", d->to_device_bytes}, Labelled{"to=\"host\"", d->to_host_bytes}});
    }
    if (t.process_resident_bytes)
        text += one("process_resident_memory_bytes", "Memory of this program.", "gauge", *t.process_resident_bytes);
    return text;
}

}  // namespace

void SecondsHistogram::add(double seconds)
{
    const auto bucket = std::ranges::lower_bound(kBounds, seconds) - kBounds.begin();
    ++counts_[std::size_t(bucket)];
    sum_ += seconds;
}

std::string SecondsHistogram::text(const char* name, const char* help) const
{
    std::string text = head(name, help, "histogram");
    std::int64_t below = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        below += counts_[i];
        text += std::string(name) + "_bucket{le=\"" + (i < kBounds.size() ? number(kBounds[i]) : "+Inf") + "\"} " +
                number(below) + '\n';
    }
    return text + name + "_sum " + number(sum_) + '\n' + name + "_count " + number(below) + '\n';
}

void Metrics::add_request(const std::string& path, int status)
{
    const std::lock_guard lock(mutex_);
    ++requests_[{path, status}];
}

void Metrics::add_turn(const Ended& ended)
{
    const std::lock_guard lock(mutex_);
    ++turns_;
    prompt_tokens_ += ended.prompt_tokens;
    cached_tokens_ += ended.cached_tokens;
    answer_tokens_ += ended.answer_tokens;
    drafted_ += ended.drafted_tokens;
    accepted_ += ended.accepted_tokens;
    queue_time_.add(ended.waited_s);
}

void Metrics::add_cancelled()
{
    const std::lock_guard lock(mutex_);
    ++cancelled_;
}

void Metrics::add_first_token(double seconds)
{
    const std::lock_guard lock(mutex_);
    first_token_.add(seconds);
}

void Metrics::add_token_gap(double seconds)
{
    const std::lock_guard lock(mutex_);
    token_gap_.add(seconds);
}

void Metrics::add_event(const engine::Event& event)
{
    using Kind = engine::Event::Kind;
    constexpr std::array kMoves = {Kind::Offload,    Kind::Fetch,       Kind::LayerMove,
                                   Kind::DeviceLost, Kind::ExpertsMove, Kind::Adapted};
    const auto kind = std::ranges::find(kMoves, event.kind);
    if (kind == kMoves.end())
        return;
    const std::lock_guard lock(mutex_);
    ++moves_[std::size_t(kind - kMoves.begin())];
    moved_bytes_[std::size_t(kind - kMoves.begin())] += event.bytes;
}

void Metrics::set_telemetry(const engine::Telemetry& frame)
{
    const std::lock_guard lock(mutex_);
    telemetry_ = frame;
}

void Metrics::forget_telemetry()
{
    const std::lock_guard lock(mutex_);
    telemetry_.reset();
}

std::optional<engine::Telemetry> Metrics::telemetry() const
{
    const std::lock_guard lock(mutex_);
    return telemetry_;
}

std::string Metrics::text(int running, int waiting) const
{
    const std::lock_guard lock(mutex_);
    std::vector<Labelled> requests, moves, moved;
    for (const auto& [what, count] : requests_)
        requests.push_back({"path=\"" + what.first + "\",status=\"" + std::to_string(what.second) + '"', count});
    constexpr std::array kKinds = {"offload", "fetch", "layer_move", "device_lost", "experts_move", "adapted"};
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
        moves.push_back({std::string("kind=\"") + kKinds[i] + '"', moves_[i]});
        moved.push_back({std::string("kind=\"") + kKinds[i] + '"', moved_bytes_[i]});
    }
    std::string text;
    text += several("spillway_http_requests_total", "Requests, by path and status.", "counter", requests);
    text += one("spillway_turns_running", "Turns that are being answered.", "gauge", running);
    text += one("spillway_turns_waiting", "Turns in the queue.", "gauge", waiting);
    text += one("spillway_turns_total", "Turns that ended.", "counter", turns_);
    text += one("spillway_turns_cancelled_total", "Turns whose client went away.", "counter", cancelled_);
    text += one("spillway_prompt_tokens_total", "Tokens of prompts.", "counter", prompt_tokens_);
    text += one("spillway_prompt_cached_tokens_total", "Of them, found in the KV cache.", "counter", cached_tokens_);
    text += one("spillway_answer_tokens_total", "Tokens of answers.", "counter", answer_tokens_);
    text += one("spillway_drafted_tokens_total", "Tokens computed ahead of the answer.", "counter", drafted_);
    text += one("spillway_accepted_tokens_total", "Of them, part of the answer.", "counter", accepted_);
    text += queue_time_.text("spillway_queue_seconds", "Time from the request until its turn begins.");
    text += first_token_.text("spillway_time_to_first_token_seconds", "Time from the request to the first text.");
    text += token_gap_.text("spillway_inter_token_seconds", "Time between two pieces of an answer's text.");
    text += several("spillway_placement_events_total", "What moved between the memories.", "counter", moves);
    text += several("spillway_placement_event_bytes_total", "Bytes of it.", "counter", moved);
    return telemetry_ ? text + memory_text(*telemetry_) : text;
}

}  // namespace server
