#include "app/remote/server_numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace remote {

namespace {

constexpr std::size_t kMostLines = 100'000;

struct Sample {
    std::string_view name;
    std::string_view labels;  // between the braces, as written on the page
    double value = 0;
};

void skip_spaces(std::string_view& text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
}

/// Returns the place of the closing brace that ends the labels; braces within their values do not count.
std::size_t end_of_labels(std::string_view text)
{
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\')
            ++i;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (text[i] == '}' && !quoted)
            return i;
    }
    return std::string_view::npos;
}

std::optional<Sample> sample_of(std::string_view line)
{
    skip_spaces(line);
    if (line.empty() || line.front() == '#')
        return {};
    Sample sample;
    const std::size_t name = line.find_first_of("{ \t");
    if (name == std::string_view::npos || name == 0)
        return {};
    sample.name = line.substr(0, name);
    line.remove_prefix(name);
    skip_spaces(line);
    if (line.starts_with('{')) {
        line.remove_prefix(1);
        const std::size_t end = end_of_labels(line);
        if (end == std::string_view::npos)
            return {};
        sample.labels = line.substr(0, end);
        line.remove_prefix(end + 1);
        skip_spaces(line);
    }
    if (line.starts_with('+'))
        line.remove_prefix(1);
    const auto read = std::from_chars(line.data(), line.data() + line.size(), sample.value);
    // A value that is no number, infinite or negative counts as not sent.
    if (read.ec != std::errc() || !std::isfinite(sample.value) || sample.value < 0)
        return {};
    return sample;
}

enum class Several { Add, Mean };

/// Adds up a number that may come several times, once for each of a server's engines or devices.
struct Gathered {
    double sum = 0;
    int count = 0;

    void add(double value)
    {
        sum += value;
        ++count;
    }
    std::optional<double> value(Several several) const
    {
        if (count == 0)
            return {};
        return several == Several::Add ? sum : sum / count;
    }
};

/// Says under which name a program writes one of our numbers.
struct Known {
    std::string_view name;
    std::string_view label;  // that the line must have; empty: any labels
    std::optional<double> ServerNumbers::*to;
    Several several = Several::Add;
};

using N = ServerNumbers;
constexpr std::array kKnown = {
    Known{"vllm:kv_cache_usage_perc", "", &N::kv_share, Several::Mean},
    Known{"vllm:gpu_cache_usage_perc", "", &N::kv_share, Several::Mean},  // the name in older versions
    Known{"vllm:num_requests_running", "", &N::running},
    Known{"vllm:num_requests_waiting", "", &N::waiting},
    Known{"vllm:num_preemptions_total", "", &N::preemptions},
    Known{"vllm:kv_offload_total_bytes_total", "transfer_type=\"GPU_to_CPU\"", &N::offloaded_bytes},
    Known{"vllm:kv_offload_total_bytes_total", "transfer_type=\"CPU_to_GPU\"", &N::fetched_bytes},
    Known{"vllm:prefix_cache_queries_total", "", &N::prefix_tokens},
    Known{"vllm:prefix_cache_hits_total", "", &N::prefix_hits},
    Known{"vllm:generation_tokens_total", "", &N::answer_tokens},
    Known{"sglang:token_usage", "", &N::kv_share, Several::Mean},
    Known{"sglang:kv_used_tokens", "", &N::kv_tokens},
    Known{"sglang:num_used_tokens", "", &N::kv_tokens},
    Known{"sglang:max_total_num_tokens", "", &N::kv_most_tokens},
    Known{"sglang:num_running_reqs", "", &N::running},
    Known{"sglang:num_queue_reqs", "", &N::waiting},
    Known{"sglang:num_retracted_requests_total", "", &N::preemptions},
    Known{"sglang:generation_tokens_total", "", &N::answer_tokens},
    Known{"tgi_batch_current_size", "", &N::running},
    Known{"tgi_queue_size", "", &N::waiting},
    Known{"tgi_batch_current_max_tokens", "", &N::kv_tokens},
    Known{"llamacpp:kv_cache_usage_ratio", "", &N::kv_share, Several::Mean},
    Known{"llamacpp:kv_cache_tokens", "", &N::kv_tokens},
    Known{"llamacpp:requests_processing", "", &N::running},
    Known{"llamacpp:requests_deferred", "", &N::waiting},
    Known{"llamacpp:tokens_predicted_total", "", &N::answer_tokens},
    Known{"llamacpp:prompt_tokens_total", "", &N::prefix_misses},
    Known{"llamacpp:prompt_tokens_cached_total", "", &N::prefix_hits},
    Known{"spillway_turns_running", "", &N::running},
    Known{"spillway_turns_waiting", "", &N::waiting},
    Known{"spillway_memory_bytes", "tenant=\"kv\"", &N::kv_bytes},
    Known{"spillway_link_bytes_total", "to=\"host\"", &N::offloaded_bytes},
    Known{"spillway_link_bytes_total", "to=\"device\"", &N::fetched_bytes},
    Known{"spillway_prompt_tokens_total", "", &N::prefix_tokens},
    Known{"spillway_prompt_cached_tokens_total", "", &N::prefix_hits},
    Known{"spillway_answer_tokens_total", "", &N::answer_tokens},
    Known{"process_start_time_seconds", "", &N::started_s, Several::Mean},
};

/// Says under which name a program writes one of our histograms; each of its lines has the bound among its labels.
struct KnownHistogram {
    std::string_view name;
    LatencyHistogram ServerNumbers::*to;
};
constexpr std::array kHistograms = {
    KnownHistogram{"vllm:time_to_first_token_seconds_bucket", &N::first_token},
    KnownHistogram{"vllm:inter_token_latency_seconds_bucket", &N::token_gap},
    KnownHistogram{"sglang:time_to_first_token_seconds_bucket", &N::first_token},
    KnownHistogram{"sglang:inter_token_latency_seconds_bucket", &N::token_gap},
    KnownHistogram{"tgi_request_mean_time_per_token_duration_bucket", &N::token_gap},
    KnownHistogram{"spillway_time_to_first_token_seconds_bucket", &N::first_token},
    KnownHistogram{"spillway_inter_token_seconds_bucket", &N::token_gap},
};

/// Returns the bound of a histogram's line: le="0.25" or le="+Inf".
std::optional<double> bound_in(std::string_view labels)
{
    constexpr std::string_view mark("le=\"");
    std::size_t at = labels.find(mark);
    while (at != std::string_view::npos && at > 0 && labels[at - 1] != ',' && labels[at - 1] != ' ')
        at = labels.find(mark, at + 1);  // the end of another label's name
    if (at == std::string_view::npos)
        return {};
    labels.remove_prefix(at + mark.size());
    if (labels.starts_with("+Inf\""))
        return std::numeric_limits<double>::infinity();
    double bound = 0;
    const auto read = std::from_chars(labels.data(), labels.data() + labels.size(), bound);
    if (read.ec != std::errc() || !std::isfinite(bound) || bound < 0)
        return {};
    return bound;
}

void add_to_histograms(ServerNumbers& numbers, const Sample& sample)
{
    if (!sample.name.ends_with("_bucket"))
        return;
    for (const KnownHistogram& known : kHistograms)
        if (known.name == sample.name)
            if (const auto bound = bound_in(sample.labels))
                (numbers.*known.to).add(*bound, sample.value);
}

std::optional<LatencyHistogram> rise(const LatencyHistogram& before, const LatencyHistogram& now)
{
    return before.empty() || now.empty() ? std::nullopt : now.since(before);
}

bool fell(const LatencyHistogram& before, const LatencyHistogram& now)
{
    return !before.empty() && !now.empty() && now.count() < before.count();
}

std::optional<double> rise(const std::optional<double>& before, const std::optional<double>& now)
{
    return before && now ? std::optional(*now - *before) : std::nullopt;
}

bool fell(const std::optional<double>& before, const std::optional<double>& now)
{
    return before && now && *now < *before;
}

}  // namespace

ServerNumbers read_numbers(std::string_view page)
{
    ServerNumbers numbers;
    std::array<Gathered, kKnown.size()> gathered{};
    for (std::size_t lines = 0; !page.empty() && lines < kMostLines; ++lines) {
        const std::size_t end = page.find('\n');
        const auto sample = sample_of(page.substr(0, end));
        page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
        if (!sample)
            continue;
        for (std::size_t i = 0; i < kKnown.size(); ++i)
            if (kKnown[i].name == sample->name &&
                (kKnown[i].label.empty() || sample->labels.find(kKnown[i].label) != std::string_view::npos))
                gathered[i].add(sample->value);
        add_to_histograms(numbers, *sample);
    }
    for (std::size_t i = 0; i < kKnown.size(); ++i)
        if (const auto value = gathered[i].value(kKnown[i].several); value && !(numbers.*kKnown[i].to))
            numbers.*kKnown[i].to = value;
    if (!numbers.prefix_tokens && numbers.prefix_misses && numbers.prefix_hits)
        numbers.prefix_tokens = *numbers.prefix_misses + *numbers.prefix_hits;
    if (!numbers.kv_share && numbers.kv_tokens && numbers.kv_most_tokens && *numbers.kv_most_tokens > 0)
        numbers.kv_share = *numbers.kv_tokens / *numbers.kv_most_tokens;
    if (numbers.kv_share && *numbers.kv_share > 1)
        numbers.kv_share.reset();  // a share above 1 makes no sense
    return numbers;
}

CounterChange change_between(const ServerNumbers& before, const ServerNumbers& now)
{
    CounterChange change;
    change.restarted = (before.started_s && now.started_s && *before.started_s != *now.started_s) ||
                       fell(before.preemptions, now.preemptions) || fell(before.offloaded_bytes, now.offloaded_bytes) ||
                       fell(before.fetched_bytes, now.fetched_bytes) || fell(before.prefix_tokens, now.prefix_tokens) ||
                       fell(before.prefix_hits, now.prefix_hits) || fell(before.answer_tokens, now.answer_tokens) ||
                       fell(before.first_token, now.first_token) || fell(before.token_gap, now.token_gap);
    if (change.restarted)
        return change;
    change.preemptions = rise(before.preemptions, now.preemptions);
    change.offloaded_bytes = rise(before.offloaded_bytes, now.offloaded_bytes);
    change.fetched_bytes = rise(before.fetched_bytes, now.fetched_bytes);
    change.prefix_tokens = rise(before.prefix_tokens, now.prefix_tokens);
    change.prefix_hits = rise(before.prefix_hits, now.prefix_hits);
    change.answer_tokens = rise(before.answer_tokens, now.answer_tokens);
    change.first_token = rise(before.first_token, now.first_token);
    change.token_gap = rise(before.token_gap, now.token_gap);
    return change;
}

}  // namespace remote
