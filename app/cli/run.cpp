// run: one answer, or a chat on the terminal.
#include "app/cli/command.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

struct RunOptions {
    CommonOptions common;
    engine::SamplingOptions sampling;
    std::string prompt, file, system, template_arguments;
    std::vector<std::string> stop;
    int max_tokens = -1;
    bool raw = false, drop_oldest = false;
};

// Ctrl+C ends the answer, a second one the program.
std::atomic<int> interrupts{0};

void on_interrupt(int)
{
    if (++interrupts > 1)
        std::_Exit(130);
}

const char* reason_name(engine::StopReason reason)
{
    switch (reason) {
    case engine::StopReason::EndOfTurn:
        return "end_of_turn";
    case engine::StopReason::StopString:
        return "stop_string";
    case engine::StopReason::MaxTokens:
        return "max_tokens";
    case engine::StopReason::ContextFull:
        return "context_full";
    case engine::StopReason::Cancelled:
        return "cancelled";
    }
    return "";
}

/// Where the KV lies and what moved: part of every JSON result.
nlohmann::ordered_json placement_summary(const engine::Telemetry& t, const std::map<std::string, int>& events)
{
    nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
    for (const auto& [kind, count] : events)
        kinds[kind] = count;
    return {{"device", "cpu"},
            {"kv_blocks_host", t.kv_blocks_host},
            {"kv_blocks_device", t.kv_blocks_device},
            {"kv_bytes_host", t.kv_bytes_host},
            {"kv_bytes_device", t.kv_bytes_device},
            {"link_bytes", 0},
            {"events", kinds}};
}

nlohmann::ordered_json to_json(const engine::Turn& turn, const std::map<std::string, int>& events)
{
    const engine::Telemetry& t = turn.telemetry;
    const auto number = [](const auto& value) {
        return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
    };
    nlohmann::ordered_json tpot = nullptr;
    if (t.tpot)
        tpot = {{"mean", t.tpot->mean_ms}, {"p50", t.tpot->p50_ms}, {"p99", t.tpot->p99_ms}};
    return {{"text", turn.text},
            {"reason", reason_name(turn.reason)},
            {"seed", turn.seed},
            {"prompt_tokens", t.prompt_tokens},
            {"reused_tokens", t.reused_tokens},
            {"generated_tokens", t.generated_tokens},
            {"context_tokens", t.context_tokens},
            {"context_limit", t.context_limit},
            {"ttft_ms", number(t.ttft_ms)},
            {"tpot_ms", tpot},
            {"prefill_tok_s", number(t.prefill_tokens_per_s)},
            {"decode_tok_s", number(t.decode_tokens_per_s)},
            {"weight_bytes", t.weight_bytes_host + t.weight_bytes_device},
            {"scratch_bytes", t.scratch_bytes},
            {"placement", placement_summary(t, events)}};
}

void print_rates(const engine::Telemetry& t)
{
    std::fprintf(stderr, "\n[%d prompt tokens, %d reused", t.prompt_tokens, t.reused_tokens);
    if (t.ttft_ms)
        std::fprintf(stderr, ", first token after %.0f ms", *t.ttft_ms);
    if (t.prefill_tokens_per_s)
        std::fprintf(stderr, ", prefill %.1f tok/s", *t.prefill_tokens_per_s);
    if (t.decode_tokens_per_s)
        std::fprintf(stderr, ", decode %.1f tok/s", *t.decode_tokens_per_s);
    std::fprintf(stderr, ", context %d of %d]\n", t.context_tokens, t.context_limit);
}

/// One model, one conversation on the terminal.
class Session
{
public:
    explicit Session(const RunOptions& options)
        : options_(options)
        , engine_(engine::make_engine())
    {
    }

    int open()
    {
        const auto request = options_.common.request();
        if (!request)
            return report(request.error());
        const auto info = engine_->load(*request, progress_on_stderr(), {});
        if (!info)
            return report(info.error());
        // A base model knows no turns: it continues the text, in the window as here.
        raw_ = options_.raw || !info->has_chat_template;
        if (raw_ && !options_.raw)
            std::fprintf(stderr, "note: this model has no chat template: it continues your text\n");
        const auto sequence = engine_->create_sequence();
        if (!sequence)
            return report(sequence.error());
        sequence_ = *sequence;
        if (!options_.system.empty())
            messages_.push_back({"system", options_.system, {}});
        return kDone;
    }

    int answer(const std::string& prompt)
    {
        engine::Request request;
        request.sampling = options_.sampling;
        request.max_tokens = options_.max_tokens;
        request.stop = options_.stop;
        request.template_arguments_json = options_.template_arguments;
        request.full_context = options_.drop_oldest ? engine::FullContext::DropOldest : engine::FullContext::Stop;
        if (raw_) {
            request.raw_prompt = prompt;
        } else {
            messages_.push_back({"user", prompt, {}});
            request.messages = messages_;
        }

        interrupts = 0;
        std::stop_source stop;
        std::map<std::string, int> events;
        engine::Listener listener;
        listener.on_text = [&](std::string_view text) {
            if (!options_.common.json) {
                std::fputs(for_terminal(text).c_str(), stdout);
                std::fflush(stdout);
            }
        };
        listener.on_telemetry = [&](const engine::Telemetry&) {
            if (interrupts > 0)
                stop.request_stop();
        };
        listener.on_event = [&](const engine::Event& event) {
            ++events[event.kind == engine::Event::Kind::TurnsDropped ? "turns_dropped" : "other"];
            if (!event.sentence.empty())
                std::fprintf(stderr, "note: %s\n", for_terminal(event.sentence).c_str());
        };
        const auto turn = engine_->generate(sequence_, request, listener, stop.get_token());
        if (!turn) {
            if (!raw_)
                messages_.pop_back();
            return report(turn.error());
        }
        if (!raw_)
            messages_.push_back({"assistant", turn->text, {}});
        if (options_.common.json)
            std::printf("%s\n",
                        to_json(*turn, events).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
        else
            std::puts("");
        print_rates(turn->telemetry);
        return kDone;
    }

    int chat()
    {
        std::fprintf(stderr, "Type a message; an empty line or the end of input ends the chat, Ctrl+C an answer.\n");
        std::string line;
        for (;;) {
            std::fputs("> ", stderr);
            if (!std::getline(std::cin, line) || line.empty())
                return kDone;
            if (!line.empty() && line.back() == '\r')
                line.pop_back();
            answer(line);
        }
    }

private:
    const RunOptions& options_;
    std::unique_ptr<engine::Engine> engine_;
    engine::SequenceId sequence_ = 0;
    std::vector<engine::Message> messages_;
    bool raw_ = false;
};

int run(const RunOptions& options)
{
    std::signal(SIGINT, on_interrupt);
    std::string prompt = options.prompt;
    if (!options.file.empty()) {
        const auto text = read_text(options.file);
        if (!text)
            return report(text.error());
        prompt = *text;
    }
    Session session(options);
    if (const int failed = session.open())
        return failed;
    return prompt.empty() ? session.chat() : session.answer(prompt);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("run", "Answer a prompt, or chat on the terminal");
    auto r = std::make_shared<RunOptions>();
    r->common.add_to(*command);
    add_sampling(*command, r->sampling);
    command->add_option("-p,--prompt", r->prompt, "the prompt; without one the terminal is a chat");
    command->add_option("-f,--file", r->file, "a file with the prompt; - is standard input");
    command->add_option("--system", r->system, "system prompt");
    command->add_option("-n,--predict", r->max_tokens, "tokens of the answer at most; -1: until it ends");
    command->add_option("--stop", r->stop, "a text that ends the answer; may be given several times");
    command->add_option("--template-args", r->template_arguments, "JSON object of further template variables");
    command->add_flag("--raw", r->raw, "no chat template: the model continues the prompt");
    command->add_flag("--drop-oldest", r->drop_oldest, "when the context is full, leave out the oldest turns");
    command->callback([r, &exit_code] { exit_code = run(*r); });
}

}  // namespace cli
