#include "app/server/ollama.h"

#include "app/server/answer_format.h"
#include "app/server/openai_fields.h"
#include "app/server/prompted_tools.h"
#include "app/server/thinking.h"
#include "engine/reasoning_marks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace server {

namespace {

using Time = std::chrono::sys_time<std::chrono::microseconds>;

Time current_time()
{
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

/// Writes a time with a fraction of the second, as Ollama does: some clients read no time without one.
std::string iso_time(Time time)
{
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    std::array<char, 96> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", int(date.year()),
                  unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                  int(clock.minutes().count()), int(clock.seconds().count()), int(clock.subseconds().count()));
    return text.data();
}

std::int64_t nanoseconds(double seconds)
{
    return std::int64_t(seconds * 1e9);
}

Json ollama_error(const Refusal& refusal)
{
    return {{"error", refusal.sentence}};
}

enum class Shape { Chat, Generate };

/// Writes lines of JSON. Shape::Chat has a field `message`, Shape::Generate a field `response`.
class OllamaWording final : public Wording
{
public:
    OllamaWording(std::string model, Shape shape)
        : model_(std::move(model))
        , shape_(shape)
    {
    }

    std::string piece(const TurnEvent& event) override
    {
        std::string lines;
        if (const auto* text = std::get_if<TextPiece>(&event)) {
            lines = whole_calls();
            lines += line(said(text->text, {}));
        } else if (const auto* thought = std::get_if<ThoughtPiece>(&event)) {
            lines = whole_calls();
            lines += line(said({}, thought->text));
        } else if (const auto* call = std::get_if<CallBegun>(&event)) {
            lines = whole_calls();
            calls_.push_back({call->id, call->name, {}});
        } else if (const auto* more = std::get_if<CallArguments>(&event)) {
            calls_.at(std::size_t(more->index)).arguments += more->text;
        } else if (const auto* failed = std::get_if<Failed>(&event)) {
            lines = line(ollama_error(failed->refusal));
        } else if (const auto* ended = std::get_if<Ended>(&event)) {
            calls_ = without_cut_off(std::move(calls_), *ended);
            lines = whole_calls();
            lines += line(last(said({}, {}), *ended));
        }
        return lines;
    }

    /// Returns nothing: each line has to be a part of an answer, and clients of Ollama wait without a sign of life.
    std::string ping() const override { return {}; }
    const char* stream_type() const override { return "application/x-ndjson"; }

    std::string whole(const Answer& answer) override
    {
        const Answer readable = with_readable_calls(answer);
        return text_of(last(said(readable.text, readable.thought, readable.calls), readable.ended));
    }

private:
    static std::string line(const Json& json) { return text_of(json) + '\n'; }

    /// Says the calls that have not been told of and are whole, each in a line of its own: Zed reads one of a line.
    std::string whole_calls()
    {
        std::string lines;
        for (; told_calls_ < calls_.size(); ++told_calls_) {
            Answer one;
            one.calls = {calls_[told_calls_]};
            one = with_readable_calls(std::move(one));
            lines += line(said(one.text, {}, one.calls));
        }
        return lines;
    }

    Json said(const std::string& text, const std::string& thought, const std::vector<Call>& calls = {})
    {
        Json json = {{"model", model_}, {"created_at", iso_time(current_time())}};
        Json message = {{"role", "assistant"}, {"content", text}};
        if (shape_ == Shape::Generate)
            message = {{"response", text}};
        if (!thought.empty())
            message["thinking"] = thought;
        for (const Call& call : calls) {
            const Json function = {
                {"index", next_index_++}, {"name", call.name}, {"arguments", parse_inner(call.arguments)}};
            message["tool_calls"].push_back({{"id", call.id}, {"function", function}});  // Zed reads none without
        }
        if (shape_ == Shape::Generate)
            json.update(message);
        else
            json["message"] = std::move(message);
        json["done"] = false;
        return json;
    }

    static Json last(Json json, const Ended& ended)
    {
        const bool cut =
            ended.reason == engine::StopReason::MaxTokens || ended.reason == engine::StopReason::ContextFull;
        json["done"] = true;
        json["done_reason"] = cut ? "length" : "stop";
        json["total_duration"] = nanoseconds(ended.waited_s + ended.prompt_s + ended.answer_s);
        json["load_duration"] = 0;
        json["prompt_eval_count"] = ended.prompt_tokens;
        json["prompt_eval_duration"] = nanoseconds(ended.prompt_s);
        json["eval_count"] = ended.answer_tokens;
        json["eval_duration"] = nanoseconds(ended.answer_s);
        return json;
    }

    const std::string model_;
    const Shape shape_;
    std::vector<Call> calls_;
    std::size_t told_calls_ = 0;
    int next_index_ = 0;  // of the calls that could be read
};

/// Reads what both requests have in common.
Ask read_common(Fields& fields, const Served& served)
{
    Ask ask = unsaid_ask(served);
    ask.model = fields.text("model").value_or("");
    ask.streams = fields.flag("stream").value_or(true);
    if (const Json* options = fields.object("options")) {
        Fields inner(*options);
        read_sampling(inner, ask.turn.sampling);
        if (const auto most = inner.integer("num_predict", -2, 1 << 30))
            ask.turn.max_tokens = std::max(int(*most), -1);
        ask.turn.stop = read_stops(inner, "stop");
        if (inner.refusal())
            fields.refuse("options", inner.refusal()->sentence);
    }
    if (const Json* think = fields.find("think")) {
        Json arguments = Json::object();
        ask.shows_thoughts = *think != false && *think != "none";
        add_thinking(arguments, ask.shows_thoughts ? Thinking::On : Thinking::Off);
        if (think->is_string() && ask.shows_thoughts)
            arguments["reasoning_effort"] = *think;
        else if (!think->is_boolean() && !think->is_string())
            fields.refuse("think", "must be true, false or an effort");
        ask.turn.template_arguments_json = text_of(arguments);
    }
    read_tools(fields, ask);
    read_ollama_format(fields, ask.turn);
    fields.not_supported("images", Json::array());
    fields.not_supported("logprobs", false);
    return ask;
}

/// Says whether a model thinks: its template has a mark of thoughts, or an argument for them.
bool knows_thoughts(std::string_view chat_template)
{
    const auto has = [&](std::string_view words) { return chat_template.find(words) != std::string_view::npos; };
    return has("enable_thinking") || has("reasoning_effort") || has(engine::RecipientMarks::kThought) ||
           std::ranges::any_of(engine::kReasoningMarks, [&](const auto& mark) { return has(mark.open); });
}

Json details_of(const engine::ModelInfo& info)
{
    std::array<char, 32> size{};
    std::snprintf(size.data(), size.size(), "%.1fB", double(info.parameters) / 1e9);
    return {{"parent_model", ""},
            {"format", "gguf"},
            {"family", info.architecture},
            {"families", Json::array({info.architecture})},
            {"parameter_size", size.data()},
            {"quantization_level", info.quantization}};
}

/// Returns a hash of the model's name in the place of one of its file, which would take minutes. Ollama's own client
/// takes the first twelve letters of it and crashes where there are none.
std::string digest_of(const std::string& name)
{
    std::string digest;
    for (const char part : {'1', '2', '3', '4'}) {
        std::uint64_t hash = 14695981039346656037u;  // FNV-1a
        for (const char c : part + name)
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
        std::array<char, 24> text{};
        std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
        digest += text.data();
    }
    return digest;
}

Json entry_of(const std::string& name, const engine::ModelInfo& info)
{
    // Every name in Ollama has a tag, and clients add one to a name without before they look for it in the list.
    const std::string tagged = name.find(':') == std::string::npos ? name + ":latest" : name;
    return {{"name", tagged},          {"model", tagged},           {"modified_at", iso_time({})},
            {"size", info.file_bytes}, {"digest", digest_of(name)}, {"details", details_of(info)}};
}

}  // namespace

tl::expected<Asked, Refusal> OllamaChat::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    Ask ask = read_common(fields, served);
    if (const Json* messages = fields.array("messages"))
        for (const Json& message : *messages)
            if (const Json* images = Fields(message).find("images"); images && !images->empty())
                fields.refuse("images", "is not supported here", Refusal::Kind::NotSupported);
    read_messages(fields, ask.turn);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    return Asked{std::move(ask), std::make_unique<OllamaWording>(served.name, Shape::Chat)};
}

std::string OllamaChat::error(const Refusal& refusal) const
{
    return text_of(ollama_error(refusal));
}

tl::expected<Asked, Refusal> OllamaGenerate::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    Ask ask = read_common(fields, served);
    fields.not_supported("context", Json::array());
    fields.not_supported("template", "");
    const std::string prompt = fields.text("prompt").value_or("");
    const std::string suffix = fields.text("suffix").value_or("");
    const bool raw = fields.flag("raw").value_or(false);
    if (prompt.empty() && suffix.empty())
        fields.refuse("prompt", "must be a text that is not empty");
    if (!suffix.empty()) {  // no template is used for it, so 'raw', which Void sends along, changes nothing
        ask.prompts = {RawPrompt{.gap = Gap{.before = prompt, .after = suffix}}};
        ask.thoughts_in_text = true;
    } else if (raw) {
        ask.turn.raw_prompt = prompt;
    } else {
        if (auto system = fields.text("system"); system && !system->empty())
            ask.turn.messages.push_back({"system", std::move(*system), {}});
        ask.turn.messages.push_back({"user", prompt, {}});
    }
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    return Asked{std::move(ask), std::make_unique<OllamaWording>(served.name, Shape::Generate)};
}

std::string OllamaGenerate::error(const Refusal& refusal) const
{
    return text_of(ollama_error(refusal));
}

bool only_moves_model(const Json& body)
{
    const Fields fields(body);
    const auto is_empty = [&](const char* name, const Json& empty) {
        const Json* value = fields.find(name);
        return !value || *value == empty;
    };
    return is_empty("messages", Json::array()) && is_empty("prompt", "") && is_empty("suffix", "");
}

PlainAnswer ollama_move_model(const PlainRequest& request)
{
    const std::string& name = request.served->name;
    const Json* stays = Fields(request.body).find("keep_alive");
    // Zero, as a number or as a duration ("0", "0s"), unloads the model. Other times are ignored: --idle-unload says
    // when a model is unloaded.
    const bool leaves = stays && (*stays == 0 || *stays == "0" || *stays == "0s");
    const auto file = request.models.find(name);
    if (!file)
        return tl::unexpected(file.error());
    if (const auto done = leaves ? request.desk.let_go(*file) : request.desk.need(*file).map([](const auto&) {}); !done)
        return tl::unexpected(refusal_of(done.error()));
    Json json = {{"model", name}, {"created_at", iso_time(current_time())}};
    if (request.path == "/api/chat")
        json["message"] = {{"role", "assistant"}, {"content", ""}};
    else
        json["response"] = "";
    json["done"] = true;
    json["done_reason"] = leaves ? "unload" : "load";
    return text_of(json) + '\n';
}

/// Answers clients that check whether Ollama runs before they ask for anything, some by exactly these words.
PlainAnswer ollama_heartbeat(const PlainRequest&)
{
    return "Ollama is running";
}

PlainAnswer ollama_version(const PlainRequest&)
{
    // Clients compare this with the versions of Ollama, and ours would look too old to be used. Codex wants this
    // version at least, for the Responses API.
    return text_of({{"version", "0.13.4"}});
}

PlainAnswer ollama_tags(const PlainRequest& request)
{
    Json all = Json::array();
    for (const ModelFile& file : request.models.all()) {
        if (request.served && request.served->name == file.name) {
            all.push_back(entry_of(file.name, request.served->info));
        } else {
            engine::ModelInfo unread;
            unread.file_bytes = file.bytes;
            all.push_back(entry_of(file.name, unread));
        }
    }
    return text_of(Json::object({{"models", std::move(all)}}));
}

PlainAnswer ollama_show(const PlainRequest& request)
{
    const engine::ModelInfo& info = request.served->info;
    const std::string& family = info.architecture;
    const Json facts = {
        {"general.architecture", family},
        {"general.basename", request.served->name},  // the name in VS Code's list
        {"general.parameter_count", info.parameters},
        {family + ".context_length", info.context_in_use > 0 ? info.context_in_use : info.context_tokens},
        {family + ".embedding_length", info.embedding_length},
        {family + ".block_count", info.layers},
        {family + ".attention.head_count", info.heads},
        {family + ".attention.head_count_kv", info.kv_heads}};
    const std::string& chat_template = request.served->text->chat_template();
    Json capabilities = Json::array({info.embeds ? "embedding" : "completion"});
    if (!info.embeds && knows_tools(chat_template))
        capabilities.push_back("tools");
    if (!info.embeds && knows_thoughts(chat_template))
        capabilities.push_back("thinking");
    if (!info.embeds && request.served->text->fill_marks().are_there())
        capabilities.push_back("insert");
    return text_of({{"license", info.license},
                    {"modelfile", ""},
                    {"parameters", ""},
                    {"template", chat_template},
                    {"details", details_of(info)},
                    {"model_info", facts},
                    {"capabilities", std::move(capabilities)},
                    {"modified_at", iso_time({})}});
}

PlainAnswer ollama_ps(const PlainRequest& request)
{
    if (!request.served)
        return text_of(Json::object({{"models", Json::array()}}));
    Json entry = entry_of(request.served->name, request.served->info);
    std::int64_t host = 0, device = 0;
    if (const auto t = request.metrics.telemetry()) {
        host = t->weight_bytes_host + t->kv_bytes_host + t->state_bytes_host + t->scratch_bytes;
        device = t->device ? t->device->used_bytes() : 0;
    }
    entry["size"] = host + device;
    entry["size_vram"] = device;
    entry["context_length"] = request.served->info.context_in_use;
    constexpr std::chrono::years kForEver(100);  // without a time the model seems about to be unloaded
    entry["expires_at"] = iso_time(current_time() + kForEver);
    return text_of(Json::object({{"models", Json::array({std::move(entry)})}}));
}

PlainAnswer ollama_pull(const PlainRequest&)
{
    return text_of({{"status", "success"}}) + '\n';  // the last line of Ollama's stream of progress
}

}  // namespace server
