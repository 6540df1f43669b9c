// Tests that the Doctor finds what held an answer back, for each cause in the recording of an answer that had it.
// tests/data/recordings/README.md says how each was recorded.
#include "app/pressure/doctor_facts.h"
#include "app/pressure/doctor_text.h"
#include "tests/support/doctor_recording.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QRandomGenerator>
#include <QTest>

#include <array>
#include <cmath>

namespace {

using Kind = Diagnosis::Kind;
using Action = DoctorAction::Kind;

DoctorFacts recording(const char* name)
{
    QFile file(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/recordings/%1.json").arg(QLatin1String(name)));
    if (!file.open(QFile::ReadOnly)) {
        qWarning("%s is not there", name);
        return {};
    }
    return test_support::facts_from_json(test_support::Json::parse(file.readAll().toStdString()));
}

}  // namespace

Q_DECLARE_METATYPE(Diagnosis::Kind)
Q_DECLARE_METATYPE(DoctorAction::Kind)

class TestDoctor : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachCauseIsFound_data()
    {
        QTest::addColumn<Kind>("kind");
        QTest::addColumn<Action>("action");
        const auto row = [](const char* name, Kind kind, Action action) { QTest::newRow(name) << kind << action; };
        row("guide-emulated-room-for-all", Kind::BelowPrediction, Action::None);  // a core that others used
        row("guide-cpu", Kind::AllWell, Action::None);
        row("guide-cpu-long-prompt", Kind::SlowFirstToken, Action::None);
        row("guide-cpu-one-thread", Kind::TooFewThreads, Action::SetThreads);
        row("guide-cpu-eight-threads", Kind::TooManyThreads, Action::SetThreads);
        row("guide-emulated-one-layer", Kind::HostLayers, Action::None);  // no faster there: the cores are the same
        row("guide-emulated-small-vram", Kind::QuantisationTooLarge, Action::SmallerQuantisation);
        row("guide-emulated-other-programs", Kind::OtherPrograms, Action::CloseOtherPrograms);
        row("guide-emulated-resident", Kind::DeviceWillBeFull, Action::SetPolicy);
        row("guide-emulated-stream-slow-link", Kind::KvOverLink, Action::SetPolicy);
        row("guide-emulated-merge", Kind::KvOnHost, Action::None);
        row("guide-emulated-long", Kind::KvOnHost, Action::SetKvType);
        row("guide-emulated-long-cores-held", Kind::CoresHeld, Action::None);
        row("guide-emulated-long-one-core", Kind::NoSingleCause, Action::None);
        row("guide-cpu-cores-held", Kind::CoresHeld, Action::None);
        row("by-hand-gpu-half-the-layers", Kind::HostLayers, Action::SetLayers);
        row("by-hand-gpu-experts-in-ram", Kind::HostExperts, Action::SetHostExperts);
        row("by-hand-gpu-experts-over-a-slow-link", Kind::ExpertsOverLink, Action::None);
        row("by-hand-gpu-kv-starves-experts", Kind::KvStarvesExperts, Action::SetKvType);
        row("by-hand-experts-from-disk", Kind::ReadFromDisk, Action::SmallerQuantisation);
        row("shape-emulated-experts-in-ram", Kind::AllWell, Action::None);  // the same cores read them there
        row("by-hand-gpu-stream", Kind::KvOverLink, Action::SetPolicy);
        row("by-hand-swap", Kind::SwapInUse, Action::ReloadWithContext);
        row("by-hand-context-too-large", Kind::ContextTooLarge, Action::ReloadWithContext);
        row("by-hand-windows-spill", Kind::DriverSpill, Action::SetBudget);
    }
    void eachCauseIsFound()
    {
        QFETCH(Kind, kind);
        QFETCH(Action, action);
        const Diagnosis d = diagnose(recording(QTest::currentDataTag()));
        QCOMPARE(int(d.kind), int(kind));
        QCOMPARE(int(d.action.kind), int(action));
        QVERIFY(d.tokensPerSecond);
        const QString sentence = doctorSentence(d);
        QVERIFY2(sentence.endsWith(u'.') && !sentence.contains(u'%' + QStringLiteral("1")), qPrintable(sentence));
        QCOMPARE(doctorSuggestion(d.action).isEmpty(), action == Action::None);
    }

    void everyRecordingIsOfSomeTest()
    {
        const QDir folder(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/recordings"));
        QCOMPARE(folder.entryList({QStringLiteral("*.json")}).size(), 25);
    }

    void expertsOnTheHostAreACauseAndAHelp()
    {
        DoctorFacts facts = recording("by-hand-gpu-experts-in-ram");
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.count, 22);
        QCOMPARE(d.share, d.shares.host);
        QVERIFY2(doctorSentence(d).contains(QStringLiteral("experts of 22 layer")), qPrintable(doctorSentence(d)));
        QCOMPARE(d.action, (DoctorAction{Action::SetHostExperts, -1}));
        QVERIFY(d.predicted && *d.predicted > *d.tokensPerSecond * 1.3);
        facts.options = {{{Action::SetHostExperts, -1}, facts.predicted}};  // no gain, no advice
        QCOMPARE(diagnose(facts).action, DoctorAction());
        facts.last.device->layers_without_experts = 0;  // then what the host computes is the model's own
        QVERIFY(diagnose(facts).kind != Kind::HostExperts);
    }

    /// The experts are the cause although there are copies of them, since most that were read had none.
    void whereFewHaveACopyTheRoomIsTooSmall()
    {
        DoctorFacts facts = recording("by-hand-gpu-half-the-layers");
        engine::DeviceTelemetry& device = *facts.last.device;
        device.layers = facts.layers;
        device.expert_layers = facts.layers;
        device.layers_without_experts = 7;
        device.cached_experts = 4;
        device.expert_cache_bytes = 1000;
        device.weight_bytes += 1000;
        device.watermark_bytes = device.used_bytes() + 1000;
        device.total_bytes = device.watermark_bytes + device.other_programs_bytes;
        facts.expertHits = 300;
        facts.expertMisses = 700;
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.kind, Kind::TooFewCopies);
        QCOMPARE(d.hits, 0.3);
        QCOMPARE(d.count, 4);
        QCOMPARE(d.share, d.shares.host);
        QCOMPARE(d.action, (DoctorAction{Action::SetRoomForCopies, 2000}));
        const QString said = doctorSentence(d);
        QVERIFY2(said.contains(QStringLiteral("30\u00a0% of those that tokens choose have a copy on the device, which "
                                              "has room for 4 of each layer")),
                 qPrintable(said));
        QVERIFY(doctorSuggestion(d.action).contains(QStringLiteral("copies of experts")));
        QVERIFY(canApply(d.action));

        const auto changed = [&](auto change) {
            DoctorFacts other = facts;
            change(other);
            return diagnose(other);
        };
        const auto foretold = [&](double times) {
            return changed([&](DoctorFacts& f) {
                f.options = {{{Action::SetRoomForCopies, 2000}, *f.predicted * times}};
            });
        };
        QCOMPARE(foretold(1.5).action, d.action);
        QVERIFY(*foretold(1.5).predicted > 1.4 * *d.tokensPerSecond);
        QCOMPARE(foretold(1).action, DoctorAction());  // no gain, no advice
        // Where there is no room for as many copies again, that stays the cause, but no button can help.
        const Diagnosis full = changed([](DoctorFacts& f) { f.last.device->watermark_bytes -= 1; });
        QCOMPARE(full.kind, Kind::TooFewCopies);
        QCOMPARE(full.action, DoctorAction());
        const Diagnosis shrunk = changed([](DoctorFacts& f) { f.shrunk = true; });
        QCOMPARE(shrunk.action, DoctorAction{Action::GrowBack});
        // Half of them, too few to tell, or no copies at all: the experts are the reason.
        QCOMPARE(changed([](DoctorFacts& f) { f.expertHits = 700; }).kind, Kind::HostExperts);
        QCOMPARE(changed([](DoctorFacts& f) { f.expertHits = f.expertMisses = 40; }).kind, Kind::HostExperts);
        QCOMPARE(changed([](DoctorFacts& f) { f.last.device->cached_experts = 0; }).kind, Kind::HostExperts);
        // What was said stays until it is clearly wrong.
        QCOMPARE(changed([](DoctorFacts& f) { f.before = Kind::TooFewCopies, f.expertHits = 1000; }).kind,
                 Kind::TooFewCopies);
        QCOMPARE(changed([](DoctorFacts& f) { f.before = Kind::TooFewCopies, f.expertHits = 1400; }).kind,
                 Kind::HostExperts);
    }

    /// More room would be filled no faster than the link carries copies.
    void copiesThatComeTooSlowlyAreTheLinks()
    {
        const DoctorFacts facts = recording("by-hand-gpu-experts-over-a-slow-link");
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.hits, 12000.0 / 38400);
        const engine::StepShares& s = *facts.last.shares;
        QCOMPARE(d.linkShare, 8.6e9 / 3e9 / (s.prefill_s + s.decode_s()));
        QVERIFY2(
            doctorSentence(d).contains(QStringLiteral("busy with them for 65\u00a0% of the time, and 31\u00a0% of")),
            qPrintable(doctorSentence(d)));
        const auto changed = [&](auto change) {
            DoctorFacts other = facts;
            change(other);
            return diagnose(other);
        };
        // A faster link, one of unknown speed, or copies of KV: then it is not the link.
        const auto tooFew = [](const Diagnosis& found) { return found.kind == Kind::TooFewCopies; };
        QVERIFY(tooFew(changed([](DoctorFacts& f) { f.linkBytesPerSecond = 12e9; })));
        QVERIFY(tooFew(changed([](DoctorFacts& f) { f.linkBytesPerSecond.reset(); })));
        QVERIFY(tooFew(changed([](DoctorFacts& f) { f.last.device->step_streamed_bytes = 40'000'000; })));
        // What was said stays until it is clearly wrong.
        const auto slower = [](DoctorFacts& f) { f.copiedBytes = 0.75 * f.copiedBytes; };
        QVERIFY(tooFew(changed(slower)));
        QCOMPARE(changed([&](DoctorFacts& f) { slower(f), f.before = Kind::ExpertsOverLink; }).kind,
                 Kind::ExpertsOverLink);
        // Experts that lie on the device for good need no copies.
        const DoctorAction onDevice{Action::SetHostExperts, -1};
        QCOMPARE(changed([&](DoctorFacts& f) {
                     f.options.push_back({onDevice, 1.5 * *f.predicted});
                 }).action,
                 onDevice);
    }

    void kvThatTakesTheRoomOfExpertsIsACause()
    {
        const DoctorFacts facts = recording("by-hand-gpu-kv-starves-experts");
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.available, facts.last.device->kv_bytes);
        QCOMPARE(d.bytes, facts.last.device->expert_cache_bytes);
        QVERIFY(d.predicted && *d.predicted > 1.3 * *d.tokensPerSecond);
        QVERIFY2(doctorSentence(d).contains(QStringLiteral("KV has 5.90\u00a0GB of the device's memory, and copies of "
                                                           "experts 900\u00a0MB")),
                 qPrintable(doctorSentence(d)));
        QVERIFY(canApply(d.action) && !doctorScope(d.action).isEmpty());
        const auto changed = [&](auto change) {
            DoctorFacts other = facts;
            change(other);
            return diagnose(other);
        };
        // Room for copies where KV lies now, if that brings more.
        QCOMPARE(changed([](DoctorFacts& f) { f.options[0].tokensPerSecond = 35; }).action,
                 (DoctorAction{Action::SetRoomForCopies, 1'800'000'000}));
        // Nobody knows whether experts would use it better, or they would not: nothing is said of KV.
        QCOMPARE(changed([](DoctorFacts& f) { f.options.clear(); }).kind, Kind::TooFewCopies);
        QCOMPARE(changed([](DoctorFacts& f) { f.predicted.reset(); }).kind, Kind::TooFewCopies);
        const Diagnosis worth = changed([](DoctorFacts& f) {
            for (DoctorOption& option : f.options)
                option.tokensPerSecond = *f.predicted;
        });
        QCOMPARE(worth.kind, Kind::TooFewCopies);
        QCOMPARE(worth.action, DoctorAction());
        // KV has next to nothing of the device's memory.
        QCOMPARE(changed([](DoctorFacts& f) { f.last.device->kv_bytes = 900'000'000; }).kind, Kind::TooFewCopies);
        // No copies are kept, and all the same there is no room for the experts themselves.
        const Diagnosis none = changed([](DoctorFacts& f) {
            f.last.device->cached_experts = 0;
            f.last.device->expert_cache_bytes = 0;
            f.expertHits = f.expertMisses = 0;
        });
        QCOMPARE(none.kind, Kind::KvStarvesExperts);
        QVERIFY2(doctorSentence(none).contains(QStringLiteral("experts of 48 layer")),
                 qPrintable(doctorSentence(none)));
    }

    void whatTheDiskHoldsBackIsMeasured()
    {
        const DoctorFacts facts = recording("by-hand-experts-from-disk");
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.bytes, qint64(61'000'000'000 / 60));
        QVERIFY(d.available > 63'000'000'000 - 34'359'738'368 && d.ofExperts);
        QVERIFY2(doctorSentence(d).startsWith(QStringLiteral("For each token 1.02\u00a0GB are read from the disk")),
                 qPrintable(doctorSentence(d)));
        QVERIFY(d.action.value > 0 && d.action.value < 34'359'738'368);
        const auto changed = [&](auto change) {
            DoctorFacts other = facts;
            change(other);
            return diagnose(other);
        };
        const Diagnosis dense = changed([](DoctorFacts& f) { f.experts = f.expertsUsed = 0; });
        QCOMPARE(dense.kind, Kind::ReadFromDisk);
        QVERIFY2(doctorSentence(dense).contains(QStringLiteral("of the weights are read from the disk")),
                 qPrintable(doctorSentence(dense)));
        // The answer did not read from the disk, nobody knows whether it did, or RAM is large enough, and a file is
        // read for the first time.
        const auto isOther = [](const Diagnosis& found) { return found.kind != Kind::ReadFromDisk; };
        QVERIFY(isOther(changed([](DoctorFacts& f) { f.diskBytes = 1'000'000; })));
        QVERIFY(isOther(changed([](DoctorFacts& f) { f.diskBytes.reset(); })));
        QVERIFY(isOther(changed([](DoctorFacts& f) { f.last.ram_total_bytes.reset(); })));
        QCOMPARE(changed([](DoctorFacts& f) { f.last.ram_total_bytes = 137'438'953'472; }).kind, Kind::AllWell);
        // A device may hold what RAM has no room for.
        const auto placed = [&](const char* id, qint64 bytes) {
            return changed([&](DoctorFacts& f) {
                f.last.device = engine::DeviceTelemetry{.id = id, .layers = 20, .weight_bytes = bytes};
            });
        };
        const Diagnosis there = placed("cuda:0", 40'000'000'000);
        QVERIFY(isOther(there) && there.kind != Kind::ContextTooLarge);
        QCOMPARE(placed("emulated", 40'000'000'000).kind, Kind::ReadFromDisk);  // its memory is RAM
        // What the device holds comes on top of what RAM can hold.
        QCOMPARE(placed("cuda:0", 10'000'000'000).kind, Kind::ReadFromDisk);
        QCOMPARE(placed("cuda:0", 10'000'000'000).action.value, d.action.value + 10'000'000'000);
    }

    /// Where KV is in the way, no other placement helps, and half of its bytes would be as good.
    void smallerKvIsTheLastResort()
    {
        for (const char* const name : {"guide-emulated-merge", "by-hand-context-too-large"}) {
            DoctorFacts facts = recording(name);
            const Diagnosis before = diagnose(facts);
            QVERIFY(before.action.kind != Action::SetKvType);
            facts.kvBytesPerTokenAsQ8 = 0.53 * facts.kvBytesPerToken;
            if (before.tokens > 0)
                facts.last.context_limit = int(1.8 * before.tokens);
            const auto predictedAs = [&](double times) {
                DoctorFacts changed = facts;
                changed.predicted = facts.predicted.value_or(10);
                changed.options.push_back(
                    {{Action::SetKvType, qint64(engine::KvType::Q8_0)}, times * *changed.predicted});
                return diagnose(changed);
            };
            if (before.kind != Kind::ContextTooLarge)  // it is about speed
                QCOMPARE(int(predictedAs(0.9).action.kind), int(Action::None));
            const Diagnosis d = predictedAs(1.5);
            QCOMPARE(int(d.kind), int(before.kind));
            QCOMPARE(int(d.action.kind), int(Action::SetKvType));
            QCOMPARE(engine::KvType(d.action.value), engine::KvType::Q8_0);
            QVERIFY(doctorSuggestion(d.action).contains("q8_0"));
            QVERIFY(canApply(d.action));
        }
        // Half is not enough for a context that is far too large.
        DoctorFacts facts = recording("by-hand-context-too-large");
        facts.kvBytesPerTokenAsQ8 = 0.53 * facts.kvBytesPerToken;
        facts.last.context_limit = 100 * diagnose(facts).tokens;
        QCOMPARE(int(diagnose(facts).action.kind), int(Action::ReloadWithContext));
    }

    void theCliffSaysFromWhereToWhere()
    {
        const DoctorFacts facts = recording("guide-emulated-stream-slow-link");
        const Diagnosis d = diagnose(facts);
        QVERIFY(d.fellFrom && *d.fellFrom > 1.1 * *d.tokensPerSecond);
        QCOMPARE(*d.fellFrom, *std::max_element(facts.earlier.begin(), facts.earlier.end()));
        QVERIFY(d.share > 1.0 / 3 && d.share <= 1);
        QVERIFY(doctorSentence(d).contains(QStringLiteral("fell")));
        // What the planner says a change brings, at the speed that was seen.
        QVERIFY(d.predicted && *d.predicted > 1.1 * *d.tokensPerSecond);
    }

    void thePolicyInUseIsNotSuggested()
    {
        DoctorFacts facts = recording("by-hand-gpu-stream");
        facts.options.clear();  // nothing is predicted
        QCOMPARE(diagnose(facts).action.value, qint64(engine::KvPolicy::Auto));
        facts.policy = engine::KvPolicy::Auto;
        QCOMPARE(diagnose(facts).action.value, qint64(engine::KvPolicy::Merge));
    }

    /// Returns the facts of a made-up answer of 100 steps in a second, from how long each part took.
    static DoctorFacts answerOf(double device, double link, double hostAttention, double waited, double rest)
    {
        DoctorFacts facts;
        facts.layers = 6;
        facts.last.threads = facts.last.cores = 2;
        facts.last.decode_tokens_per_s = 100;
        facts.last.device = engine::DeviceTelemetry{.id = "emulated", .layers = 6};
        facts.last.shares = engine::StepShares{.steps = 100,
                                               .device_layers_s = device,
                                               .kv_link_s = link,
                                               .host_attention_s = hostAttention,
                                               .rest_s = rest};
        facts.waitedS = waited;
        return facts;
    }

    void theSharesAreTheWhole_data() { eachCauseIsFound_data(); }
    void theSharesAreTheWhole()
    {
        const Diagnosis d = diagnose(recording(QTest::currentDataTag()));
        const DoctorShares& s = d.shares;
        for (const double part : {s.device, s.host, s.link, s.hostAttention, s.cores, s.words, s.rest})
            QVERIFY(part >= 0);
        QVERIFY(std::abs(s.arithmetic() + s.link + s.hostAttention + s.cores + s.words + s.rest - 1) < 1e-9);
        int percents = 0;
        for (const QString& part : doctorShares(d).split(QStringLiteral("\u00A0· "))) {
            percents += part.section(u'\u00A0', 0, 0).toInt();
            QVERIFY2(part.contains(u"\u00A0%\u00A0"), qPrintable(part));  // no line ends around the sign
        }
        QCOMPARE(percents, 100);
        QVERIFY2(!doctorSentence(d).contains(QStringLiteral(" %")), qPrintable(doctorSentence(d)));
    }

    void itIsNotWellBelowHalfOrFarBelowThePrediction()
    {
        DoctorFacts facts = answerOf(0.45, 0.2, 0.2, 0, 0.15);
        QCOMPARE(int(diagnose(facts).kind), int(Kind::NoSingleCause));
        for (int share = 0; share < 50; ++share) {
            const double rest = (1 - share / 100.0) / 4;
            for (const Kind before : {Kind::Nothing, Kind::AllWell, Kind::NoSingleCause}) {
                DoctorFacts some = answerOf(share / 100.0, rest, rest, 0, 2 * rest);
                some.before = before;
                QVERIFY(diagnose(some).kind != Kind::AllWell);
            }
        }
        facts = answerOf(0.9, 0, 0, 0, 0.1);
        QCOMPARE(int(diagnose(facts).kind), int(Kind::AllWell));
        facts.predicted = 120;
        QCOMPARE(int(diagnose(facts).kind), int(Kind::AllWell));
        QVERIFY(doctorSentence(diagnose(facts)).contains("120"));
        facts.predicted = 140;
        QCOMPARE(int(diagnose(facts).kind), int(Kind::BelowPrediction));
        QVERIFY(doctorSentence(diagnose(facts)).contains("140"));
    }

    /// Whatever the shares: a verdict that names a share names the largest of what can hold an answer back, and the
    /// rest comes last.
    void theLargestCauseIsNamed()
    {
        QRandomGenerator random(35);
        for (int i = 0; i < 20'000; ++i) {
            double parts[6], all = 0;
            for (double& part : parts)
                all += part = std::pow(random.generateDouble(), 3);
            DoctorFacts facts =
                answerOf(parts[0] / all, parts[1] / all, parts[2] / all, 0, (parts[4] + parts[5]) / all);
            facts.last.shares->host_layers_s = parts[3] / all;
            facts.waitedS = random.generateDouble() * (parts[0] + parts[2] + parts[3]) / all;
            facts.last.device->layers = 3;
            facts.earlier = {random.generateDouble() * 400};
            facts.predicted = random.generateDouble() * 300;
            facts.last.kv_blocks_host = facts.last.kv_blocks_device = 10;
            facts.before = Kind(random.bounded(int(Kind::BelowPrediction) + 1));
            const Diagnosis d = diagnose(facts);
            const DoctorShares& s = d.shares;
            const double most = std::max({s.link, s.hostAttention, s.host, s.cores, s.words});
            switch (d.kind) {
            case Kind::KvOverLink:
            case Kind::KvOnHost:
            case Kind::HostLayers:
            case Kind::OtherPrograms:
            case Kind::QuantisationTooLarge:
            case Kind::CoresHeld:
                QCOMPARE(d.share, most);
                break;
            case Kind::KvInRam:
                QVERIFY(d.share >= most);
                break;
            case Kind::NoSingleCause:
                QCOMPARE(d.largest.share, most < 0.1 ? 0 : most);
                QCOMPARE(doctorSentence(d).count(QStringLiteral("\u00A0%")), most < 0.1 ? 1 : 2);
                break;
            default:
                break;
            }
            const QString shares = doctorShares(d);
            const qsizetype rest = shares.indexOf(QStringLiteral("the rest"));
            QVERIFY2(rest < 0 || rest == shares.size() - 8, qPrintable(shares));
        }
    }

    void whereNoCauseIsKnownThatIsSaid()
    {
        const Diagnosis d = diagnose(answerOf(0.3, 0.09, 0, 0, 0.61));
        QCOMPARE(int(d.kind), int(Kind::NoSingleCause));
        QCOMPARE(int(d.largest.cause), int(DoctorCause::None));
        QVERIFY2(doctorSentence(d).contains("between two tokens"), qPrintable(doctorSentence(d)));
    }

    void otherProgramsOnTheCoresAreNamed()
    {
        const Diagnosis d = diagnose(answerOf(0.9, 0, 0, 0.4, 0.1));
        QCOMPARE(int(d.kind), int(Kind::CoresHeld));
        QCOMPARE(d.share, 0.4);
        QVERIFY(std::abs(d.shares.arithmetic() - 0.5) < 1e-9);  // what it waited was no arithmetic
        QVERIFY(doctorSentence(d).contains(u"40\u00A0%"));
        DoctorFacts faster = answerOf(0.9, 0, 0, 0.4, 0.1);
        for (const double predicted : {1000.0, 1.0}) {  // what was missed, and not what was surpassed
            faster.predicted = predicted;
            const QString said = doctorSentence(diagnose(faster));
            QCOMPARE(said.contains(QStringLiteral("were predicted")), predicted > 500);
        }
        DoctorFacts some = answerOf(0.9, 0, 0, 0.15, 0.1);
        QCOMPARE(int(diagnose(some).kind), int(Kind::AllWell));
        some.predicted = 200;  // where something is missing, a little is the reason
        QCOMPARE(int(diagnose(some).kind), int(Kind::CoresHeld));
        some.last.threads = 8;  // they are our own
        QVERIFY(diagnose(some).kind != Kind::CoresHeld);
    }

    void whatFellWithItsBlocksInRamIsNotWell()
    {
        DoctorFacts facts = answerOf(0.6, 0.2, 0.15, 0, 0.05);
        facts.earlier = {1000};
        facts.last.kv_blocks_host = 90;
        facts.last.kv_blocks_device = 24;
        const Diagnosis d = diagnose(facts);
        QCOMPARE(int(d.kind), int(Kind::KvInRam));
        const QString sentence = doctorSentence(d);
        QVERIFY2(sentence.contains("90 of 114") && sentence.contains(QLocale().toString(1000.0, 'f', 0)),
                 qPrintable(sentence));
    }

    /// Numbers that sway around a bound give one verdict, not two by turns.
    void theSameQuestionHasTheSameAnswer()
    {
        Kind said = Kind::Nothing;
        for (const double sway : {0.01, -0.02, 0.03, -0.03, 0.0, -0.01}) {
            DoctorFacts facts = answerOf(0.6 - sway, 1.0 / 3 + sway, 0, 0, 0.4 - 1.0 / 3);
            facts.before = said;
            const Kind now = diagnose(facts).kind;
            if (said != Kind::Nothing)
                QCOMPARE(int(now), int(said));
            said = now;
        }
        QCOMPARE(int(said), int(Kind::KvOverLink));
    }

    void whatWasShrunkGrowsBack()
    {
        DoctorFacts facts = answerOf(0.3, 0.1, 0.5, 0, 0.1);
        facts.predicted = 100;
        facts.options = {{{Action::SetPolicy, 1}, 300}, {{Action::GrowBack}, 250}};
        QCOMPARE(int(diagnose(facts).action.kind), int(Action::SetPolicy));
        facts.shrunk = true;
        const Diagnosis d = diagnose(facts);
        QCOMPARE(int(d.action.kind), int(Action::GrowBack));
        QCOMPARE(*d.predicted, 250.0);
    }

    /// Growing back is offered also where it brings nothing: that is then said.
    void aChangeThatChangesNothingIsNoGain()
    {
        DoctorFacts facts = answerOf(0.95, 0, 0, 0, 0.05);
        facts.shrunk = true;
        facts.predicted = 123;
        facts.options = {{{Action::GrowBack}, 123}};
        const Diagnosis same = diagnose(facts);
        QCOMPARE(int(same.action.kind), int(Action::GrowBack));
        QVERIFY(same.predicted && !changesSpeed(same));
        facts.options = {{{Action::GrowBack}, 130}};  // within what two answers differ by
        QVERIFY(!changesSpeed(diagnose(facts)));
        facts.options = {{{Action::GrowBack}, 200}};
        QVERIFY(changesSpeed(diagnose(facts)));
        facts.options = {{{Action::GrowBack}, 60}};
        QVERIFY(changesSpeed(diagnose(facts)));
        facts.options.clear();
        QVERIFY(changesSpeed(diagnose(facts)));  // nothing is known
    }

    void theSpeedIsTheOneThatTheWindowShows()
    {
        DoctorFacts facts = answerOf(0.9, 0, 0, 0, 0.1);
        facts.last.decode_tokens_per_s = 8036;
        QCOMPARE(*diagnose(facts).tokensPerSecond, 8036.0);
    }

    /// Drafts make an answer faster and its steps slower, which must not be taken for a faster or slower machine.
    void draftsAreNotTakenForTheMachine()
    {
        DoctorFacts facts = answerOf(0.9, 0, 0, 0, 0.1);
        facts.predicted = 100;
        facts.last.decode_tokens_per_s = 60;
        QCOMPARE(int(diagnose(facts).kind), int(Kind::BelowPrediction));
        facts.last.drafted_tokens = 90;  // most fell, and cost their time
        facts.last.accepted_tokens = 2;
        facts.last.plain_steps = {40, 0.4};
        Diagnosis d = diagnose(facts);
        QCOMPARE(int(d.kind), int(Kind::AllWell));
        QCOMPARE(*d.tokensPerSecond, 100.0);
        QVERIFY2(doctorSentence(d).contains("cost more here than it brought: 60 tokens a second"),
                 qPrintable(doctorSentence(d)));
        facts.last.accepted_tokens = 0;
        QVERIFY(doctorSentence(diagnose(facts)).contains("60 tokens a second"));
        facts.last.accepted_tokens = 2;
        facts.last.decode_tokens_per_s = 92;  // within what two answers differ by
        QVERIFY(!diagnose(facts).slowedByDrafts);
        QVERIFY2(doctorSentence(diagnose(facts)).contains("without the 2 token"), qPrintable(doctorSentence(d)));

        facts.last.decode_tokens_per_s = 300;  // most stood, which hides nothing
        facts.last.accepted_tokens = 88;
        facts.last.plain_steps.seconds = 0.8;
        QCOMPARE(int(diagnose(facts).kind), int(Kind::BelowPrediction));

        facts.last.plain_steps.count = 3;  // too few to say anything
        d = diagnose(facts);
        QCOMPARE(int(d.kind), int(Kind::AllWell));
        QCOMPARE(*d.tokensPerSecond, 300.0);
        QVERIFY(!d.expected);
        QVERIFY2(doctorSentence(d).contains("88 token"), qPrintable(doctorSentence(d)));

        DoctorFacts held = answerOf(0.3, 0.6, 0, 0, 0.1);
        held.earlier = {300};  // as measured without drafts
        QVERIFY(diagnose(held).fellFrom);
        held.last.drafted_tokens = 90;
        QVERIFY(!diagnose(held).fellFrom);
        held.last.plain_steps = {40, 0.13};
        QVERIFY(!diagnose(held).fellFrom);
        held.last.plain_steps = {40, 0.4};
        QVERIFY(diagnose(held).fellFrom);
    }

    void aLayerSplitIsJudgedByItsPrediction()
    {
        DoctorFacts facts = recording("by-hand-gpu-half-the-layers");
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.count, 16);
        QVERIFY(std::abs(*d.predicted - *d.tokensPerSecond * 39 / 11) < 1e-9);
        facts.options[0].tokensPerSecond = 11.5;  // no more than two answers differ by
        QCOMPARE(int(diagnose(facts).action.kind), int(Action::None));
        facts.options.clear();  // nothing is known of another split
        QCOMPARE(int(diagnose(facts).action.kind), int(Action::None));
    }

    /// The driver's own context is counted with what other programs hold, though closing them would not free it.
    void theDriversOwnContextIsNoOtherProgram()
    {
        DoctorFacts facts = recording("by-hand-gpu-half-the-layers");  // a layer has 137 MB
        facts.options.clear();
        facts.last.device->other_programs_bytes = 600'000'000;
        QCOMPARE(diagnose(facts).kind, Kind::HostLayers);
        facts.last.device->other_programs_bytes = 800'000'000;
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.kind, Kind::OtherPrograms);
        QCOMPARE(d.action, (DoctorAction{Action::CloseOtherPrograms, 200'000'000}));
    }

    void aContextThatFitsIsSuggested()
    {
        const DoctorFacts facts = recording("by-hand-context-too-large");
        const Diagnosis d = diagnose(facts);
        QVERIFY(d.tokens < facts.last.context_limit);
        QVERIFY(d.action.value <= d.tokens && d.action.value % 1024 == 0);
        const double bytes = double(facts.weightBytes) + double(d.action.value) * facts.kvBytesPerToken;
        QVERIFY(bytes + double(qint64(1) << 30) <= double(*facts.last.ram_total_bytes));
        DoctorFacts tiny = facts;  // not even the shortest context fits
        tiny.weightBytes = *facts.last.ram_total_bytes;
        QCOMPARE(int(diagnose(tiny).action.kind), int(Action::SmallerQuantisation));
    }

    void otherProgramsKeepWhatTheyHoldInAPrediction()
    {
        engine::LoadRequest request{.model = SPILLWAY_SOURCE_DIR "/tests/data/models/llama.gguf"};
        request.placement.device = engine::PlacementOptions::Device::Emulated;
        request.placement.emulated.fit_tokens = 96;
        const auto planner = engine::Planner::open(request.model);
        QVERIFY(planner.has_value());
        const std::array contexts = {16};
        const auto alone = planner->plan(request, contexts, nullptr);
        QVERIFY(alone && alone->spill_tokens);

        DoctorFacts facts;
        facts.last.context_tokens = contexts[0];
        facts.last.device.emplace().other_programs_bytes = 32768;
        addPredictions(facts, *planner, request, nullptr);
        request.placement.other_programs_bytes = 32768;
        const auto beside = planner->plan(request, contexts, nullptr);
        QVERIFY(beside.has_value());
        QVERIFY(beside->spill_tokens != alone->spill_tokens);  // so much is felt
        QCOMPARE(facts.spillTokens, beside->spill_tokens);
    }

    /// Who has a graphics card and a slow model is told that the card does nothing.
    void aGpuThatDoesNothingIsSuggested_data()
    {
        QTest::addColumn<double>("times");  // as slow as the guide
        QTest::addColumn<qint64>("bytes");
        QTest::addColumn<bool>("suggested");
        QTest::newRow("slow") << 100.0 << (qint64(8) << 30) << true;
        QTest::newRow("faster than anybody reads") << 1.0 << (qint64(8) << 30) << false;
        QTest::newRow("no room for a tenth of it") << 100.0 << qint64(551'000) << false;  // of 5,514,240 bytes
    }
    void aGpuThatDoesNothingIsSuggested()
    {
        QFETCH(double, times);
        QFETCH(qint64, bytes);
        QFETCH(bool, suggested);
        DoctorFacts facts = recording("guide-cpu");
        facts.last.shares->host_layers_s *= times;
        facts.last.decode_tokens_per_s = facts.last.shares->steps / facts.last.shares->decode_s();
        facts.unusedGpu = DoctorGpu{"cuda:0", "A fine GPU", bytes};
        const Diagnosis d = diagnose(facts);
        QCOMPARE(d.kind, Kind::AllWell);
        QCOMPARE(d.action, suggested ? (DoctorAction{Action::UseDevice, 0, "cuda:0", "A fine GPU"}) : DoctorAction());
        QCOMPARE(doctorSentence(d).endsWith("“A fine GPU” computes none of it."), suggested);
        QVERIFY(!suggested || (canApply(d.action) && doctorSuggestion(d.action) == "Use “A fine GPU”"));
    }

    void withoutAnAnswerNothingIsSaid()
    {
        QCOMPARE(int(diagnose({}).kind), int(Kind::Nothing));
        QVERIFY(doctorSentence({}).isEmpty());
        DoctorFacts one = recording("guide-cpu");
        one.last.shares->steps = 1;
        QCOMPARE(int(diagnose(one).kind), int(Kind::Nothing));
    }

    void onlyWhatTheProgramCanDoIsAButton()
    {
        for (int kind = 0; kind <= int(Action::SetDraftModel); ++kind) {
            const DoctorAction action{Action(kind), 4096};
            QCOMPARE(doctorScope(action).isEmpty(), !canApply(action));
            QCOMPARE(canApply(action), action.kind != Action::None && action.kind != Action::SmallerQuantisation &&
                                           action.kind != Action::CloseOtherPrograms);
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestDoctor)
#include "tst_doctor.moc"
