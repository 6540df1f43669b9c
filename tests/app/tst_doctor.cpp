// What the Doctor says of recorded answers: of each cause one, on a machine that had it.
// tests/data/recordings/README.md says how each was recorded.
#include "app/monitor/doctor_text.h"
#include "tests/support/doctor_recording.h"

#include <QDir>
#include <QFile>
#include <QTest>

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
        row("guide-emulated-room-for-all", Kind::AllWell, Action::None);
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
        row("by-hand-gpu-half-the-layers", Kind::HostLayers, Action::SetLayers);
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
        QCOMPARE(folder.entryList({QStringLiteral("*.json")}).size(), 16);
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
        for (int kind = 0; kind <= int(Action::CloseOtherPrograms); ++kind) {
            const DoctorAction action{Action(kind), 4096};
            QCOMPARE(canApply(action), action.kind != Action::None && action.kind != Action::SmallerQuantisation &&
                                           action.kind != Action::CloseOtherPrograms);
        }
    }
};

QTEST_GUILESS_MAIN(TestDoctor)
#include "tst_doctor.moc"
