#include "app/monitor/doctor_text.h"

#include "engine/placement_text.h"

#include <QCoreApplication>
#include <QLocale>

namespace {

/// For texts outside a class.
struct Text {
    Q_DECLARE_TR_FUNCTIONS(Doctor)
};

QString bytes(qint64 count)
{
    return QLocale().formattedDataSize(count, 1, QLocale::DataSizeIecFormat);
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

QString ofKv(const Diagnosis& d)
{
    if (d.kind == Diagnosis::Kind::KvOverLink)
        return d.fellFrom
                   ? Text::tr("Speed fell from %1 to %2 tokens a second: %3 % of the time is waiting for "
                              "KV that is fetched from RAM.")
                         .arg(speed(d.fellFrom), speed(d.tokensPerSecond), percent(d.share))
                   : Text::tr("%1 % of the time is waiting for KV that is fetched from RAM.").arg(percent(d.share));
    return d.fellFrom
               ? Text::tr("Speed fell from %1 to %2 tokens a second: for %3 % of the time the CPU attends KV that "
                          "found no room on the device.")
                     .arg(speed(d.fellFrom), speed(d.tokensPerSecond), percent(d.share))
               : Text::tr("For %1 % of the time the CPU attends KV that found no room on the device.")
                     .arg(percent(d.share));
}

QString ofMemory(const Diagnosis& d)
{
    switch (d.kind) {
    case Diagnosis::Kind::SwapInUse:
        return Text::tr("%1 of the model are on the disk, since RAM is full: every token waits for them.")
            .arg(bytes(d.bytes));
    case Diagnosis::Kind::ContextTooLarge:
        return Text::tr("RAM ends at %n token(s), and the context is set larger.", nullptr, d.tokens);
    case Diagnosis::Kind::DeviceWillBeFull:
        return Text::tr(
            "The device is full at %n token(s), and the policy “resident” lets nothing leave it: the answer "
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

}  // namespace

QString doctorSentence(const Diagnosis& d)
{
    using Kind = Diagnosis::Kind;
    switch (d.kind) {
    case Kind::Nothing:
        return {};
    case Kind::AllWell:
        return Text::tr("All is well: %1 % of the time is the model's own arithmetic, %2 tokens a second.")
            .arg(percent(d.share), speed(d.tokensPerSecond));
    case Kind::SlowFirstToken:
        return Text::tr("The first token waited %1 s, while %n token(s) of the prompt were read.", nullptr, d.tokens)
            .arg(QLocale().toString(d.seconds, 'f', 1));
    case Kind::KvOverLink:
    case Kind::KvOnHost:
        return ofKv(d);
    case Kind::TooManyThreads:
        return Text::tr("%1 threads share %2 cores: all wait for the one that has none.").arg(d.count).arg(d.available);
    case Kind::TooFewThreads:
        return Text::tr("The CPU has most of the work, and only %1 of %2 cores do it.").arg(d.count).arg(d.available);
    case Kind::HostLayers:
        return Text::tr("%1 % of the time is that of %n layer(s) on the CPU.", nullptr, d.count).arg(percent(d.share));
    default:
        return ofMemory(d);
    }
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
    case Action::SetPolicy:
        return Text::tr("Use the policy “%1”").arg(policyName(action.value));
    case Action::SetKvType:
        return Text::tr("Keep KV as q8_0, in less room");
    case Action::SetBudget:
        return Text::tr("Use %1 of the device's memory at most").arg(bytes(action.value));
    case Action::SetThreads:
        return Text::tr("Use %n thread(s)", nullptr, int(action.value));
    case Action::ReloadWithContext:
        return Text::tr("Load the model with a context of %n token(s)", nullptr, int(action.value));
    case Action::SmallerQuantisation:
        return Text::tr("Choose a file of this model with weights of %1 at most").arg(bytes(action.value));
    case Action::CloseOtherPrograms:
        return Text::tr("Close other programs that use the device");
    }
    return {};
}

bool canApply(const DoctorAction& action)
{
    using Action = DoctorAction::Kind;
    return action.kind != Action::None && action.kind != Action::SmallerQuantisation &&
           action.kind != Action::CloseOtherPrograms;
}
