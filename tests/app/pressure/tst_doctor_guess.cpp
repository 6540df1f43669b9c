// Tests that the Doctor suggests a draft model where its guesses would make answers faster, and nowhere else.
#include "app/pressure/doctor_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <functional>

namespace {

using Kind = Diagnosis::Kind;
using Action = DoctorAction::Kind;

/// A model on the CPU that takes 100 ms for a token, and a draft model that reads a tenth of its bytes. A row of a
/// prompt takes a tenth of a step, since the weights are read once for all rows.
DoctorFacts couldBeGuessed()
{
    DoctorFacts facts;
    facts.layers = 4;
    facts.weightBytes = 3'600'000'000;
    facts.kvBytesPerToken = 400'000;
    facts.last.context_tokens = 1000;
    facts.last.prefilled_tokens = 100;
    facts.last.shares = engine::StepShares{.prefill_s = 1, .steps = 20, .host_layers_s = 2};
    facts.last.decode_tokens_per_s = 10;
    facts.draft = DoctorDraft{"/models/small.gguf", "small · Q8_0", 4e8};
    return facts;
}

}  // namespace

Q_DECLARE_METATYPE(std::function<void(DoctorFacts&)>)

class TestDoctorGuess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aDraftModelIsSuggestedWhereItWouldPay()
    {
        const Diagnosis d = diagnose(couldBeGuessed());
        QCOMPARE(int(d.kind), int(Kind::AllWell));
        QCOMPARE(d.action, (DoctorAction{Action::SetDraftModel, 0, "/models/small.gguf", "small · Q8_0"}));
        // A guess takes two tenths of a step: with one, 1 + 1/2 tokens in 1.2 steps; with four, 3.05 in 1.8.
        QVERIFY2(d.predicted && std::abs(*d.predicted - 12.5) < 1e-9, qPrintable(QString::number(*d.predicted)));
        const double most = (1 + 0.75 + 0.5625 + 0.421875) / 1.6;
        QVERIFY2(std::abs(*d.predictedAtMost - 10 * most) < 0.1, qPrintable(QString::number(*d.predictedAtMost)));
        QVERIFY(changesSpeed(d));
        const QString sentence = doctorSentence(d);
        QVERIFY2(sentence.contains("“small · Q8_0” could guess ahead") && sentence.contains("50 to 75") &&
                     sentence.contains("assumed"),
                 qPrintable(sentence));
        QCOMPARE(doctorSuggestion(d.action), QStringLiteral("Let “small · Q8_0” guess ahead"));
        QVERIFY(doctorScope(d.action).contains("for good"));
    }

    void aDraftModelIsNotSuggestedElsewhere_data()
    {
        using Change = std::function<void(DoctorFacts&)>;
        QTest::addColumn<Change>("change");
        const auto row = [](const char* name, const Change& change) { QTest::newRow(name) << change; };
        row("there is none", [](DoctorFacts& f) { f.draft.reset(); });
        row("it reads half as much", [](DoctorFacts& f) { f.draft->bytesPerToken = 2e9; });
        row("it would bring less than is noticed", [](DoctorFacts& f) { f.draft->bytesPerToken = 1.1e9; });
        row("rows cost half a step", [](DoctorFacts& f) { f.last.prefilled_tokens = 20; });
        row("too few rows to know", [](DoctorFacts& f) { f.last.prefilled_tokens = 10; });
        row("the GPU computes", [](DoctorFacts& f) {
            f.last.device.emplace().layers = 4;
            std::swap(f.last.shares->device_layers_s, f.last.shares->host_layers_s);
        });
        row("repetition brings as much", [](DoctorFacts& f) {
            f.last.drafted_tokens = 50;
            f.last.accepted_tokens = 40;
            f.last.decode_tokens_per_s = 12;
            f.last.plain_steps = {20, 2};
        });
        row("another change helps", [](DoctorFacts& f) {
            f.last.threads = 1;
            f.last.cores = 4;
        });
        row("a prompt took the time", [](DoctorFacts& f) {
            f.last.shares->prefill_s = 3;
            f.last.prefilled_tokens = 1000;
        });
    }
    void aDraftModelIsNotSuggestedElsewhere()
    {
        QFETCH(std::function<void(DoctorFacts&)>, change);
        DoctorFacts facts = couldBeGuessed();
        change(facts);
        const Diagnosis d = diagnose(facts);
        QVERIFY(d.action.kind != Action::SetDraftModel);
        QVERIFY(!d.predictedAtMost && !doctorSentence(d).contains("could guess"));
    }

    /// A draft model makes it rarer that the CPU reads what found no room on the GPU, layers or KV.
    void aDraftModelSharesWhatIsSpilled()
    {
        DoctorFacts facts = couldBeGuessed();
        facts.last.device.emplace().layers = 4;
        facts.last.device->step_attended_on_host_bytes = 4'000'000'000;
        facts.last.shares = engine::StepShares{
            .prefill_s = 1, .steps = 20, .device_layers_s = 0.5, .kv_link_s = 0, .host_attention_s = 1.5};
        const Diagnosis d = diagnose(facts);
        QCOMPARE(int(d.kind), int(Kind::KvOnHost));
        QCOMPARE(int(d.action.kind), int(Action::SetDraftModel));
        facts.kvBytesPerTokenAsQ8 = 200'000;
        QCOMPARE(int(diagnose(facts).action.kind), int(Action::SetKvType));  // what costs no memory comes first
        facts.kvBytesPerTokenAsQ8.reset();
        facts.last.device->step_attended_on_host_bytes = 0;  // what was read in that time is not known
        QCOMPARE(int(diagnose(facts).action.kind), int(Action::None));
    }
};

SPILLWAY_TEST(QCoreApplication, TestDoctorGuess)
#include "tst_doctor_guess.moc"
