// pull: fetches a model, or says what it would fetch.
#include "app/cli/pull.h"

#include "app/cli/command.h"
#include "app/cli/fitted_line.h"
#include "app/cli/interrupt.h"
#include "app/cli/system.h"
#include "app/net/pull.h"

#include "engine/machine.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int kFoundAtMost = 20;
constexpr std::size_t kUsualColumns = 80;  // of a terminal that does not say how many it has

struct PullOptions {
    std::string model, to, search;
    bool dry_run = false, companions = false, json = false;
    int connections = 4;
};

std::string size_text(std::int64_t bytes)
{
    std::array<char, 32> text{};
    if (bytes >= 1'000'000'000)
        std::snprintf(text.data(), text.size(), "%.2f GB", double(bytes) / 1e9);
    else
        std::snprintf(text.data(), text.size(), "%.1f MB", double(bytes) / 1e6);
    return text.data();
}

/// Says whether the hub was asked, and with a token: it gives more to users whom it knows.
enum class Asker { HasToken, HasNone, OfAnother };

int report_failure(const net::Failure& failure, Asker asker)
{
    using Kind = net::Failure::Kind;
    if (failure.kind == Kind::Cancelled) {
        std::fprintf(stderr, "stopped; what came is kept, and the same command goes on with it\n");
        return kFailed;
    }
    const bool token_helps =
        asker == Asker::HasNone && (failure.kind == Kind::NeedsToken || failure.kind == Kind::NoAccess);
    return cli::report(
        {engine::Error::Code::CannotRead, failure.what + (token_helps ? "; HF_TOKEN takes a token" : "")});
}

net::FetchSettings settings_here()
{
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    return net::fetch_settings(variable, home_folder(), data_folder());
}

/// Takes the token that was entered in the window, if the environment has none.
void take_kept_token(net::FetchSettings& settings, const std::stop_token& stop)
{
    const net::KeptToken& kept = settings.kept_token;
    if (!settings.hub_token.empty())
        return;
    settings.hub_token = kept.token;
    if (kept.id.empty())
        return;
    auto token = secrets::system_secret_store()->find(kept.id, secrets::MayAsk::No, stop);  // no dialog opens
    if (token)
        settings.hub_token = std::move(*token);
    else
        std::fprintf(stderr, "note: your token of Hugging Face is missing: %s; HF_TOKEN can name it\n",
                     token.error().what.c_str());
}

/// Shows the progress: on a terminal one line that is written anew, elsewhere a line at each tenth.
class ProgressLine
{
public:
    explicit ProgressLine(const net::PullPlan& plan)
        : plan_(plan)
        , on_terminal_(stderr_is_terminal())
    {
    }
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const net::PullProgress& now)
    {
        const net::FetchProgress& p = now.progress;
        if (now.file != file_) {
            clear();
            file_ = now.file;
            start_ = Clock::now();
            start_bytes_ = p.done_bytes;
            tenth_ = -1;
        }
        if (!p.note.empty() && p.note != note_)
            say("note: " + p.note + "; it will try again");
        note_ = p.note;
        const std::int64_t total = std::max<std::int64_t>(p.total_bytes, 1);
        const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
        const double per_s = seconds > 0.5 ? double(p.done_bytes - start_bytes_) / seconds : 0;
        const int percent = int(100 * p.done_bytes / total);
        const std::string name = for_terminal(plan_.files[now.file].name);
        std::string facts =
            "  " + size_text(p.done_bytes) + " of " + size_text(p.total_bytes) + ", " + std::to_string(percent) + " %";
        if (p.done_bytes == p.total_bytes && p.checked_bytes < p.total_bytes)
            facts += ", checking: " + std::to_string(100 * p.checked_bytes / total) + " %";
        else if (per_s > 0 && p.done_bytes < p.total_bytes)
            facts += ", " + size_text(std::int64_t(per_s)) + "/s, " +
                     time_text(double(p.total_bytes - p.done_bytes) / per_s);
        if (on_terminal_)
            draw(fitted_line(bar(percent), name, facts, stderr_columns().value_or(kUsualColumns)));
        else if (percent / 10 > tenth_)
            say(name + facts);
        tenth_ = percent / 10;
    }

private:
    static std::string time_text(double seconds)
    {
        const auto s = std::int64_t(std::min(seconds, 1e7));
        return s >= 3600 ? std::to_string(s / 3600) + " h " + std::to_string(s / 60 % 60) + " min"
               : s >= 60 ? std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s"
                         : std::to_string(s) + " s";
    }
    static std::string bar(int percent)
    {
        const int full = percent / 5;
        return '[' + std::string(std::size_t(full), '#') + std::string(std::size_t(20 - full), '.') + "] ";
    }
    void say(const std::string& line)
    {
        clear();
        std::fprintf(stderr, "%s\n", for_terminal(line).c_str());
    }
    void draw(const std::string& line)
    {
        const std::size_t before = std::exchange(drawn_, columns_of(line));
        const std::string rest(before > drawn_ ? before - drawn_ : 0, ' ');
        std::fprintf(stderr, "\r%s%s", line.c_str(), rest.c_str());
        std::fflush(stderr);
    }
    void clear()
    {
        if (const std::size_t drawn = std::exchange(drawn_, 0); drawn > 0)
            std::fprintf(stderr, "\r%s\r", std::string(drawn, ' ').c_str());
    }

    const net::PullPlan& plan_;
    const bool on_terminal_;
    std::size_t file_ = std::size_t(-1), drawn_ = 0;  // the latter in columns
    int tenth_ = -1;
    std::string note_;
    Clock::time_point start_;
    std::int64_t start_bytes_ = 0;
};

Json connections_of(const net::HttpClient& client)
{
    Json list = Json::array();
    for (const net::Connection& c : client.connections().connections())
        list.push_back({{"host", c.host},
                        {"purpose", c.purpose},
                        {"first", std::chrono::system_clock::to_time_t(c.first)},
                        {"last", std::chrono::system_clock::to_time_t(c.last)},
                        {"requests", c.requests},
                        {"bytes_sent", c.bytes_sent},
                        {"bytes_received", c.bytes_received}});
    return list;
}

Json to_json(const net::PullPlan& plan, const std::optional<engine::ModelInfo>& info)
{
    Json files = Json::array();
    for (const net::PullFile& f : plan.files)
        files.push_back({{"name", f.name},
                         {"path", engine::utf8_text(f.place ? f.place->name : f.file.target)},
                         {"bytes", f.file.bytes.value_or(0)},
                         {"sha256", f.file.sha256},
                         {"companion", f.companion},
                         {"here", f.here}});
    Json json = {{"title", plan.title},   {"quantization", plan.quant},
                 {"reason", plan.reason}, {"model", engine::utf8_text(plan.model)},
                 {"bytes", plan.bytes},   {"missing_bytes", plan.missing_bytes},
                 {"note", plan.note},     {"files", std::move(files)}};
    if (info) {
        json["architecture"] = info->architecture;
        json["context_tokens"] = info->context_tokens;
        json["parameters"] = info->parameters;
        json["weight_bytes"] = info->weight_bytes;
        json["runnable"] = info->runnable;
        json["obstacle"] = info->obstacle;
    }
    return json;
}

/// Prints the plan, on stderr or, where it is the result, on stdout.
void print(std::FILE* to, const net::PullPlan& plan, const std::optional<engine::ModelInfo>& info)
{
    const auto line = [to](const std::string& text) { std::fprintf(to, "%s\n", for_terminal(text).c_str()); };
    line(plan.title + (plan.quant.empty() ? "" : ", " + plan.quant) +
         (plan.reason.empty() ? "" : " (" + plan.reason + ")"));
    for (const net::PullFile& f : plan.files)
        line("  " + size_text(f.file.bytes.value_or(0)) + "  " + f.name + (f.here ? "  (here already)" : ""));
    if (info)
        line(info->architecture + ", context " + std::to_string(info->context_tokens) + " tokens, " +
             (info->runnable ? "can be run here" : "cannot be run: " + info->obstacle));
    if (!plan.note.empty())
        line("note: " + plan.note);
    for (const net::HubFile& f : plan.companions)
        if (std::none_of(plan.files.begin(), plan.files.end(),
                         [&](const net::PullFile& pulled) { return pulled.name == f.path; }))
            line("  beside it: " + f.path + ", " + size_text(f.bytes) + " (--companions)");
}

int search(net::Puller& puller, const PullOptions& options, Asker asker, const std::stop_token& stop)
{
    const auto found = puller.search(options.search, kFoundAtMost, stop);
    if (!found)
        return report_failure(found.error(), asker);
    Json list = Json::array();
    for (const net::FoundModel& m : found->models) {
        list.push_back({{"id", m.id}, {"downloads", m.downloads}, {"likes", m.likes}, {"gated", m.gated}});
        if (!options.json)
            std::printf("%10lld  %s%s\n", static_cast<long long>(m.downloads), for_terminal(m.id).c_str(),
                        m.gated ? "  (its terms have to be accepted on the hub)" : "");
    }
    if (options.json)
        std::printf("%s\n", list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
}

/// Says whether all files are in the cache of Hugging Face under their names and with their sizes. Every program names
/// files there by hash and revision; elsewhere a file may be an older version of the same size.
bool is_in_cache(const net::PullPlan& plan)
{
    return std::all_of(plan.files.begin(), plan.files.end(), [](const net::PullFile& f) {
        return f.place && f.file.bytes && net::is_named(*f.place, *f.file.bytes);
    });
}

/// Carries out the verb and returns its exit code. On success `model` is the file to open.
int pull(const PullOptions& options, std::filesystem::path* model)
{
    const StopOnInterrupt stop;
    net::HttpClient client;
    net::FetchSettings settings = settings_here();
    net::Puller puller(client, settings);
    const auto asks_hub = [&] {
        take_kept_token(settings, stop.token());
        return settings.hub_token.empty() ? Asker::HasNone : Asker::HasToken;
    };
    if (!options.search.empty()) {
        const Asker asker = asks_hub();
        return search(puller, options, asker, stop.token());
    }
    auto reference = net::read_reference(options.model);
    if (!reference) {
        report_failure(reference.error(), Asker::OfAnother);
        return kUsage;
    }
    const Asker asker = std::holds_alternative<net::HubReference>(*reference) ? asks_hub() : Asker::OfAnother;
    net::PullRequest request{std::move(*reference), engine::utf8_path(options.to), options.companions,
                             engine::machine_memory().available_bytes};
    request.prefers_here = model != nullptr;
    const auto plan = puller.plan(request, stop.token());
    if (const auto here = !plan && model && net::may_pass(plan.error().kind) ? puller.here(request) : std::nullopt) {
        std::fprintf(stderr, "note: %s; '%s', which was fetched before, is opened\n",
                     for_terminal(plan.error().what).c_str(), for_terminal(engine::utf8_text(*here)).c_str());
        *model = *here;
        return kDone;
    }
    if (!plan)
        return report_failure(plan.error(), asker);
    std::optional<engine::ModelInfo> info;
    if (plan->missing_bytes > 0) {
        auto seen = puller.look(*plan, stop.token());
        if (!seen)
            return report_failure(seen.error(), asker);
        info = std::move(*seen);
    }
    if (model && info && !info->runnable)  // it is not fetched, since it cannot be run
        return cli::report({engine::Error::Code::Unsupported, plan->title + ": " + info->obstacle});
    if (!options.json)
        print(options.dry_run ? stdout : stderr, *plan, info);
    const bool opens_at_once = model && is_in_cache(*plan);  // fetch() would read the whole file to check it
    if (!options.dry_run && !opens_at_once) {
        net::FetchLimits limits;
        limits.connections = options.connections;
        ProgressLine line(*plan);
        const auto fetched = puller.fetch(
            *plan, limits, [&](const net::PullProgress& progress) { line.show(progress); }, stop.token());
        if (!fetched)
            return report_failure(fetched.error(), asker);
    }
    if (opens_at_once)
        if (const net::Status kept = puller.keep_names(*plan); !kept)
            std::fprintf(stderr, "note: %s; without a network the model may not be found\n",
                         for_terminal(kept.error().what).c_str());
    if (options.json) {
        Json json = to_json(*plan, info);
        json["connections"] = connections_of(client);
        std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    } else if (model) {
        *model = plan->model;
    } else if (!options.dry_run) {
        std::printf("%s\n", for_terminal(engine::utf8_text(plan->model)).c_str());
    }
    return kDone;
}

}  // namespace

bool names_a_model_elsewhere(const std::string& typed)
{
    return net::names_a_remote_model(typed);
}

engine::Result<std::filesystem::path> fetched_model(const std::string& typed)
{
    PullOptions options;
    options.model = typed;
    std::filesystem::path model;
    if (pull(options, &model) != kDone)
        return engine::fail(engine::Error::Code::NotFound, "the model is not here");
    return model;
}

void add_pull(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("pull", "Fetch a model, or say what would be fetched");
    command->footer(
        "hf.co/ORG/REPO[:QUANT|:FILE], ollama.com/NAME[:TAG], or the address of a .gguf file. What was broken off "
        "goes on.\nHF_TOKEN, HF_ENDPOINT and the usual variables for proxies are heeded.");
    auto o = std::make_shared<PullOptions>();
    auto* what = command->add_option_group("what", "what to fetch");
    what->add_option("model", o->model, "the model");
    what->add_option("--search", o->search, "the hub's models with these words, the most fetched first");
    what->require_option(1);
    command->add_option("--to", o->to,
                        "a folder; without it, the cache of Hugging Face, where other programs find it, or for other "
                        "sources the data folder");
    command->add_flag("--dry-run", o->dry_run, "say what it is, and fetch no more than its header");
    command->add_flag("--companions", o->companions, "what goes with the model, too: projectors for pictures");
    command->add_option("--connections", o->connections, "ranges of a file that are fetched at a time")
        ->check(CLI::Range(1, 16));
    command->add_flag("--json", o->json, "the result as JSON, with who was asked");
    command->callback([o, &exit_code] {
        catch_interrupts();
        exit_code = pull(*o, nullptr);
    });
}

}  // namespace cli
