#include "engine/run/turn.h"

#include "engine/metrics/clock.h"
#include "engine/run/saved_conversations.h"

#include <algorithm>

namespace engine {

namespace {

int common_prefix(std::span<const int> a, std::span<const int> b)
{
    const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    return int(end - a.begin());
}

// A recurrent state cannot be cut. So many tokens at most are computed again where nothing better is known.
constexpr int kCheckpointTokens = 4096;

/// Where a prompt is worth going back to, lowest first: to the end of the system's message, which other conversations
/// share, and to that of the newest one, which is answered again, or where the next prompt leaves out what was thought.
std::vector<int> checkpoint_positions(const PromptLedger& ledger, int prompt_tokens)
{
    std::vector<int> positions;
    for (int tokens = kCheckpointTokens; tokens < prompt_tokens; tokens += kCheckpointTokens)
        positions.push_back(tokens);
    if (!ledger.messages.empty()) {
        positions.push_back(ledger.messages.front().tokens.last);
        positions.push_back(ledger.messages.back().tokens.last);
    }
    std::erase_if(positions, [&](int tokens) { return tokens <= 0 || tokens >= prompt_tokens; });
    std::ranges::sort(positions);
    return positions;
}

DryBreakers dry_breakers(const SamplingOptions& sampling, const Tokenizer& tokenizer)
{
    if (sampling.dry_multiplier <= 0.0f)
        return {};
    const auto ids_of = [&](std::string_view text) {
        std::vector<int> ids;
        for (const Token& token :
             tokenizer.encode(text, {EncodeOptions::Specials::AsText, EncodeOptions::Start::Middle}))
            ids.push_back(token.id);
        return ids;
    };
    return DryBreakers::find(
        sampling.dry_sequence_breakers, tokenizer.size(), [&](int id) { return std::string(tokenizer.piece(id)); },
        ids_of);
}

/// Whether an answer's first space is the tokenizer's, not the model's.
bool begins_with_space(const Request& request, const Tokenizer& tokenizer)
{
    return !request.messages.empty() && !request.continue_last &&
           tokenizer.vocabulary().add_space_prefix == Vocabulary::Flag::Yes;
}

}  // namespace

TurnRunner::TurnRunner(TurnHost host, Conversation& conversation, const Request& request, std::uint64_t seed)
    : host_(std::move(host))
    , conversation_(conversation)
    , request_(request)
    , sampler_(request.sampling, host_.model.info().vocabulary, seed,
               dry_breakers(request.sampling, host_.model.tokenizer()))
    , text_(request.stop, begins_with_space(request, host_.model.tokenizer()), host_.listener.on_text)
    , meter_(host_.model.clock())
    , draft_length_(request.most_drafted)
{
    turn_.seed = seed;
}

Result<Turn> TurnRunner::run()
{
    const int limit = host_.model.context_tokens();
    const int room = std::min(request_.max_tokens >= 0 ? request_.max_tokens : limit, limit / 4);
    const PromptBuilder builder(host_.model.chat_template(), host_.model.tokenizer(), conversation_.replies,
                                host_.stop);
    auto prompt = builder.build(request_, limit, room);
    if (!prompt && prompt.error().code != Error::Code::Cancelled)
        return tl::unexpected(prompt.error());
    if (!prompt) {
        turn_.reason = StopReason::Cancelled;
        turn_.telemetry = frame(Phase::Idle);
        return std::move(turn_);
    }

    turn_.ledger = std::move(prompt->ledger);
    opened_ = std::move(prompt->opened);
    turn_.prompt = {0, int(prompt->ids.size())};
    turn_.answer = {turn_.prompt.last, turn_.prompt.last};
    if (host_.listener.on_prompt)
        host_.listener.on_prompt(turn_.ledger);

    history_ = prompt->ids;
    Status status = prefill(prompt->ids);
    if (status)
        status = decode();
    end_step();
    text_.finish();
    turn_.text = text_.text();
    if (!status && status.error().code != Error::Code::Cancelled)
        return tl::unexpected(status.error());
    if (!status)
        turn_.reason = StopReason::Cancelled;
    host_.model.cache().states().keep(conversation_.kv);
    keep_reply();
    turn_.answer.last = turn_.answer.first + int(answer_.size());
    turn_.telemetry = frame(Phase::Idle);
    if (host_.listener.on_telemetry)
        host_.listener.on_telemetry(turn_.telemetry);
    return std::move(turn_);
}

/// One step, with the KV of other conversations given up when there is no room for this one's.
Status TurnRunner::step(std::span<const int> tokens)
{
    for (;;) {
        Status done = host_.model.append(conversation_.kv, tokens);
        const bool no_room =
            !done && (done.error().code == Error::Code::ContextFull || done.error().code == Error::Code::NoMemory);
        if (!no_room || !host_.make_room(conversation_))
            return done;
    }
}

/// What the file keeps of the prompt's beginning goes into the KV cache.
Status TurnRunner::restore_saved(const std::vector<int>& prompt)
{
    SavedStart& saved = host_.saved;
    if (!saved.asked)
        return {};
    const std::int64_t start = now_us();
    const auto goes_on = [&](int tokens) {
        restored_ = reused_ = prefilled_ = tokens;
        report(Phase::Prefill, false);
        host_.between_steps();
        return !host_.stop.stop_requested();
    };
    while (saved.reader) {
        const auto done = restore(host_.model.cache(), conversation_.kv, *saved.reader, prompt, goes_on);
        saved.miss = done.value_or(SavedKvMiss::None);
        if (done || !host_.make_room(conversation_))  // without room, what is there must do
            break;
    }
    restored_ = conversation_.kv.length();
    if (saved.miss == SavedKvMiss::Damaged && host_.forget_saved)
        host_.forget_saved();
    if (host_.stop.stop_requested())
        return fail(Error::Code::Cancelled, "the answer was stopped");
    tell_of_saved(now_us() - start);
    saved.reader.reset();
    return {};
}

/// A first question has nothing to restore; and where nothing has gone wrong, a few tokens are not worth a word.
void TurnRunner::tell_of_saved(std::int64_t duration_us)
{
    SavedKvMiss miss = host_.saved.miss;
    const bool usual = miss == SavedKvMiss::NoFile || miss == SavedKvMiss::OtherText;
    if (usual && turn_.prompt.count() - restored_ < host_.model.cache().block_tokens())
        miss = SavedKvMiss::None;
    const bool answered =
        std::ranges::any_of(request_.messages, [](const Message& message) { return message.role == "assistant"; });
    if (restored_ == 0 && (!answered || miss == SavedKvMiss::None))
        return;
    Event event;
    event.kind = restored_ > 0 ? Event::Kind::KvRestored : Event::Kind::KvPrefilled;
    event.tokens = restored_ > 0 ? TokenRange{0, restored_} : turn_.prompt;
    event.bytes = host_.saved.reader ? host_.saved.reader->bytes_read() : 0;
    event.duration_us = duration_us;
    event.time_us = now_us();
    event.miss = miss;
    if (host_.listener.on_event)
        host_.listener.on_event(event);
}

/// Computes what the KV cache does not hold yet. The last token is always computed: its logits start the answer.
Status TurnRunner::prefill(const std::vector<int>& prompt)
{
    KvSequence& kv = conversation_.kv;
    if (Status done = restore_saved(prompt); !done)
        return done;
    reused_ = host_.model.cache().truncate(kv, std::min(common_prefix(kv.ids, prompt), int(prompt.size()) - 1));
    restored_ = std::min(restored_, reused_);
    prefilled_ = reused_;
    const std::vector<int> checkpoints = checkpoint_positions(turn_.ledger, int(prompt.size()));
    while (prefilled_ < int(prompt.size())) {
        report(Phase::Prefill, true);
        host_.between_steps();
        if (host_.stop.stop_requested())
            return fail(Error::Code::Cancelled, "the answer was stopped");
        const auto stop = std::ranges::upper_bound(checkpoints, prefilled_);
        const int end = stop != checkpoints.end() && host_.model.cache().states().any() ? *stop : int(prompt.size());
        const auto chunk = std::span(prompt).subspan(std::size_t(prefilled_), std::size_t(end - prefilled_));
        const auto tokens = chunk.first(std::min(chunk.size(), std::size_t(host_.model.max_rows())));
        const std::int64_t start = now_us();
        if (Status done = step(tokens); !done)
            return done;
        meter_.add_prefill(int(tokens.size()), now_us() - start);
        prefilled_ += int(tokens.size());
        if (std::ranges::binary_search(checkpoints, prefilled_))
            host_.model.cache().states().keep(kv);
        last_row_ = int(tokens.size()) - 1;
    }
    report(Phase::Prefill, true);
    note_nearly_full();
    return {};
}

/// Of the answer.
int TurnRunner::most_tokens() const
{
    return request_.max_tokens >= 0 ? request_.max_tokens : host_.model.context_tokens();
}

Status TurnRunner::decode()
{
    const int limit = host_.model.context_tokens();
    const int most = most_tokens();
    allow_drafts();
    while (int(answer_.size()) < most) {
        const auto logits = host_.model.logits(conversation_.kv, last_row_, sampler_.enough());
        if (!logits)
            return tl::unexpected(logits.error());
        const int id = sample(*logits);
        meter_.add_token();
        if (host_.model.ends_answer(id)) {
            turn_.reason = StopReason::EndOfTurn;
            return {};
        }
        if (answer_.empty())
            text_.begin_with(opened_.text);
        history_.push_back(id);
        answer_.push_back(id);
        if (text_.feed(host_.model.tokenizer().piece(id))) {
            turn_.reason = StopReason::StopString;
            return {};
        }
        report(Phase::Decode, answer_.size() == 1);
        if (!is_drafted(id)) {
            end_step();
            host_.between_steps();
        }
        if (host_.stop.stop_requested())
            return fail(Error::Code::Cancelled, "the answer was stopped");
        if (length() >= limit) {
            turn_.reason = StopReason::ContextFull;
            return {};
        }
        if (int(answer_.size()) == most)
            break;
        if (Status done = compute(id); !done) {
            if (done.error().code != Error::Code::ContextFull)
                return done;
            turn_.reason = StopReason::ContextFull;
            return {};
        }
        if (length() % kCheckpointTokens == 0)
            host_.model.cache().states().keep(conversation_.kv);
        note_nearly_full();
    }
    turn_.reason = StopReason::MaxTokens;
    return {};
}

/// A state cannot be cut, and computing again what stood after each wrong draft costs the step that was saved: models
/// with recurrent layers draft nothing.
void TurnRunner::allow_drafts()
{
    if (request_.most_drafted > 0 && host_.model.max_rows() > 1 && !host_.model.cache().states().any())
        repeated_.emplace(host_.model.context_tokens());
    step_.reserve(DraftLength::kMost + 1);
}

/// The token's row has been computed with those before it.
bool TurnRunner::is_drafted(int id) const
{
    return unjudged() > 0 && step_[std::size_t(last_row_) + 1] == id;
}

/// Drafted tokens at the end of the KV cache of which it is not known whether they stand.
int TurnRunner::unjudged() const
{
    return step_.empty() ? 0 : int(step_.size()) - 1 - last_row_;
}

/// What may follow the answer so far: no more than it may have, nor than the context and a step hold.
std::span<const int> TurnRunner::draft()
{
    if (!repeated_)
        return {};
    const int room = std::min(most_tokens() - int(answer_.size()), host_.model.context_tokens() - length()) - 1;
    return repeated_->next(history_, std::min({draft_length_.next(), room, host_.model.max_rows() - 1}));
}

/// Draft, verify, accept: the row of the answer's newest token, which is there already where it was drafted; else a
/// step, with rows of what may follow.
Status TurnRunner::compute(int id)
{
    if (is_drafted(id)) {
        ++last_row_;
        ++accepted_;
        return {};
    }
    step_us_ = now_us();
    const std::span<const int> guessed = draft();
    step_.assign(1, id);
    step_.insert(step_.end(), guessed.begin(), guessed.end());
    last_row_ = int(step_.size()) - 1;  // none is unjudged until they are computed
    Status done;
    if (!guessed.empty())
        done = host_.model.append(conversation_.kv, step_);
    if (guessed.empty() || !done) {  // no other conversation gives up KV for a guess
        step_.resize(1);
        done = step(step_);
    }
    last_row_ = 0;
    drafted_ += int(step_.size()) - 1;
    return done;
}

/// What was drafted and does not stand leaves the KV cache.
void TurnRunner::end_step()
{
    if (step_.empty())
        return;
    if (repeated_)
        draft_length_.note(int(step_.size()) - 1, last_row_, now_us() - step_us_);
    if (unjudged() > 0)
        host_.model.cache().truncate(conversation_.kv, length());
    step_.clear();
}

int TurnRunner::sample(const RowLogits& logits)
{
    const StepClock::Scope scope(clock(), StepClock::Part::Sampling);
    return sampler_.sample(logits, history_);
}

/// Early enough that somebody can still choose what is to happen when it is full.
void TurnRunner::note_nearly_full()
{
    const int used = length();
    const int limit = host_.model.context_tokens();
    if (said_nearly_full_ || std::int64_t(used) * 10 < std::int64_t(limit) * 9)
        return;
    said_nearly_full_ = true;
    if (!host_.listener.on_event)
        return;
    Event event;
    event.kind = Event::Kind::ContextNearlyFull;
    event.cause = Event::Cause::ContextFull;
    event.time_us = now_us();
    event.sentence = std::to_string(used) + " of " + std::to_string(limit) + " tokens of the context are used";
    host_.listener.on_event(event);
}

/// The next prompt holds this answer's text; it then takes these ids again.
void TurnRunner::keep_reply()
{
    if (request_.messages.empty() || text_.stopped() || answer_.empty())
        return;
    KeptReply reply{turn_.text, answer_};
    if (!opened_.text.empty())
        reply.ids.insert(reply.ids.begin(), history_.begin() + opened_.first, history_.begin() + turn_.prompt.last);
    if (request_.continue_last) {
        const TokenRange earlier = turn_.ledger.messages.back().tokens;
        reply.text.insert(0, request_.messages.back().text);
        reply.ids.insert(reply.ids.begin(), history_.begin() + earlier.first, history_.begin() + earlier.last);
    }
    conversation_.replies.push_back(std::move(reply));
}

Telemetry TurnRunner::frame(Phase phase)
{
    Telemetry t = host_.frames.make(host_.model, conversation_.kv, phase);
    t.prompt_tokens = turn_.prompt.count();
    t.reused_tokens = reused_;
    t.restored_tokens = restored_;
    t.prefilled_tokens = prefilled_ - reused_;
    t.context_tokens = length();
    t.generated_tokens = int(answer_.size());
    t.drafted_tokens = drafted_;
    t.accepted_tokens = accepted_;
    meter_.fill(t, host_.model.placement().host_waits_for_link());
    return t;
}

void TurnRunner::report(Phase phase, bool always)
{
    const std::int64_t now = now_us();
    if (!host_.listener.on_telemetry || (!always && now - last_report_us_ < Frames::kIntervalUs))
        return;
    last_report_us_ = now;
    const StepClock::Scope scope(clock(), StepClock::Part::Telemetry);
    host_.listener.on_telemetry(frame(phase));
}

}  // namespace engine
