#include "app/pressure/doctor_text.h"

#include "app/pressure/doctor_guess.h"
#include "app/text/engine_words.h"
#include "engine/kv_type.h"
#include "engine/placement_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

/// Translates the texts of functions that belong to no class.
struct Text {
    Q_DECLARE_TR_FUNCTIONS(Doctor)
};

constexpr QChar kNoBreak(0x00A0);
constexpr double kClearly = 1.05;  // a predicted speed is told, too, where it is this many times the measured one

QString bytes(qint64 count)
{
    return memoryWords(double(count));
}

/// Keeps a line from ending between a number and the percent sign behind it.
QString unbroken(QString sentence)
{
    return sentence.replace(QLatin1String(" %"), kNoBreak + QStringLiteral("%"));
}

QString percent(double share)
{
    return QLocale().toString(qRound(100 * share));
}

QString speed(std::optional<double> tokensPerSecond)
{
    const double value = tokensPerSecond.value_or(0);
    return QLocale().toString(value, 'f', value < 10 ? 1 : 0);
}

QString policyName(qint64 policy)
{
    const std::string_view name = engine::name_of(engine::KvPolicy(policy));
    return QString::fromUtf8(name.data(), qsizetype(name.size()));
}

QString typeName(qint64 type)
{
    const std::string_view name = engine::name_of(engine::KvType(type));
    return QString::fromUtf8(name.data(), qsizetype(name.size()));
}

QString ofKv(const Diagnosis& d)
{
    if (d.kind == Diagnosis::Kind::KvOverLink)
        return d.fellFrom
                   ? Text::tr("Speed fell from %1 to %2 tokens a second: %3 % of the time is waiting for "
                              "KV that is fetched from RAM.")
                         .arg(speed(d.fellFrom), speed(d.tokensPerSecond), percent(d.share))
                   : Text::tr("%1 % of the time is waiting for KV that is fetched from RAM.").arg(percent(d.share));
    return d.fellFrom
               ? Text::tr("Speed fell from %1 to %2 tokens a second: for %3 % of the time the CPU reads the part of "
                          "the conversation that does not fit on the device.")
                     .arg(speed(d.fellFrom), speed(d.tokensPerSecond), percent(d.share))
               : Text::tr("For %1 % of the time the CPU reads the part of the conversation that does not fit on the "
                          "device.")
                     .arg(percent(d.share));
}

QString ofMemory(const Diagnosis& d)
{
    switch (d.kind) {
    case Diagnosis::Kind::SwapInUse:
        return Text::tr("%1 of the model are on the disk, since RAM is full: every token waits for them.")
            .arg(bytes(d.bytes));
    case Diagnosis::Kind::ContextTooLarge:
        return Text::tr("RAM is full at %Ln token(s), but the context is set to more.", nullptr, d.tokens);
    case Diagnosis::Kind::DeviceWillBeFull:
        return Text::tr(
            "The device is full at %Ln token(s), and the policy “resident” lets nothing leave it: the answer "
            "will stop there.",
            nullptr, d.tokens);
    case Diagnosis::Kind::DriverSpill:
        return Text::tr(
                   "Windows has moved %1 of the device's memory to RAM without saying so: they are read at the speed "
                   "of the link.")
            .arg(bytes(d.bytes));
    case Diagnosis::Kind::QuantisationTooLarge:
        return Text::tr("The weights take %1, and the device has room for %2 beside KV and screen: %n layer(s) are "
                        "computed by the CPU.",
                        nullptr, d.count)
            .arg(bytes(d.bytes), bytes(d.available));
    case Diagnosis::Kind::OtherPrograms:
        return Text::tr("Other programs hold %1 of the device's memory: %n layer(s) find no room there.", nullptr,
                        d.count)
            .arg(bytes(d.bytes));
    default:
        return {};
    }
}

QString ofExperts(const Diagnosis& d)
{
    switch (d.kind) {
    case Diagnosis::Kind::HostExperts:
        return Text::tr("For %1 % of the time the CPU computes experts of %n layer(s), which are in RAM.", nullptr,
                        d.count)
            .arg(percent(d.share));
    case Diagnosis::Kind::TooFewCopies:
        return Text::tr(
                   "For %1 % of the time the CPU computes experts: %2 % of those that tokens choose have a copy on "
                   "the device, which has room for %n of each layer.",
                   nullptr, d.count)
            .arg(percent(d.share), percent(d.hits));
    case Diagnosis::Kind::ExpertsOverLink:
        return Text::tr("For %1 % of the time the CPU computes experts, since copies come too slowly: the link is busy "
                        "with them for %2 % of the time, and %3 % of the experts that tokens choose have one.")
            .arg(percent(d.share), percent(d.linkShare), percent(d.hits));
    case Diagnosis::Kind::KvStarvesExperts:
        return d.bytes > 0
                   ? Text::tr("For %1 % of the time the CPU computes experts: KV has %2 of the device's memory, and "
                              "copies of experts %3.")
                         .arg(percent(d.share), bytes(d.available), bytes(d.bytes))
                   : Text::tr("For %1 % of the time the CPU computes experts of %n layer(s): KV has %2 of the device's "
                              "memory, and they find no room.",
                              nullptr, d.count)
                         .arg(percent(d.share), bytes(d.available));
    default:
        return {};
    }
}

QString ofDisk(const Diagnosis& d)
{
    return d.ofExperts
               ? Text::tr(
                     "For each token %1 are read from the disk, most of them experts: the model takes %2 more than "
                     "RAM has.")
                     .arg(bytes(d.bytes), bytes(d.available))
               : Text::tr("For each token %1 of the weights are read from the disk: the model takes %2 more than RAM "
                          "has.")
                     .arg(bytes(d.bytes), bytes(d.available));
}

QString causeName(DoctorCause cause)
{
    switch (cause) {
    case DoctorCause::Link:
        return Text::tr("waiting for KV from RAM");
    case DoctorCause::HostAttention:
        return Text::tr("KV that the CPU reads");
    case DoctorCause::HostLayers:
        return Text::tr("layers on the CPU");
    case DoctorCause::Cores:
        return Text::tr("cores that other programs hold");
    case DoctorCause::Words:
        return Text::tr("choosing the words");
    case DoctorCause::None:
        break;
    }
    return {};
}

QString ofManyCauses(const Diagnosis& d)
{
    if (d.largest.cause == DoctorCause::None)
        return Text::tr(
                   "Only %1 % of the time is the model's own arithmetic: %2 tokens a second. What comes between two "
                   "tokens takes the most: blocks that move, the text, other programs.")
            .arg(percent(d.share), speed(d.tokensPerSecond));
    return Text::tr("Only %1 % of the time is the model's own arithmetic: %2 tokens a second. The largest cause that "
                    "is known: %3, %4 %.")
        .arg(percent(d.share), speed(d.tokensPerSecond), causeName(d.largest.cause), percent(d.largest.share));
}

QString ofSpeed(const Diagnosis& d)
{
    switch (d.kind) {
    case Diagnosis::Kind::CoresHeld:
        return d.expected && d.tokensPerSecond && *d.expected > kClearly * *d.tokensPerSecond
                   ? Text::tr("Other programs hold the cores for %1 % of the time: %2 tokens a second, and %3 were "
                              "predicted.")
                         .arg(percent(d.share), speed(d.tokensPerSecond), speed(d.expected))
                   : Text::tr("Other programs hold the cores for %1 % of the time: %2 tokens a second.")
                         .arg(percent(d.share), speed(d.tokensPerSecond));
    case Diagnosis::Kind::KvInRam:
        return Text::tr("Speed fell from %1 to %2 tokens a second: %3 of %4 KV blocks are in RAM.")
            .arg(speed(d.fellFrom), speed(d.tokensPerSecond))
            .arg(d.count)
            .arg(d.available);
    case Diagnosis::Kind::NoSingleCause:
        return ofManyCauses(d);
    case Diagnosis::Kind::BelowPrediction:
        return Text::tr("%1 tokens a second, and %2 were predicted: the machine is slower than when it was measured.")
            .arg(speed(d.tokensPerSecond), speed(d.expected));
    default:
        return {};
    }
}

QString sentenceOf(const Diagnosis& d)
{
    using Kind = Diagnosis::Kind;
    switch (d.kind) {
    case Kind::Nothing:
        return {};
    case Kind::AllWell:
        return d.expected ? Text::tr("All is well: %1 tokens a second, and %2 were predicted.")
                                .arg(speed(d.tokensPerSecond), speed(d.expected))
                          : Text::tr("All is well: %1 tokens a second, and most of the time is the model's own "
                                     "arithmetic.")
                                .arg(speed(d.tokensPerSecond));
    case Kind::SlowFirstToken:
        return Text::tr("The first token waited %1 s, while %Ln token(s) of the prompt were read.", nullptr, d.tokens)
            .replace(QLatin1String("%1 s"), QStringLiteral("%1") + kNoBreak + QLatin1Char('s'))
            .arg(QLocale().toString(d.seconds, 'f', 1));
    case Kind::KvOverLink:
    case Kind::KvOnHost:
        return ofKv(d);
    case Kind::TooManyThreads:
        return Text::tr("%1 threads share %2 cores: all of them wait for those that have none.")
            .arg(d.count)
            .arg(d.available);
    case Kind::TooFewThreads:
        return Text::tr("The CPU has most of the work, and only %1 of %2 cores do it.").arg(d.count).arg(d.available);
    case Kind::HostLayers:
        return Text::tr("%n layer(s) on the CPU take %1 % of the time.", nullptr, d.count).arg(percent(d.share));
    case Kind::HostExperts:
    case Kind::TooFewCopies:
    case Kind::ExpertsOverLink:
    case Kind::KvStarvesExperts:
        return ofExperts(d);
    case Kind::ReadFromDisk:
        return ofDisk(d);
    case Kind::CoresHeld:
    case Kind::KvInRam:
    case Kind::NoSingleCause:
    case Kind::BelowPrediction:
        return ofSpeed(d);
    default:
        return ofMemory(d);
    }
}

bool saysSpeed(const Diagnosis& d)
{
    using Kind = Diagnosis::Kind;
    return d.fellFrom || d.kind == Kind::AllWell || d.kind == Kind::CoresHeld || d.kind == Kind::NoSingleCause ||
           d.kind == Kind::BelowPrediction;
}

/// Says why the speed in the sentence differs from that of the answer.
QString ofDrafts(const Diagnosis& d)
{
    if (d.slowedByDrafts)
        return Text::tr("That is without guessing ahead, which cost more here than it brought: %1 tokens a second.")
            .arg(speed(d.slowedByDrafts));
    return d.withDrafts
               ? Text::tr("%Ln token(s) of the answer were guessed ahead.", nullptr, d.accepted)
               : Text::tr("That is without the %Ln token(s) that guessing ahead brought.", nullptr, d.accepted);
}

QString ofGuesser(const Diagnosis& d)
{
    return Text::tr("“%1” could guess ahead, so that what is read of RAM for one token serves several. It is assumed "
                    "that %2 to %3 % of its guesses are right.")
        .arg(d.action.name, percent(kFewRight), percent(kManyRight));
}

}  // namespace

QString doctorShares(const Diagnosis& d)
{
    const DoctorShares& s = d.shares;
    if (d.kind == Diagnosis::Kind::Nothing)
        return {};
    std::vector<std::pair<int, QString>> parts = {
        {qRound(100 * s.arithmetic()), Text::tr("the model's own arithmetic")},
        {qRound(100 * s.link), causeName(DoctorCause::Link)},
        {qRound(100 * s.hostAttention), causeName(DoctorCause::HostAttention)},
        {qRound(100 * s.cores), causeName(DoctorCause::Cores)},
        {qRound(100 * s.words), causeName(DoctorCause::Words)},
    };
    int rest = 100;
    for (const auto& part : parts)
        rest -= part.first;
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    parts.emplace_back(rest, Text::tr("the rest"));
    QStringList shown;
    for (const auto& [share, name] : parts)
        if (share > 0)
            shown.append(Text::tr("%1 % %2").arg(QLocale().toString(share), name));
    return unbroken(shown.join(kNoBreak + QStringLiteral("· ")))
        .replace(QLatin1String("% "), QStringLiteral("%") + kNoBreak);
}

QString doctorSentence(const Diagnosis& d)
{
    QString sentence = sentenceOf(d);
    if ((d.accepted > 0 || d.slowedByDrafts) && saysSpeed(d))
        sentence += QLatin1Char(' ') + ofDrafts(d);
    if (d.action.kind == DoctorAction::Kind::SetDraftModel)
        sentence += QLatin1Char(' ') + ofGuesser(d);
    if (d.action.kind == DoctorAction::Kind::UseDevice)
        sentence += QLatin1Char(' ') + Text::tr("“%1” computes none of it.").arg(d.action.name);
    return unbroken(sentence);
}

QString doctorSuggestion(const DoctorAction& action)
{
    using Action = DoctorAction::Kind;
    switch (action.kind) {
    case Action::None:
        return {};
    case Action::SetLayers:
        return action.value < 0 ? Text::tr("Put as many layers on the device as fit")
                                : Text::tr("Put %n layer(s) on the device", nullptr, int(action.value));
    case Action::SetHostExperts:
        return action.value < 0 ? Text::tr("Put experts on the device as long as they find room")
                                : Text::tr("Keep the experts of %n layer(s) in RAM", nullptr, int(action.value));
    case Action::SetRoomForCopies:
        return action.value == 0 ? Text::tr("Keep no copies of experts on the device")
                                 : Text::tr("Keep %1 of copies of experts on the device").arg(bytes(action.value));
    case Action::SetDraftModel:
        return action.file.isEmpty() ? Text::tr("Let no model guess ahead")
                                     : Text::tr("Let “%1” guess ahead").arg(action.name);
    case Action::UseDevice:
        return Text::tr("Use “%1”").arg(action.name);
    case Action::SetPolicy:
        return Text::tr("Use the policy “%1”").arg(policyName(action.value));
    case Action::SetKvType:
        return Text::tr("Keep KV as %1").arg(typeName(action.value));
    case Action::GrowBack:
        return Text::tr("Grow back");
    case Action::Shrink:
        return Text::tr("Shrink to %1").arg(bytes(action.value));
    case Action::SetBudget:
        return Text::tr("Use %1 of the device's memory at most").arg(bytes(action.value));
    case Action::SetThreads:
        return Text::tr("Use %n thread(s)", nullptr, int(action.value));
    case Action::ReloadWithContext:
        return Text::tr("Load the model with a context of %Ln token(s)", nullptr, int(action.value));
    case Action::SmallerQuantisation:
        return Text::tr("Choose a file of this model with weights of %1 at most").arg(bytes(action.value));
    case Action::CloseOtherPrograms:
        return Text::tr("Close other programs that use the device");
    }
    return {};
}

QString doctorResult(const DoctorAction& action, std::optional<double> before, std::optional<double> after)
{
    if (!after)
        return Text::tr("Asked for: %1. The next answer shows what it brings.").arg(doctorSuggestion(action));
    return Text::tr("%1: %2 tokens a second before, %3 after.")
        .arg(doctorSuggestion(action), before ? speed(before) : QStringLiteral("–"), speed(after));
}

bool canApply(const DoctorAction& action)
{
    using Action = DoctorAction::Kind;
    return action.kind != Action::None && action.kind != Action::SmallerQuantisation &&
           action.kind != Action::CloseOtherPrograms;
}

QString doctorScope(const DoctorAction& action)
{
    using Action = DoctorAction::Kind;
    switch (action.kind) {
    case Action::SetLayers:
    case Action::SetHostExperts:
    case Action::SetRoomForCopies:
    case Action::SetPolicy:
    case Action::SetBudget:
    case Action::GrowBack:
    case Action::Shrink:
        return Text::tr("For this model, until it is loaded again.");
    case Action::ReloadWithContext:
        return Text::tr("For this model and this time: it is loaded again, and reads the conversation anew.");
    case Action::SetDraftModel:
        return Text::tr("For this model and for good: it is loaded again, and reads the conversation anew.");
    case Action::SetKvType:
    case Action::SetThreads:
    case Action::UseDevice:
        return Text::tr("For all models and for good: it is a setting.");
    case Action::None:
    case Action::SmallerQuantisation:
    case Action::CloseOtherPrograms:
        break;
    }
    return {};
}
