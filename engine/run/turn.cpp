#include "engine/run/turn.h"

#include "engine/metrics/clock.h"
#include "engine/run/events.h"
#include "engine/run/model_drafter.h"
#include "engine/run/mtp_drafter.h"
#include "engine/run/ngram_index.h"
#include "engine/run/sampler_of.h"
#include "engine/run/saved_conversations.h"
#include "engine/sampling/log_shares.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

int common_prefix(std::span<const int> a, std::span<const int> b)
{
    const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    return int(end - a.begin());
}

/// Returns the places of a prompt to go back to, lowest first: the end of the system's message, which other
/// conversations share; and that of the newest message, which may be answered again, or behind which the next prompt
/// leaves out what was thought.
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

/// Drops the oldest replies that the newest prompt does not hold, where they are many: a prompt that is answered again
/// and again leaves an answer each time, which is of use where the user goes back to it.
void drop_old_replies(std::vector<KeptReply>& replies, std::span<const std::size_t> in_prompt)
{
    constexpr std::ptrdiff_t kMostOthers = 64;
    std::vector<char> stays(replies.size());
    for (const std::size_t number : in_prompt)
        stays[number] = true;
    std::ptrdiff_t surplus = std::ranges::count(stays, false) - kMostOthers;
    std::size_t number = 0;
    std::erase_if(replies, [&](const KeptReply&) { return !stays[number++] && surplus-- > 0; });
}

bool was_stopped(const Status& done)
{
    return !done && done.error().code == Error::Code::Cancelled;
}

/// Says whether an answer's first space is the tokenizer's, not the model's. A grammar says itself where spaces are.
bool begins_with_space(const Request& request, const Tokenizer& tokenizer)
{
    return !request.messages.empty() && !request.continue_last && request.grammar.empty() &&
           request.json_schema.empty() && tokenizer.vocabulary().add_space_prefix == Vocabulary::Flag::Yes;
}

}  // namespace

TurnStepper::TurnStepper(TurnHost host, Conversation& conversation, Request request, std::uint64_t seed)
    : host_(std::move(host))
    , conversation_(conversation)
    , request_(with_biased_tokens(std::move(request), host_.model.tokenizer()))
    , sampler_(sampler_of(request_, host_.model, seed))
    , text_(request_.stop, begins_with_space(request_, host_.model.tokenizer()), host_.listener.on_text)
    , meter_(host_.model.clock())
    , step_(request_.most_drafted, request_.draft_depth)
{
    turn_.seed = seed;
}

Result<Turn> TurnStepper::run(const std::function<void()>& between_steps)
{
    if (const Status ok = begin(); !ok)
        return tl::unexpected(ok.error());
    while (!over()) {
        between_steps();
        heed_stop();
        if (over())
            break;
        if (restores()) {
            restore_more();
            continue;
        }
        find_lost();
        next(most_rows());
        take(compute_alone(), true);
    }
    return result();
}

/// Makes the rules of a grammar. Tokens that a template writes, such as the ends of turns, are not meant by a grammar;
/// but the marks around calls are, where tools are offered.
Status TurnStepper::make_rules()
{
    if (request_.grammar.empty() && request_.json_schema.empty())
        return {};
    LoadedModel& model = host_.model;
    const auto marks = request_.tools_json.empty() ? LoadedModel::Marks::LeftOut : LoadedModel::Marks::Included;
    auto rules = AnswerRules::make(request_, model.tokenizer(), model.token_trie(marks), model.answer_ends());
    if (!rules)
        return tl::unexpected(rules.error());
    rules_ = std::move(*rules);
    return {};
}

Status TurnStepper::begin()
{
    if (Status ok = check(request_.sampling); !ok)  // its texts may be too many tokens
        return ok;
    if (Status ok = check_ids(request_, host_.model.tokenizer()); !ok)
        return ok;
    if (Status ok = make_rules(); !ok)
        return ok;
    if (const ModelInfo& info = host_.model.info(); info.experts > 0 && !conversation_.experts)
        conversation_.experts = std::make_unique<ExpertCounts>(info.layers, info.experts);
    const int limit = host_.model.context_tokens();
    const int room = std::min(request_.max_tokens >= 0 ? request_.max_tokens : limit, limit / 4);
    const PromptBuilder builder(host_.model.chat_template(), host_.model.tokenizer(), conversation_.replies,
                                host_.stop);
    auto prompt = builder.build(request_, limit, room);
    if (!prompt && prompt.error().code != Error::Code::Cancelled)
        return tl::unexpected(prompt.error());
    if (!prompt) {
        stage_ = Stage::Over;
        turn_.reason = StopReason::Cancelled;
        turn_.telemetry = frame(Phase::Idle);
        return {};
    }

    drop_old_replies(conversation_.replies, prompt->replies);
    turn_.ledger = std::move(prompt->ledger);
    opened_ = std::move(prompt->opened);
    if (rules_)
        rules_->begin_with(opened_.text);
    turn_.prompt = {0, int(prompt->ids.size())};
    turn_.answer = {turn_.prompt.last, turn_.prompt.last};
    if (host_.listener.on_prompt)
        host_.listener.on_prompt(turn_.ledger);
    history_ = std::move(prompt->ids);
    if (host_.saved.reader)
        stage_ = Stage::Restore;
    else
        begin_prompt();
    return {};
}

/// A piece is no longer than a step of a prompt may be, and on a slow disk no longer than a moment: others are answered
/// between the pieces.
void TurnStepper::restore_more()
{
    constexpr std::int64_t kMomentUs = 50'000;
    const std::int64_t start = now_us();
    const int first = conversation_.kv.length(), most = host_.model.max_rows();
    const auto goes_on = [&](int tokens) {
        restored_ = reused_ = prefilled_ = tokens;
        report(Phase::Prefill, false);
        return tokens - first < most && now_us() - start < kMomentUs && !host_.stop.stop_requested();
    };
    const auto miss = restore(host_.model.cache(), conversation_.kv, *host_.saved.reader, history_, goes_on,
                              [this] { return host_.make_room(conversation_); });
    restore_us_ += now_us() - start;
    if (host_.stop.stop_requested())
        return cancel();
    if (!miss)
        return;
    host_.saved.miss = *miss;
    begin_prompt();
}

/// Begins to compute what the conversation, as it is now, does not have of the prompt.
void TurnStepper::begin_prompt()
{
    stage_ = Stage::Prompt;
    KvSequence& kv = conversation_.kv;
    if (SavedStart& saved = host_.saved; saved.asked) {
        restored_ = kv.length();
        if (saved.miss == SavedKvMiss::Damaged && host_.forget_saved)
            host_.forget_saved();
        tell_of_saved();
        saved.reader.reset();
    }
    // The last token is always computed: its logits start the answer.
    reused_ = host_.model.cache().truncate(kv, std::min(common_prefix(kv.ids, history_), turn_.prompt.last - 1));
    restored_ = std::min(restored_, reused_);
    prefilled_ = reused_;
    checkpoints_ = checkpoint_positions(turn_.ledger, turn_.prompt.last);
    kv.shared_tokens = turn_.ledger.messages.empty() ? 0 : turn_.ledger.messages.front().tokens.last;
    if (host_.mtp && may_draft(Drafters::Mtp) && host_.mtp->may_pay() && !conversation_.mtp)
        conversation_.mtp = std::make_unique<MtpSequence>(*host_.mtp);
    report(Phase::Prefill, true);
}

void TurnStepper::heed_stop()
{
    if (host_.stop.stop_requested())
        cancel();
}

void TurnStepper::cancel()
{
    if (over())
        return;
    give_back_restored();
    end(StopReason::Cancelled);
}

/// Gives back what was read where reading ends before its end: the file has all of it for the next turn, and this part
/// would be saved in its place.
void TurnStepper::give_back_restored()
{
    if (!restores())
        return;
    host_.model.cache().truncate(conversation_.kv, 0);
    restored_ = reused_ = prefilled_ = 0;
}

/// Counts the rows of tokens [first, last) up to the next place to go back to in the prompt.
int TurnStepper::rows_from(int first, int last) const
{
    const auto stop = std::ranges::upper_bound(checkpoints_, first);
    const bool stops = stop != checkpoints_.end() && host_.model.cache().states().any();
    return (stops ? std::min(*stop, last) : last) - first;
}

int TurnStepper::lost_rows() const
{
    const KvSequence& kv = conversation_.kv;
    return rows_from(kv.length(), kv.length() + int(kv.lost.size()));
}

int TurnStepper::most_rows() const
{
    const int wanted = recomputes() ? lost_rows() : answers() ? 1 + step_.next_drafts(company_) : prompt_rows();
    return std::min(host_.model.max_rows(), wanted);
}

RowGroup TurnStepper::next(int rows)
{
    step_us_ = now_us();
    rows_ = {&conversation_.kv};
    rows_.stop = host_.stop;
    // A state cannot go back by half a step: what was answered before would be computed again in the next turn.
    rows_.to_its_end = answers() && host_.model.cache().states().any();
    if (recomputes()) {  // the experts that they choose were counted before
        rows_.tokens = std::span(conversation_.kv.lost).first(std::size_t(std::min(rows, lost_rows())));
        rows_.again = true;
        return rows_;
    }
    rows_.chosen = conversation_.experts.get();
    if (answers()) {
        rows_.tokens = step_.begin(history_, most_drafted(rows), company_);
        rows_.wanted = rows_.count();
        rows_.drafted = step_.has_drafts();
    } else {
        const int count = std::min(rows, prompt_rows());
        rows_.tokens = std::span(history_).subspan(std::size_t(prefilled_), std::size_t(count));
        rows_.wanted = prefilled_ + count == turn_.prompt.last ? 1 : 0;
    }
    return rows_;
}

/// Computes one step; if there is no room for it, other conversations give up their KV. Drafts get no room that way.
Status TurnStepper::compute_alone()
{
    if (step_.has_drafts()) {
        if (Status done = host_.model.append(std::span(&rows_, 1)); done || was_stopped(done))
            return done;
        rows_.tokens = step_.leave_out_drafts();
        rows_.wanted = 1;
        rows_.drafted = false;
    }
    for (;;) {
        Status done = host_.model.append(std::span(&rows_, 1));
        const bool may_help = !done && forgetting_helps(done.error(), host_.model.cache(), conversation_.kv, rows_);
        if (!may_help || !host_.make_room(conversation_))
            return done;
    }
}

void TurnStepper::take(const Status& done, bool alone)
{
    alone_ = alone && !held_up_;
    const bool full = !done && stage_ == Stage::Answer && done.error().code == Error::Code::ContextFull;
    if (!done)
        step_.forget();
    if (was_stopped(done))  // or another turn of the step was: then next() gives these rows again
        return heed_stop();
    if (full)
        return end_full(done.error());
    if (!done)
        return fail_with(done.error());
    if (rows_.again)
        return take_lost_rows();
    held_up_ = false;
    if (!answers())
        return take_prompt_rows();
    step_.computed();
    note_nearly_full();
    answer();
}

void TurnStepper::take_prompt_rows()
{
    const int count = rows_.count();
    prefilled_ += count;
    // A GPU computes about a step behind the host: these rows are counted when the time of the next ones is known.
    int computed = std::exchange(given_rows_, count);
    ModelPlacement& placement = host_.model.placement();
    const bool behind = placement.step_device_layers() > 0 && !placement.host_waits_for_link();
    if (prefilled_ == turn_.prompt.last || !behind) {
        placement.wait_until_computed();
        computed += std::exchange(given_rows_, 0);
    }
    meter_.add_prefill(computed, now_us() - step_us_);
    note_rows(prefilled_ - count, count);
    if (std::ranges::binary_search(checkpoints_, prefilled_))
        host_.model.cache().states().keep(conversation_.kv);
    report(Phase::Prefill, true);
    if (prefilled_ < turn_.prompt.last)
        return;
    step_.set_row(count - 1);
    note_nearly_full();
    allow_drafts();
    kept_at_ = prefilled_;
    stage_ = Stage::Answer;
    if (conversation_.experts)
        conversation_.experts->begin_answer();
    answer();
}

/// Goes on with what was lost. Checkpoints that were lost with it are made again.
void TurnStepper::take_lost_rows()
{
    held_up_ = true;
    KvSequence& kv = conversation_.kv;
    if (std::ranges::binary_search(checkpoints_, kv.length()))
        host_.model.cache().states().keep(kv);
    kept_at_ = kv.length() - rows_.count();
    keep_state();
    report(Phase::Prefill, false);
    heed_stop();
}

/// Returns how many tokens the answer may have.
int TurnStepper::most_tokens() const
{
    return request_.max_tokens >= 0 ? request_.max_tokens : host_.model.context_tokens();
}

/// Samples from row after row while the next one is there, since its token was drafted. Then a step is needed, or the
/// answer is over.
void TurnStepper::answer()
{
    const int limit = host_.model.context_tokens();
    const int most = most_tokens();
    while (int(answer_.size()) < most) {
        const auto chosen = choose();
        if (!chosen)
            return fail_with(chosen.error());
        if (!*chosen)
            return end(StopReason::EndOfTurn);
        const int id = (*chosen)->id;
        if (answer_.empty())
            text_.begin_with(opened_.text);
        history_.push_back(id);
        answer_.push_back(id);
        if (tells_tokens())
            tell_token(id, (*chosen)->logits.all);
        if (text_.feed(host_.model.tokenizer().piece(id)))
            return end(StopReason::StopString);
        report(Phase::Decode, answer_.size() == 1);
        const bool drafted = step_.has_row_of(id);
        if (!drafted)
            end_step();
        if (host_.stop.stop_requested())
            return end(StopReason::Cancelled);
        if (length() >= limit)
            return end(StopReason::ContextFull);
        if (int(answer_.size()) == most)
            break;
        if (!drafted)
            return;
        step_.accept();
        text_.note_guess();
        note_nearly_full();
    }
    end(StopReason::MaxTokens);
}

/// Says which kind of step the logits of the next token come from.
TokenFrom TurnStepper::token_from() const
{
    if (step_.row() > 0)
        return TokenFrom::SameStep;
    return alone_ && step_.is_plain() ? TokenFrom::PlainStep : TokenFrom::Step;
}

void TurnStepper::allow_drafts()
{
    step_.ready();
    if (request_.most_drafted <= 0 || host_.model.max_rows() <= 1)
        return;
    text_.expect_guesses(std::min(most_tokens(), host_.model.context_tokens()));
    if (may_draft(Drafters::Repetition))
        step_.allow(std::make_unique<NgramIndex>(host_.model.context_tokens()),
                    conversation_.drafts[std::size_t(DraftedBy::Repetition)]);
    if (host_.draft && may_draft(Drafters::Model)) {
        if (!conversation_.draft)
            conversation_.draft = std::make_unique<DraftSequence>(*host_.draft);
        const ModelDrafter::Of of{*host_.draft, *conversation_.draft, host_.model, sampler_};
        step_.allow(std::make_unique<ModelDrafter>(of, request_.sampling, host_.stop),
                    conversation_.drafts[std::size_t(DraftedBy::Model)]);
    }
    if (notes_rows()) {
        const MtpDrafter::Of of{*host_.mtp, *conversation_.mtp, host_.model, sampler_};
        step_.allow(std::make_unique<MtpDrafter>(of, request_.sampling, host_.stop),
                    conversation_.drafts[std::size_t(DraftedBy::Mtp)]);
    }
}

bool TurnStepper::may_draft(Drafters by) const
{
    return request_.most_drafted > 0 && host_.model.max_rows() > 1 &&
           (request_.drafters == Drafters::All || request_.drafters == by);
}

/// Notes that tokens [first, first + count), the first rows of the last step, are accepted.
void TurnStepper::note_rows(int first, int count)
{
    if (notes_rows())
        host_.mtp->note(*conversation_.mtp, conversation_.kv, {first, count}, history_, host_.stop);
}

/// Returns how many tokens may be drafted: no more than the answer may have, nor than the context and the step hold.
int TurnStepper::most_drafted(int rows) const
{
    const int room = std::min(most_tokens() - int(answer_.size()), host_.model.context_tokens() - length());
    return std::min(room, rows) - 1;
}

/// Ends the step: drafts that are not accepted leave the KV cache. What a row costs is measured where no other turn has
/// rows.
void TurnStepper::end_step()
{
    if (step_.over())
        return;
    const int kept = length(), first = conversation_.kv.length() - rows_.count();
    note_rows(first, kept - first);
    if (conversation_.kv.length() > kept)
        host_.model.take_back(conversation_.kv, kept);
    step_.end(alone_ ? std::optional(now_us() - step_us_) : std::nullopt);
    step_.keep_records(conversation_.drafts);
    keep_state();
}

/// Makes a checkpoint now and then, so that no more than this many tokens are computed again.
void TurnStepper::keep_state()
{
    KvSequence& kv = conversation_.kv;
    if (kv.length() / kCheckpointTokens != kept_at_ / kCheckpointTokens)
        host_.model.cache().states().keep(kv);
    kept_at_ = kv.length();
}

/// Chooses the next token of the answer; none: it is over.
Result<std::optional<TurnStepper::Chosen>> TurnStepper::choose()
{
    const TokenMask* allowed = nullptr;
    if (rules_) {
        const StepClock::Scope scope(clock(), StepClock::Part::Sampling);
        const auto next = rules_->next();
        if (!next)
            return tl::unexpected(next.error());
        allowed = *next;
    }
    if (allowed && !allowed->any())
        return std::nullopt;
    const bool all = allowed || (tells_tokens() && *request_.top_logprobs >= 0);
    const auto enough = all ? std::nullopt : sampler_.enough();
    const auto logits = host_.model.logits(conversation_.kv, step_.row(), enough);
    if (!logits)
        return tl::unexpected(logits.error());
    const int id = sample(*logits, allowed);
    if (const auto step = meter_.add_token(token_from()))
        host_.model.placement().note_step(*step, conversation_.kv.length());
    if (host_.model.ends_answer(id))
        return std::nullopt;
    if (rules_)
        rules_->take(id);
    return Chosen{id, *logits};
}

int TurnStepper::sample(const RowLogits& logits, const TokenMask* allowed)
{
    const StepClock::Scope scope(clock(), StepClock::Part::Sampling);
    return allowed ? sampler_.sample(logits.all, history_, allowed) : sampler_.sample(logits, history_);
}

void TurnStepper::tell_token(int id, std::span<const float> logits)
{
    const StepClock::Scope scope(clock(), StepClock::Part::Sampling);
    if (*request_.top_logprobs < 0)
        return host_.listener.on_token({{id, host_.model.tokenizer().piece(id)}, {}});
    const double sum = log_sum_of_exps(logits);
    const auto likely = [&](int token) {
        return LikelyToken{token, host_.model.tokenizer().piece(token),
                           float(finite_logit(logits[std::size_t(token)]) - sum)};
    };
    TokenLogprobs told{likely(id), {}};
    for (const int token : ids_of_largest(logits, *request_.top_logprobs))
        told.likeliest.push_back(likely(token));
    host_.listener.on_token(told);
}

void TurnStepper::end(StopReason reason)
{
    stage_ = Stage::Over;
    end_step();
    const bool ended = reason == StopReason::EndOfTurn;  // else the answer may go on, within a character, too
    text_.finish(ended ? AnswerText::HalfCharacter::Shown : AnswerText::HalfCharacter::LeftOut);
    if (text_.stopped() && reason != StopReason::Cancelled)  // it counts only now, since a longer one had begun
        reason = StopReason::StopString;
    turn_.reason = reason;
    turn_.text = text_.text();
    if (reason == StopReason::StopString)
        turn_.stop_string = text_.stopped_by();
    turn_.guessed = text_.take_guessed();
    host_.model.cache().states().keep(conversation_.kv);
    host_.model.cache().states().forget_before(conversation_.kv);
    keep_reply();
    turn_.answer.last = turn_.answer.first + int(answer_.size());
    turn_.telemetry = frame(Phase::Idle);
    if (host_.listener.on_telemetry)
        host_.listener.on_telemetry(turn_.telemetry);
}

/// Ends the answer for want of room. If only the device is full, which the reason does not say, a warning says so.
void TurnStepper::end_full(const Error& error)
{
    if (!forgetting_helps(error, host_.model.cache(), conversation_.kv, rows_))
        send(host_.listener, make_event(Event::Kind::Warning, error.what));
    end(StopReason::ContextFull);
}

void TurnStepper::fail_with(const Error& error)
{
    stage_ = Stage::Over;
    error_ = error;
    end_step();
    host_.model.cache().states().forget_before(conversation_.kv);
    text_.finish(AnswerText::HalfCharacter::LeftOut);
}

void TurnStepper::break_off(const Error& error)
{
    give_back_restored();
    stage_ = Stage::Over;
    error_ = error;
}

Result<Turn> TurnStepper::result()
{
    if (error_)
        return tl::unexpected(std::move(*error_));
    return std::move(turn_);
}

/// Reports what was restored. A first question has nothing to restore; and where nothing has gone wrong, a few tokens
/// are not worth a word.
void TurnStepper::tell_of_saved()
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
    event.duration_us = restore_us_;
    event.time_us = now_us();
    event.miss = miss;
    if (host_.listener.on_event)
        host_.listener.on_event(event);
}

/// Warns early enough that somebody can still choose what is to happen when the context is full.
void TurnStepper::note_nearly_full()
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

/// Returns the answer's ids without what the text has left out. A token that held the end of the text as well is
/// spelled in others: these ids stand for this text, and the model would go on from bytes that the text does not have.
std::vector<int> TurnStepper::ids_of_text() const
{
    const Tokenizer& tokenizer = host_.model.tokenizer();
    std::vector<int> ids = answer_;
    for (auto left_out = std::size_t(text_.left_out_bytes()); left_out > 0 && !ids.empty();) {
        const std::string piece = tokenizer.piece(ids.back());
        const std::size_t shown = piece.size() - std::min(piece.size(), left_out);
        ids.pop_back();
        for (const Token& token : tokenizer.encode(std::string_view(piece).substr(0, shown),
                                                   {EncodeOptions::Specials::AsText, EncodeOptions::Start::Middle}))
            ids.push_back(token.id);
        left_out -= piece.size() - shown;
    }
    return ids;
}

/// Keeps the answer's ids: the next prompt holds its text, and then takes these ids again.
void TurnStepper::keep_reply()
{
    if (request_.messages.empty() || text_.stopped())
        return;
    KeptReply reply{turn_.text, ids_of_text()};
    if (reply.ids.empty())
        return;
    if (!opened_.text.empty())
        reply.ids.insert(reply.ids.begin(), history_.begin() + opened_.first, history_.begin() + turn_.prompt.last);
    if (request_.continue_last) {
        const TokenRange earlier = turn_.ledger.messages.back().tokens;
        reply.text.insert(0, request_.messages.back().text);
        reply.ids.insert(reply.ids.begin(), history_.begin() + earlier.first, history_.begin() + earlier.last);
    }
    if (std::ranges::find(conversation_.replies, reply.text, &KeptReply::text) == conversation_.replies.end())
        conversation_.replies.push_back(std::move(reply));
}

Telemetry TurnStepper::frame(Phase phase)
{
    Telemetry t = host_.frames.make(host_.model, conversation_.kv, conversation_.experts.get(), phase);
    t.sequence = host_.sequence;
    t.prompt_tokens = turn_.prompt.count();
    t.reused_tokens = reused_;
    t.restored_tokens = restored_;
    t.prefilled_tokens = prefilled_ - reused_;
    t.context_tokens = length();
    t.generated_tokens = int(answer_.size());
    t.drafted_tokens = step_.counts().drafted;
    t.accepted_tokens = step_.counts().accepted;
    if (host_.draft) {
        t.draft_model = host_.draft->telemetry();
        t.draft_model->drafted_tokens = step_.counts(DraftedBy::Model).drafted;
        t.draft_model->accepted_tokens = step_.counts(DraftedBy::Model).accepted;
    }
    if (host_.mtp) {
        t.mtp = host_.mtp->telemetry();
        t.mtp->drafted_tokens = step_.counts(DraftedBy::Mtp).drafted;
        t.mtp->accepted_tokens = step_.counts(DraftedBy::Mtp).accepted;
    }
    meter_.fill(t, host_.model.placement().host_waits_for_link());
    return t;
}

void TurnStepper::report(Phase phase, bool always)
{
    const std::int64_t now = now_us();
    if (!host_.listener.on_telemetry || (!always && now - last_report_us_ < Frames::kIntervalUs))
        return;
    last_report_us_ = now;
    const StepClock::Scope scope(clock(), StepClock::Part::Telemetry);
    host_.listener.on_telemetry(frame(phase));
}

}  // namespace engine
