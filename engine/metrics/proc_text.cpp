// The texts in which Linux tells about machine and process.
#include "engine/metrics/proc_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace engine {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Returns what stands before the separator; text goes on after it.
std::string_view cut(std::string_view& text, char separator)
{
    const auto at = text.find(separator);
    const std::string_view front = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
    return front;
}

std::optional<std::int64_t> whole_number(std::string_view text)
{
    text = trimmed(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    return value;
}

/// Returns what follows `name` and a separator (':' or ' ') at the start of a line.
std::optional<std::string_view> line_of(std::string_view text, std::string_view name, char separator)
{
    while (!text.empty()) {
        std::string_view line = cut(text, '\n');
        if (cut(line, separator) == name)
            return trimmed(line);
    }
    return {};
}

}  // namespace

std::optional<std::int64_t> kib_line(std::string_view text, std::string_view name)
{
    auto value = line_of(text, name, ':');
    if (!value || !value->ends_with("kB"))
        return {};
    value->remove_suffix(2);
    const auto kib = whole_number(*value);
    if (!kib || *kib < 0 || *kib > std::numeric_limits<std::int64_t>::max() / 1024)
        return {};
    return *kib * 1024;
}

std::optional<std::int64_t> plain_line(std::string_view text, std::string_view name)
{
    const auto value = line_of(text, name, ' ');
    return value ? whole_number(*value) : std::nullopt;
}

std::optional<std::int64_t> fetched_bytes(std::string_view io)
{
    const auto value = line_of(io, "read_bytes", ':');
    const auto bytes = value ? whole_number(*value) : std::nullopt;
    return bytes && *bytes >= 0 ? bytes : std::nullopt;
}

std::optional<ThreadTimes> run_times(std::string_view schedstat)
{
    const auto ran_ns = whole_number(cut(schedstat, ' ')), waited_ns = whole_number(cut(schedstat, ' '));
    if (!ran_ns || !waited_ns || *ran_ns < 0 || *waited_ns < 0)
        return {};
    return ThreadTimes{static_cast<double>(*ran_ns) / 1e9, static_cast<double>(*waited_ns) / 1e9};
}

std::optional<std::vector<int>> cpu_list(std::string_view text)
{
    constexpr std::int64_t kMaxCpus = 4096;
    text = trimmed(text);
    std::vector<int> cpus;
    while (!text.empty()) {
        std::string_view range = cut(text, ',');
        const bool one = range.find('-') == std::string_view::npos;
        const auto first = whole_number(cut(range, '-'));
        const auto last = one ? first : whole_number(range);
        if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus)
            return {};
        for (std::int64_t cpu = *first; cpu <= *last; ++cpu)
            cpus.push_back(static_cast<int>(cpu));
    }
    std::sort(cpus.begin(), cpus.end());
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    return cpus;
}

std::optional<std::int64_t> limit(std::string_view text)
{
    constexpr std::int64_t kNoMachine = std::int64_t{1} << 60;  // version 1 writes nearly 2^63 for "none"
    const auto value = whole_number(text);
    return value && *value >= 0 && *value < kNoMachine ? value : std::nullopt;
}

std::optional<double> cpu_max_v2(std::string_view text)
{
    text = trimmed(text);
    const std::string_view quota = cut(text, ' ');
    return cpu_quota_v1(quota, text);
}

std::optional<double> cpu_quota_v1(std::string_view quota_us, std::string_view period_us)
{
    const auto quota = whole_number(quota_us);
    const auto period = whole_number(period_us);
    if (!quota || !period || *quota <= 0 || *period <= 0)
        return {};
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

CgroupPaths cgroup_paths(std::string_view text)
{
    CgroupPaths paths;
    while (!text.empty()) {
        std::string_view line = cut(text, '\n');
        const std::string_view number = cut(line, ':');
        std::string_view controllers = cut(line, ':');
        if (number == "0" && controllers.empty() && !line.empty())
            paths.unified = line;
        while (!controllers.empty()) {
            const std::string_view controller = cut(controllers, ',');
            if (controller == "memory")
                paths.memory = line;
            else if (controller == "cpu")
                paths.cpu = line;
        }
    }
    return paths;
}

}  // namespace engine
