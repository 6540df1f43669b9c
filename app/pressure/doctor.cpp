#include "app/pressure/doctor.h"

#include "app/pressure/doctor_guess.h"
#include "app/pressure/speed_without_drafts.h"
#include "engine/memory_plan.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

using Kind = Diagnosis::Kind;
using Action = DoctorAction::Kind;

// A step reads all weights and KV. Where a hundredth of them comes from a disk, 20 to 100 times slower than RAM, it
// takes 1.2 to 2 times as long: that is noticed, and less is not.
constexpr double kSwappedShare = 0.01;

// Above it people wonder whether anything is happening.
constexpr double kSlowFirstTokenS = 1.5;

// A change of less than a tenth in tokens/s is within what two answers differ by on a machine that does other things.
constexpr double kNoticed = 1.1;

// Half of the time: taking away a smaller part would not make tokens come twice as fast.
constexpr double kHalf = 0.5;

// A part of a third, halved, brings a fifth more tokens: twice what is noticed.
constexpr double kThird = 1.0 / 3;

// A part of the time that is smaller than this is not named as a cause.
constexpr double kTenth = 0.1;

// Predictions are within a tenth on a machine that is as it was measured.
constexpr double kNearPrediction = 1.3;

// The speed before must be at least twice as high: a smaller fall may come from the length of the conversation alone.
constexpr double kFell = 2;

// Where most experts that are read have no copy on the device, there is too little room for copies. With fewer reads
// than this the hit rate says more about the first words of the answer than about the room.
constexpr double kEnoughReads = 500;

// Bytes of a GPU's memory that CUDA takes for this program: they are counted with what other programs hold, and are no
// reason to close any of those.
constexpr qint64 kOwnContext_bytes = 600'000'000;

// A diagnosis that was made of the last answer stays until its number is a fifth below the bound: two answers to one
// question differ by less.
constexpr double kStays = 0.8;

class Examination
{
public:
    explicit Examination(const DoctorFacts& facts)
        : m_facts(facts)
        , m_shares(sharesOf(facts))
        , m_largest(largestCause(facts, m_shares))
        , m_speed(measuredSpeed(facts.last))
    {
    }

    Diagnosis result() const
    {
        using Test = std::optional<Diagnosis> (Examination::*)() const;
        constexpr std::array<Test, 14> tests = {
            &Examination::swap,          &Examination::readFromDisk,   &Examination::contextTooLarge,
            &Examination::driverSpill,   &Examination::residentEnds,   &Examination::firstToken,
            &Examination::coresHeld,     &Examination::kvOverLink,     &Examination::threads,
            &Examination::kvOnHost,      &Examination::hostLayers,     &Examination::kvInRam,
            &Examination::noSingleCause, &Examination::belowPrediction};
        for (const Test test : tests)
            if (auto found = (this->*test)())
                return withSpeed(*found);
        return withSpeed({Kind::AllWell});
    }

private:
    const engine::Telemetry& last() const { return m_facts.last; }
    int layersOnHost() const { return m_facts.layers - (last().device ? last().device->layers : 0); }

    /// Returns the share from which on this diagnosis is made.
    double bound(double least, Kind kind) const { return m_facts.before == kind ? least * kStays : least; }

    /// Adds the speed, and the speed after the suggested change: today's times the ratio that the planner predicts.
    Diagnosis withSpeed(Diagnosis d) const
    {
        d.shares = m_shares;
        d.accepted = last().accepted_tokens;
        d.tokensPerSecond = m_speed ? m_speed : last().decode_tokens_per_s;
        d.withDrafts = !m_speed;
        d.slowedByDrafts = slowedByDrafts(last());
        if (m_speed)
            d.expected = m_facts.predicted;
        const double now = d.tokensPerSecond.value_or(0);
        if (m_facts.shrunk && d.action.kind == Action::None)
            d.action = {Action::GrowBack};
        if (const auto brings = optionOf(d.action); brings && m_facts.predicted && *m_facts.predicted > 0 && now > 0)
            d.predicted = now * *brings / *m_facts.predicted;
        return d;
    }

    std::optional<double> optionOf(const DoctorAction& action) const
    {
        for (const DoctorOption& option : m_facts.options)
            if (option.action == action)
                return option.tokensPerSecond;
        return {};
    }

    /// Chooses among the changes of one kind the one that is predicted to help most; `otherwise` where nothing is
    /// predicted.
    DoctorAction best(Action kind, const DoctorAction& otherwise) const
    {
        const DoctorOption* found = nullptr;
        for (const DoctorOption& option : m_facts.options)
            if (option.action.kind == kind && option.tokensPerSecond &&
                (!found || *option.tokensPerSecond > *found->tokensPerSecond))
                found = &option;
        if (!found || !m_facts.predicted)
            return otherwise;
        return *found->tokensPerSecond > *m_facts.predicted * kNoticed ? found->action : DoctorAction();
    }

    /// The emulated device's memory is RAM.
    bool emulated() const { return last().device && last().device->id == "emulated"; }

    /// Returns the bytes of weights that lie in a device's own memory and not in RAM; copied experts do not count,
    /// since RAM keeps the originals.
    double weightsBeside() const
    {
        return last().device && !emulated() ? double(last().device->weight_bytes - last().device->expert_cache_bytes)
                                            : 0;
    }
    double weightsInRam() const { return std::max(0.0, double(m_facts.weightBytes) - weightsBeside()); }

    /// Returns how many tokens' KV finds room in RAM beside the weights; the device's KV has its mirror there, too.
    std::optional<int> tokensInRam() const
    {
        if (!last().ram_total_bytes || m_facts.kvBytesPerToken <= 0)
            return {};
        const double left =
            double(*last().ram_total_bytes - engine::kMemoryMarginBytes - m_facts.stateBytes - last().scratch_bytes) -
            weightsInRam();
        return int(std::clamp(left / m_facts.kvBytesPerToken, 0.0, 1e9));
    }

    /// Suggests q8_0 for KV: half of the bytes for a very small loss. Used where no change without a loss helps.
    DoctorAction smallerKv() const
    {
        return m_facts.kvBytesPerTokenAsQ8 ? DoctorAction{Action::SetKvType, qint64(engine::KvType::Q8_0)}
                                           : DoctorAction();
    }

    DoctorAction lessMemory() const
    {
        const int tokens = tokensInRam().value_or(0) / 1024 * 1024;
        if (tokens >= engine::kShortestContext && tokens < last().context_limit)
            return {Action::ReloadWithContext, tokens};
        const qint64 weights = last().ram_total_bytes.value_or(0) - engine::kMemoryMarginBytes -
                               qint64(engine::kShortestContext * m_facts.kvBytesPerToken) - m_facts.stateBytes -
                               last().scratch_bytes + qint64(weightsBeside());
        return {Action::SmallerQuantisation, std::max<qint64>(0, weights)};
    }

    std::optional<Diagnosis> swap() const
    {
        const double read = double(m_facts.weightBytes + last().kv_bytes_host);
        if (double(last().process_swapped_bytes.value_or(0)) <= kSwappedShare * read)
            return {};
        Diagnosis d{Kind::SwapInUse};
        d.bytes = *last().process_swapped_bytes;
        d.action = lessMemory();
        return d;
    }

    /// Returns how many bytes of the host's weights a token reads at least: of a mixture, as if all weights were
    /// experts'.
    double weightsOfToken(double onHost) const
    {
        return m_facts.experts > 0 ? onHost * m_facts.expertsUsed / m_facts.experts : onHost;
    }

    /// Finds that RAM is smaller than the mapped part of the file, so that the rest is read from the disk again and
    /// again. Where RAM is large enough, only the first reading takes long, and that is no cause that lasts.
    std::optional<Diagnosis> readFromDisk() const
    {
        const double onHost = weightsInRam();
        const double room = double(last().ram_total_bytes.value_or(0) - engine::kMemoryMarginBytes);
        const double ofToken = m_facts.diskBytes.value_or(0) / last().shares->steps;
        if (!last().ram_total_bytes || onHost <= room || ofToken <= kSwappedShare * weightsOfToken(onHost))
            return {};
        Diagnosis d{Kind::ReadFromDisk};
        d.bytes = qint64(ofToken);
        d.available = qint64(onHost - room);
        d.ofExperts = m_facts.experts > 0;
        d.action = lessMemory();
        return d;
    }

    std::optional<Diagnosis> contextTooLarge() const
    {
        const auto tokens = tokensInRam();
        if (!tokens || *tokens >= last().context_limit)
            return {};
        Diagnosis d{Kind::ContextTooLarge};
        d.tokens = *tokens;
        const bool fitsSmaller = m_facts.kvBytesPerTokenAsQ8 && *tokens * m_facts.kvBytesPerToken >=
                                                                    last().context_limit * *m_facts.kvBytesPerTokenAsQ8;
        d.action = fitsSmaller ? smallerKv() : lessMemory();
        return d;
    }

    std::optional<Diagnosis> driverSpill() const
    {
        if (!last().device || last().device->spilled_bytes.value_or(0) <= 0)
            return {};
        Diagnosis d{Kind::DriverSpill};
        d.bytes = *last().device->spilled_bytes;
        d.action = {Action::SetBudget, std::max<qint64>(1, last().device->used_bytes() - d.bytes)};
        return d;
    }

    /// Finds that the answer will stop at the full device, as it does with the policy `resident`.
    std::optional<Diagnosis> residentEnds() const
    {
        if (m_facts.policy != engine::KvPolicy::Resident || !m_facts.spillTokens ||
            *m_facts.spillTokens >= last().context_limit)
            return {};
        Diagnosis d{Kind::DeviceWillBeFull};
        d.tokens = *m_facts.spillTokens;
        d.action = {Action::SetPolicy, qint64(engine::KvPolicy::Auto)};
        return d;
    }

    /// Finds that the wait for the first token took longer than all the others together.
    std::optional<Diagnosis> firstToken() const
    {
        const engine::StepShares& s = *last().shares;
        if (s.prefill_s < kSlowFirstTokenS || s.prefill_s < s.decode_s())
            return {};
        Diagnosis d{Kind::SlowFirstToken};
        d.seconds = s.prefill_s;
        d.tokens = last().prefilled_tokens;
        d.share = s.prefill_s / (s.prefill_s + s.decode_s());
        if (last().device && layersOnHost() > 0)
            d.action = best(Action::SetLayers, {});
        else if (!last().device && last().threads < last().cores)
            d.action = {Action::SetThreads, last().cores};
        return d;
    }

    /// Threads matter where the CPU does most of the work. With more threads than cores, all wait for the one without a
    /// core, since workers spin inside a step; with fewer, a core is idle.
    std::optional<Diagnosis> threads() const
    {
        const int threads = last().threads, cores = last().cores;
        const double device = emulated() ? m_shares.device : 0;  // the emulated device computes on these cores, too
        if (threads == cores || cores == 0 || m_shares.host + m_shares.hostAttention + m_shares.cores + device < kHalf)
            return {};
        Diagnosis d{threads > cores ? Kind::TooManyThreads : Kind::TooFewThreads};
        d.count = threads;
        d.available = cores;
        d.action = {Action::SetThreads, cores};
        return d;
    }

    /// Returns the speed of the fastest of the answers before, where that was noticeably faster.
    std::optional<double> fellFrom() const
    {
        const auto fastest = std::max_element(m_facts.earlier.begin(), m_facts.earlier.end());
        if (!m_speed || fastest == m_facts.earlier.end() || *fastest < kNoticed * *m_speed)
            return {};
        return *fastest;
    }

    /// Finds that tokens wait for KV that comes over the link.
    std::optional<Diagnosis> kvOverLink() const
    {
        if (m_shares.link < bound(kThird, Kind::KvOverLink) || m_largest.cause != DoctorCause::Link)
            return {};
        Diagnosis d{Kind::KvOverLink};
        d.share = m_shares.link;
        d.fellFrom = fellFrom();
        if (m_facts.shrunk) {
            d.action = {Action::GrowBack};
            return d;
        }
        // `auto` streams only what pays, if the rates it has of this machine are right; else `merge` may be faster.
        const bool isAuto = m_facts.policy == engine::KvPolicy::Auto;
        const engine::KvPolicy other = isAuto ? engine::KvPolicy::Merge : engine::KvPolicy::Auto;
        d.action = best(Action::SetPolicy, {Action::SetPolicy, qint64(other)});
        if (d.action.kind == Action::None)
            d.action = best(Action::SetKvType, smallerKv());
        return d;
    }

    std::optional<Diagnosis> kvOnHost() const
    {
        if (m_shares.hostAttention < bound(kThird, Kind::KvOnHost) || m_largest.cause != DoctorCause::HostAttention)
            return {};
        Diagnosis d{Kind::KvOnHost};
        d.share = m_shares.hostAttention;
        d.fellFrom = fellFrom();
        d.action = lessKvInRam();
        return d;
    }

    DoctorAction lessKvInRam() const
    {
        if (m_facts.shrunk)
            return {Action::GrowBack};
        DoctorAction action = best(Action::SetPolicy, {});
        if (action.kind == Action::None)
            action = best(Action::SetLayers, {});
        if (action.kind == Action::None)
            action = best(Action::SetKvType, smallerKv());
        return action;
    }

    std::optional<Diagnosis> hostLayers() const
    {
        constexpr std::array others = {Kind::TooFewCopies, Kind::ExpertsOverLink, Kind::KvStarvesExperts};
        const bool wasOther = std::ranges::find(others, m_facts.before) != others.end();
        const Kind ofExperts = wasOther ? m_facts.before : Kind::HostExperts;
        if (m_shares.host < bound(kThird, layersOnHost() > 0 ? Kind::HostLayers : ofExperts) ||
            m_largest.cause != DoctorCause::HostLayers)
            return {};
        const engine::DeviceTelemetry& device = *last().device;
        if (layersOnHost() == 0)
            return hostExperts();
        Diagnosis d{Kind::HostLayers};
        d.share = m_shares.host;
        d.count = layersOnHost();
        if (m_facts.shrunk) {
            d.action = {Action::GrowBack};
            return d;
        }
        const DoctorAction more = best(Action::SetLayers, {});
        const double layer = double(m_facts.weightBytes) / std::max(1, m_facts.layers);
        // Beside the weights, room for the driver, for pictures and for KV: 2 GB, or a quarter of a small device.
        const qint64 room = device.total_bytes - std::min<qint64>(2'000'000'000, device.total_bytes / 4);
        const qint64 ofOthers = device.other_programs_bytes - (emulated() ? 0 : kOwnContext_bytes);
        if (more.kind != Action::None) {
            d.action = more;
        } else if (m_facts.weightBytes > room) {  // also when no other program held any of it
            d.kind = Kind::QuantisationTooLarge;
            d.bytes = m_facts.weightBytes;
            d.available = room;
            d.action = {Action::SmallerQuantisation, room};
        } else if (double(ofOthers) >= layer) {
            d.kind = Kind::OtherPrograms;
            d.bytes = ofOthers;
            d.action = {Action::CloseOtherPrograms, d.bytes};
        }
        return d;
    }

    /// Finds that experts on the host hold the answer back, where everything else of the layers is on the device.
    Diagnosis hostExperts() const
    {
        Diagnosis d{Kind::HostExperts};
        d.share = m_shares.host;
        d.count = last().device->layers_without_experts;
        if (copiesAreFew())
            return tooFewCopies(d);
        d.action = m_facts.shrunk ? DoctorAction{Action::GrowBack} : best(Action::SetHostExperts, {});
        return d.action.kind == Action::None ? kvStarvesExperts(d).value_or(d) : d;
    }

    /// Finds that experts would use the room of KV better: only where that is predicted, since KV is worth its room,
    /// too.
    std::optional<Diagnosis> kvStarvesExperts(Diagnosis d) const
    {
        const engine::DeviceTelemetry& device = *last().device;
        const qint64 ofKv = device.kv_bytes + device.kv_ahead_bytes;
        if (double(ofKv) < kTenth * double(device.total_bytes))
            return {};
        const DoctorAction smaller = best(Action::SetKvType, {}), room = best(Action::SetRoomForCopies, {});
        d.action = optionOf(smaller).value_or(0) >= optionOf(room).value_or(0) ? smaller : room;
        if (d.action.kind == Action::None)
            return {};
        d.kind = Kind::KvStarvesExperts;
        d.bytes = device.expert_cache_bytes;
        d.available = ofKv;
        return d;
    }

    /// Returns for what share of the answer's time the link was busy with other things than KV. Empty: its rate is not
    /// known.
    std::optional<double> linkShareOfCopies() const
    {
        const engine::StepShares& s = *last().shares;
        const double ofKv = double(last().device->step_streamed_bytes) * s.steps;
        const double all = s.prefill_s + s.decode_s();
        if (!m_facts.linkBytesPerSecond || all <= 0)
            return {};
        return std::clamp((m_facts.copiedBytes - ofKv) / *m_facts.linkBytesPerSecond / all, 0.0, 1.0);
    }

    bool copiesAreFew() const
    {
        const double reads = m_facts.expertHits + m_facts.expertMisses;
        const double least = m_facts.before == Kind::TooFewCopies ? kHalf / kStays : kHalf;
        return last().device->cached_experts > 0 && reads >= kEnoughReads && m_facts.expertHits < least * reads;
    }

    /// Suggests twice the room for copies of experts, if the device has it.
    Diagnosis tooFewCopies(Diagnosis d) const
    {
        const engine::DeviceTelemetry& device = *last().device;
        d.kind = Kind::TooFewCopies;
        d.count = device.cached_experts;
        d.bytes = device.expert_cache_bytes;
        d.hits = m_facts.expertHits / (m_facts.expertHits + m_facts.expertMisses);
        if (const auto link = linkShareOfCopies(); link && *link >= bound(kHalf, Kind::ExpertsOverLink)) {
            d.kind = Kind::ExpertsOverLink;  // the link is busy: more room would not be filled faster
            d.linkShare = *link;
            d.action = m_facts.shrunk ? DoctorAction{Action::GrowBack} : best(Action::SetHostExperts, {});
            return d;
        }
        const qint64 free = std::min(device.watermark_bytes, device.total_bytes - device.other_programs_bytes) -
                            device.used_bytes() + device.kv_ahead_bytes;
        if (m_facts.shrunk)
            d.action = {Action::GrowBack};
        else if (free >= d.bytes)
            d.action = best(Action::SetRoomForCopies, {Action::SetRoomForCopies, 2 * d.bytes});
        else
            return kvStarvesExperts(d).value_or(d);
        return d;
    }

    bool slowerThanPredicted(Kind said) const
    {
        const double times = m_facts.before == said ? kNearPrediction * kStays : kNearPrediction;
        return m_speed && m_facts.predicted && *m_facts.predicted > std::max(kNoticed, times) * *m_speed;
    }

    /// Finds that other programs hold cores: where a third of the time was lost to that, or a tenth and the answer was
    /// slower than predicted. More threads of our own than cores are left to threads().
    std::optional<Diagnosis> coresHeld() const
    {
        const bool third = m_shares.cores >= bound(kThird, Kind::CoresHeld);
        const bool missing = m_shares.cores >= kTenth && slowerThanPredicted(Kind::CoresHeld);
        if (last().threads > last().cores || (!third && !missing) || m_largest.cause != DoctorCause::Cores)
            return {};
        Diagnosis d{Kind::CoresHeld};
        d.share = m_shares.cores;
        return d;
    }

    /// Finds KV in RAM as the cause where link and host's attention, less than a third each, together take more than
    /// anything but the arithmetic.
    std::optional<Diagnosis> kvInRam() const
    {
        const auto fell = fellFrom();
        const int blocks = last().kv_blocks_host + last().kv_blocks_device;
        const double elsewhere = m_shares.link + m_shares.hostAttention;
        if (!last().device || !fell || *fell < bound(kFell, Kind::KvInRam) * *m_speed ||
            last().kv_blocks_host < kThird * blocks || elsewhere <= m_shares.rest || elsewhere < m_largest.share)
            return {};
        Diagnosis d{Kind::KvInRam};
        d.share = elsewhere;
        d.count = last().kv_blocks_host;
        d.available = blocks;
        d.fellFrom = fell;
        d.action = lessKvInRam();
        return d;
    }

    std::optional<Diagnosis> noSingleCause() const
    {
        const double least = m_facts.before == Kind::NoSingleCause ? kHalf / kStays : kHalf;
        if (m_shares.arithmetic() >= least)
            return {};
        Diagnosis d{Kind::NoSingleCause};
        d.share = m_shares.arithmetic();
        if (m_largest.share >= kTenth)  // a smaller part is no reason
            d.largest = m_largest;
        return d;
    }

    std::optional<Diagnosis> belowPrediction() const
    {
        if (!slowerThanPredicted(Kind::BelowPrediction))
            return {};
        Diagnosis d{Kind::BelowPrediction};
        d.share = m_shares.arithmetic();
        return d;
    }

    const DoctorFacts& m_facts;
    const DoctorShares m_shares;
    const DoctorCauseShare m_largest;
    const std::optional<double> m_speed;
};

/// Suggests the GPU that does nothing while the CPU computes all of a model, and slowly.
Diagnosis withUnusedGpu(Diagnosis d, const DoctorFacts& facts)
{
    constexpr double kReadAlong = 30;  // tokens/s: nobody reads faster
    const auto& gpu = facts.unusedGpu;
    const bool slow = d.kind == Kind::SlowFirstToken || ((d.kind == Kind::AllWell || d.kind == Kind::BelowPrediction) &&
                                                         d.tokensPerSecond.value_or(kReadAlong) < kReadAlong);
    if (!gpu || facts.last.device || !slow || d.action.kind != Action::None ||
        double(gpu->bytes) < kTenth * double(facts.weightBytes))
        return d;
    d.action = {.kind = Action::UseDevice, .file = gpu->id, .name = gpu->name};
    return d;
}

}  // namespace

std::optional<double> measuredSpeed(const engine::Telemetry& last)
{
    constexpr int kEnoughSteps = 8;  // for a rate that is not chance
    if (const auto speed = speedWithoutDrafts(last, kEnoughSteps))
        return *speed > 0 ? speed : std::nullopt;
    if (last.drafted_tokens > 0 || !last.shares || last.shares->decode_s() <= 0)
        return {};
    return last.shares->steps / last.shares->decode_s();
}

std::optional<double> slowedByDrafts(const engine::Telemetry& last)
{
    const auto without = measuredSpeed(last);
    const bool slowed = without && last.drafted_tokens > 0 && last.decode_tokens_per_s &&
                        *last.decode_tokens_per_s * kNoticed < *without;
    return slowed ? last.decode_tokens_per_s : std::nullopt;
}

bool changesSpeed(const Diagnosis& diagnosis)
{
    const double now = diagnosis.tokensPerSecond.value_or(0);
    if (!diagnosis.predicted || now <= 0)
        return true;  // nothing is predicted
    return *diagnosis.predicted > kNoticed * now || *diagnosis.predicted * kNoticed < now;
}

Diagnosis diagnose(const DoctorFacts& facts)
{
    // The first step may be slow by chance: a time needs two steps at least.
    if (!facts.last.shares || facts.last.shares->steps < 2)
        return {};
    return withDraftModel(withUnusedGpu(Examination(facts).result(), facts), facts);
}
