#include "app/cli/session.h"

#include "app/cli/interrupt.h"
#include "app/cli/remote.h"
#include "app/cli/thoughts.h"
#include "app/cli/turn_report.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

namespace cli {

namespace {

// app/exchange/README.md describes the format, so that the window can read it.
constexpr std::string_view kHeadings[] = {"## System", "## User", "## Assistant"};

bool looks_like_heading(std::string_view line)
{
    line.remove_prefix(std::min(line.find_first_not_of('\\'), line.size()));
    return std::any_of(std::begin(kHeadings), std::end(kHeadings), [&](std::string_view heading) {
        const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
        return line.starts_with(heading) && (line.size() == heading.size() || !letter(line[heading.size()]));
    });
}

/// Puts a backslash, which Markdown does not show, before each line that looks like one of our headings.
std::string escaped(const std::string& text)
{
    std::string all;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
        const std::string_view line = std::string_view(text).substr(from, end - from);
        if (looks_like_heading(line))
            all += '\\';
        all += line;
        from = end;
    }
    return all;
}

}  // namespace

Session::Session(RunOptions& options)
    : options_(options)
    , engine_(engine::make_engine())
    , sampling_(options.sampling)
{
}

int Session::open()
{
    auto request = options_.common.request(options_.remote.empty() ? Computes::Here : Computes::AServer);
    if (!request)
        return report(request.error());
    if (const engine::Status ok = options_.draft.add_to(*request); !ok)
        return report(ok.error());
    if (!options_.remote.empty()) {
        auto there = engine_elsewhere(options_);
        if (!there)
            return report(there.error());
        engine_ = std::move(there->engine);
        request->model = std::move(there->model);
    }
    const StopOnInterrupt stop;
    const auto info = engine_->load(*request, progress_on_stderr(), stop.token());
    if (!info)
        return report(info.error());
    // A model without a chat template knows no turns: it continues the text, in the window as here.
    raw_ = options_.raw || !info->has_chat_template;
    if (raw_ && !options_.raw)
        std::fprintf(stderr, "note: this model has no chat template: it continues your text\n");
    const auto sequence = engine_->create_sequence();
    if (!sequence)
        return report(sequence.error());
    sequence_ = *sequence;
    if (!set_system(options_.system) && !options_.system.empty())
        std::fprintf(stderr, "note: the system prompt is not used where text is continued (--raw, or a model without a "
                             "chat template)\n");
    return kDone;
}

int Session::answer(const std::string& prompt)
{
    if (raw_)
        messages_.clear();  // every text stands for itself
    messages_.push_back({"user", prompt, {}});
    return ask();
}

int Session::again()
{
    const bool answered = !messages_.empty() && messages_.back().role == "assistant";
    if (!answered)
        return report({engine::Error::Code::BadRequest, "nothing has been answered yet"});
    const engine::Message answer = messages_.back();
    const engine::Message question = messages_[messages_.size() - 2];
    messages_.pop_back();
    if (sampling_.seed)
        ++*sampling_.seed;  // the same seed would give the same answer
    const std::size_t asked = messages_.size();
    const int code = ask();
    if (messages_.size() < asked) {  // it failed, or was stopped at once: ask() has removed the question, too
        messages_.push_back(question);
        messages_.push_back(answer);
    }
    return code;
}

void Session::start_over()
{
    std::erase_if(messages_, [](const engine::Message& message) { return message.role != "system"; });
}

bool Session::set_system(const std::string& text)
{
    if (raw_)
        return false;
    std::erase_if(messages_, [](const engine::Message& message) { return message.role == "system"; });
    if (!text.empty())
        messages_.insert(messages_.begin(), {"system", text, {}});
    return true;
}

engine::Status Session::save(const std::filesystem::path& file) const
{
    const std::string name = engine::utf8_text(file);
    if (std::error_code error; std::filesystem::exists(file, error) || error)
        return engine::fail(engine::Error::Code::BadRequest, "'" + name + "' is there already; nothing was written");
    std::ofstream out(file, std::ios::binary);
    for (const engine::Message& message : messages_) {
        const std::size_t heading = message.role == "system" ? 0 : message.role == "user" ? 1 : 2;
        out << kHeadings[heading] << "\n\n" << escaped(message.text) << "\n\n";
    }
    out.close();
    if (!out)
        return engine::fail(engine::Error::Code::CannotRead, "'" + name + "' cannot be written");
    return {};
}

/// Asks the last message, which is the question, and prints the answer. The question is removed if there is no answer.
int Session::ask()
{
    engine::Request request;
    request.sampling = sampling_;
    request.max_tokens = options_.max_tokens;
    request.most_drafted = options_.draft.most_drafted();
    request.drafters = options_.draft.drafters();
    request.stop = options_.stop;
    request.grammar = options_.grammar;
    request.json_schema = options_.json_schema;
    request.template_arguments_json = options_.template_arguments;
    request.full_context = options_.drop_oldest ? engine::FullContext::DropOldest : engine::FullContext::Stop;
    if (options_.tokens)
        request.top_logprobs = -1;  // each token, but not how likely it was
    if (raw_)
        request.raw_prompt = messages_.back().text;
    else
        request.messages = messages_;
    for (engine::Message& message : request.messages)
        if (message.role == "assistant")
            message.text = without_thoughts(message.text);
    const std::size_t asked = messages_.size();
    const int code = print_answer(request);
    if (messages_.size() == asked)
        messages_.pop_back();
    return code;
}

int Session::print_answer(const engine::Request& request)
{
    const StopOnInterrupt stop;  // stops at once if Ctrl+C came while the model was loaded
    std::map<std::string, int> events;
    engine::Listener listener;
    PrintedMarks marks;
    AnswerTokens tokens;
    if (options_.tokens)
        listener.on_token = [&](const engine::TokenLogprobs& token) { tokens.add(token.written.id); };
    listener.on_text = [&](std::string_view text) {
        if (options_.common.json)
            return;
        std::fputs(for_terminal(marks.add(text)).c_str(), stdout);
        std::fflush(stdout);
    };
    listener.on_event = [&](const engine::Event& event) {
        ++events[kind_name(event.kind)];
        if (!event.sentence.empty())
            std::fprintf(stderr, "note: %s\n", for_terminal(event.sentence).c_str());
    };
    const auto turn = engine_->generate(sequence_, request, listener, stop.token());
    stopped_ = interrupted();
    clear_interrupts();
    std::fputs(for_terminal(marks.end()).c_str(), stdout);
    if (!turn)
        return report(turn.error());
    if (!turn->text.empty())
        messages_.push_back({"assistant", turn->text, {}});
    if (options_.common.json)
        std::printf("%s\n", to_json(*turn, events, options_.tokens ? &tokens : nullptr).c_str());
    else
        std::puts("");
    print_rates(turn->telemetry);
    return kDone;
}

}  // namespace cli
