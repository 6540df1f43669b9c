// Speaks the turns of the fake engine: the script's words, one a step, at the script's pace.
#include "tests/support/fake_engine.h"

#include <algorithm>
#include <sstream>
#include <thread>

using Clock = std::chrono::steady_clock;

struct FakeEngine::FakeTurn {
    engine::TurnId id = 0;
    FakeScript::Settings settings;
    engine::Request request;
    engine::Listener listener;
    std::stop_token stop;
    Clock::time_point asked = Clock::now();
    Clock::time_point first = {};  // when the prompt was done
    engine::Turn turn = {};
    bool prefilled = false, said_nearly_full = false;
    std::optional<engine::Result<engine::Turn>> result = {};

    Clock::time_point due() const
    {
        return prefilled ? first + settings.per_token * turn.telemetry.generated_tokens : asked + settings.prefill;
    }
};

namespace {

double milliseconds(Clock::duration duration)
{
    return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

int FakeEngine::words_in(std::string_view text)
{
    std::istringstream stream{std::string(text)};
    std::string word;
    int count = 0;
    while (stream >> word)
        ++count;
    return count;
}

/// A word is a token, and the template adds four to each message.
engine::PromptLedger FakeEngine::ledger_of(const engine::Request& request)
{
    engine::PromptLedger ledger;
    ledger.total_tokens = words_in(request.raw_prompt);
    int index = 0;
    for (const engine::Message& message : request.messages) {
        const int first = ledger.total_tokens + 4;
        const int words = words_in(message.text);
        ledger.messages.push_back({.message = index++, .tokens = {first, first + words}});
        ledger.template_tokens += 4;
        ledger.total_tokens = first + words;
    }
    return ledger;
}

engine::Result<engine::TurnId> FakeEngine::begin(engine::SequenceId sequence, const engine::Request& request,
                                                 const engine::Listener& listener, std::stop_token stop)
{
    {
        const std::lock_guard lock(script_->mutex_);
        script_->requests_.push_back(request);
        script_->sequences_.push_back(sequence);
    }
    auto begun =
        std::make_shared<FakeTurn>(FakeTurn{last_turn_ + 1, script_->settings(), request, listener, std::move(stop)});
    if (begun->settings.echoes) {
        std::istringstream last(request.messages.empty() ? request.raw_prompt : request.messages.back().text);
        begun->settings.words.clear();
        for (std::string word; last >> word;)
            begun->settings.words.push_back(word + ' ');
    }
    if (begun->settings.says_turn)
        std::ranges::fill(begun->settings.words, std::to_string(begun->id) + ' ');
    if (begun->settings.turn_with_error != 0 && begun->settings.turn_with_error != begun->id)
        begun->settings.generate_error.reset();
    engine::Turn& turn = begun->turn;
    turn.guessed = begun->settings.guessed;
    engine::Telemetry& frame = turn.telemetry;
    frame = placement_frame(begun->settings, context_tokens_);
    frame.phase = engine::Phase::Prefill;
    frame.sequence = sequence;
    turn.ledger = ledger_of(request);
    frame.prompt_tokens = turn.ledger.total_tokens;
    frame.context_tokens = std::min(frame.prompt_tokens, frame.context_limit);
    if (frame.prompt_tokens > frame.context_limit)
        return engine::fail(engine::Error::Code::ContextFull,
                            "the prompt needs " + std::to_string(frame.prompt_tokens) +
                                " tokens and the context holds " + std::to_string(frame.context_limit));
    if (listener.on_prompt)
        listener.on_prompt(turn.ledger);
    if (listener.on_telemetry)
        listener.on_telemetry(frame);
    if (begun->settings.warning && listener.on_event)
        listener.on_event({.kind = engine::Event::Kind::Warning, .sentence = *begun->settings.warning});
    if (begun->settings.event && listener.on_event)
        listener.on_event(*begun->settings.event);
    turns_.push_back(std::move(begun));
    return ++last_turn_;
}

/// Ends the turn, if it has nothing more to say.
void FakeEngine::settle(FakeTurn& t)
{
    engine::Telemetry& frame = t.turn.telemetry;
    const auto end = [&](engine::StopReason reason) {
        t.turn.reason = reason;
        t.result = t.turn;
    };
    if (frame.generated_tokens == int(t.settings.words.size())) {
        frame.phase = engine::Phase::Idle;
        frame.shares = t.settings.shares;
        frame.drafted_tokens = t.settings.drafted_tokens;
        frame.accepted_tokens = t.settings.accepted_tokens;
        if (t.settings.by_block)
            frame.mtp = engine::DraftModelTelemetry{frame.drafted_tokens, frame.accepted_tokens, 3'000'000};
        if (frame.shares && frame.shares->decode_s() > 0)  // one answer has one speed
            frame.decode_tokens_per_s = frame.shares->steps / frame.shares->decode_s();
        t.result = t.turn;
    } else if (t.settings.generate_error && frame.generated_tokens == t.settings.tokens_before_error) {
        t.result = tl::unexpected(*t.settings.generate_error);
    } else if (frame.context_tokens == frame.context_limit) {
        end(engine::StopReason::ContextFull);
    } else if (t.request.max_tokens >= 0 && frame.generated_tokens >= t.request.max_tokens) {
        end(engine::StopReason::MaxTokens);
    }
}

void FakeEngine::cancel(FakeTurn& t)
{
    const std::lock_guard lock(script_->mutex_);
    ++script_->stopped_turns_;
    t.turn.reason = engine::StopReason::Cancelled;
    t.result = t.turn;
}

/// Takes the next step of a turn: reads the prompt, or says a word.
void FakeEngine::advance(FakeTurn& t)
{
    engine::Telemetry& frame = t.turn.telemetry;
    if (!t.prefilled) {
        t.prefilled = true;
        t.first = Clock::now();
        frame.prefilled_tokens = frame.prompt_tokens;
        frame.phase = engine::Phase::Decode;
        return settle(t);
    }
    const std::string& word = t.settings.words[std::size_t(frame.generated_tokens)];
    frame.device = script_->one_of(&FakeScript::Settings::device);
    frame.expert_map = script_->one_of(&FakeScript::Settings::expert_map);
    ++frame.generated_tokens;
    ++frame.context_tokens;
    frame.time_us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
    if (!frame.ttft_ms)
        frame.ttft_ms = milliseconds(Clock::now() - t.asked);
    else
        frame.decode_tokens_per_s = 1000 * (frame.generated_tokens - 1) / milliseconds(Clock::now() - t.first);
    t.turn.text += word;
    if (t.listener.on_text)
        t.listener.on_text(word);
    if (t.listener.on_telemetry)
        t.listener.on_telemetry(frame);
    if (!t.said_nearly_full && frame.context_tokens * 10 >= frame.context_limit * 9 && t.listener.on_event) {
        t.said_nearly_full = true;
        t.listener.on_event({.kind = engine::Event::Kind::ContextNearlyFull, .sentence = "nearly full"});
    }
    settle(t);
}

std::vector<engine::TurnId> FakeEngine::step(const engine::Listener& listener)
{
    const auto running = [](const std::shared_ptr<FakeTurn>& t) { return !t->result; };
    const auto stopped = [&](const std::shared_ptr<FakeTurn>& t) { return running(t) && t->stop.stop_requested(); };
    auto next = Clock::time_point::max();
    for (const auto& t : turns_)
        next = running(t) ? std::min(next, t->due()) : next;
    while (std::ranges::any_of(turns_, running) && Clock::now() < next && std::ranges::none_of(turns_, stopped))
        std::this_thread::sleep_for(std::min<Clock::duration>(next - Clock::now(), std::chrono::milliseconds(1)));
    poll({.on_event = listener.on_event});
    std::vector<engine::TurnId> over;
    for (const auto& t : turns_) {
        if (stopped(t))
            cancel(*t);
        else if (running(t) && t->due() <= Clock::now())
            advance(*t);
        if (t->result)
            over.push_back(t->id);
    }
    return over;
}

engine::Result<engine::Turn> FakeEngine::end(engine::TurnId id)
{
    const auto found = std::ranges::find(turns_, id, [](const auto& t) { return t->id; });
    if (found == turns_.end())
        return engine::fail(engine::Error::Code::BadRequest, "there is no such turn, or it was ended before");
    if (!(*found)->result)
        cancel(**found);
    auto result = std::move(*(*found)->result);
    turns_.erase(found);
    return result;
}

engine::Result<engine::Turn> FakeEngine::generate(engine::SequenceId sequence, const engine::Request& request,
                                                  const engine::Listener& listener, std::stop_token stop)
{
    const auto turn = begin(sequence, request, listener, std::move(stop));
    if (!turn)
        return tl::unexpected(turn.error());
    while (std::ranges::count(step(listener), *turn) == 0) {
    }
    return end(*turn);
}
