// Tests that drafted tokens change how an answer is computed, and nothing of it: rows of a step have the bits of rows
// computed one after another, and turns with and without drafts say the same and leave the same keys and values.
#include "engine/run/drafted_step.h"
#include "tests/engine/run/one_turn.h"
#include "tests/support/chain_model.h"
#include "tests/support/part_of_all.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>

using namespace test_support;

namespace {

const QString kRepeats =
    QStringLiteral("the cat sat on the mat and the dog sat on the cat and the cat sat on the mat ");

/// Holds what can be seen of a turn.
struct Said {
    std::string text;
    StopReason reason = StopReason::EndOfTurn;
    std::vector<int> ids;       // in the KV cache at the end
    std::vector<float> logits;  // of one more token behind them: other keys and values give others
    int generated = 0;
    int drafted = 0, accepted = 0;
    int steps = 0;
    PlainSteps plain_steps;
    std::vector<TextRange> guessed;
    std::vector<int> answer;  // ids whose keys and values are there
};

/// Runs a turn in a new conversation; it is stopped when it gives the piece of text of this number. records: what
/// earlier answers of the conversation would have left, then what this one leaves
Said say(LoadedModel& model, const Request& request, int stop_at = -1, DraftRecords* records = nullptr)
{
    Conversation conversation;
    if (records)
        conversation.drafts = *records;
    const Turn turn = one_turn(model, nullptr, conversation, request, stop_at);
    Said said{turn.text,
              turn.reason,
              conversation.kv.ids,
              {},
              turn.telemetry.generated_tokens,
              turn.telemetry.drafted_tokens,
              turn.telemetry.accepted_tokens,
              turn.telemetry.shares ? turn.telemetry.shares->steps : 0,
              turn.telemetry.plain_steps,
              turn.guessed,
              {}};
    said.answer.assign(said.ids.begin() + turn.answer.first, said.ids.end());
    if (turn.telemetry.context_tokens != conversation.kv.length())
        qFatal("a frame says another length than the conversation has");
    if (records)
        *records = conversation.drafts;
    const int one = 1;
    if (const Status ok = model.append(conversation.kv, std::span(&one, 1)); ok) {
        const auto logits = model.logits(conversation.kv, 0);
        said.logits.assign(logits->begin(), logits->end());
    }
    model.cache().truncate(conversation.kv, 0);
    return said;
}

SamplingOptions sampling(const QString& how)
{
    SamplingOptions options;
    options.temperature = how == "greedy" ? 0.0f : how == "cool" ? 0.2f : 0.8f;
    if (how == "penalties") {
        options.temperature = 0.1f;
        options.repeat_penalty = 1.05f;
        options.frequency_penalty = 0.02f;
        options.dry_multiplier = 0.1f;
        options.xtc_probability = 0.2f;
    }
    return options;
}

/// Guesses the same three tokens whenever it is asked.
class SameGuess : public Drafter
{
public:
    DraftedBy kind() const override { return DraftedBy::Repetition; }
    std::span<const int> next(std::span<const int>, int) override { return kGuess; }

private:
    static constexpr std::array<int, 3> kGuess = {7, 8, 9};
};

LoadRequest placed(const QString& model, const QString& where)
{
    if (where == "cpu")
        return request_for(model);
    const KvPolicy policy = where == "merge"    ? KvPolicy::Merge
                            : where == "stream" ? KvPolicy::Stream
                            : where == "decode" ? KvPolicy::CpuDecode
                                                : KvPolicy::Auto;
    return emulated(model, 100, policy);
}

}  // namespace

class TestDraftedTurns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsOfAStepAreThoseOfManySteps_data()
    {
        QTest::addColumn<QString>("where");
        QTest::addColumn<QString>("name");
        const auto files = QDir(own_models_folder()).entryInfoList({"*.gguf"}, QDir::Files, QDir::Name);
        PartOfAll part(2);
        for (const QFileInfo& file : files)
            if (part.takes_next())
                QTest::newRow(qPrintable("cpu " + file.completeBaseName())) << "cpu" << file.completeBaseName();
        for (const char* const name : {"llama", "gemma3", "deepseek2", "qwen3moe", "gpt-oss", "qwen35", "falcon-h1",
                                       "nemotron_h", "lfm2", "qwen4exp"})
            QTest::addRow("stream %s", name) << "stream" << name;
    }

    /// Some rows are taken back again, as wrong drafts are.
    void rowsOfAStepAreThoseOfManySteps()
    {
        QFETCH(const QString, where);
        QFETCH(const QString, name);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const auto model = load(placed(name, where));
        QVERIFY(model);
        const std::vector<int> ids = some_tokens(*model);
        constexpr std::size_t kBefore = 30, kAll = 110;

        KvSequence one;
        QVERIFY(model->append(one, std::span(ids).first(kBefore)));
        std::vector<std::vector<float>> expected;
        for (std::size_t at = kBefore; at < kAll; ++at) {
            QVERIFY(model->append(one, std::span(ids).subspan(at, 1)));
            expected.push_back(row_logits(*model, one, 0));
        }
        model->cache().truncate(one, 0);

        KvSequence many;
        QVERIFY(model->append(many, std::span(ids).first(kBefore)));
        for (std::size_t at = kBefore; at < kAll;) {
            const std::size_t rows = std::min<std::size_t>(2 + random() % 15, kAll - at);
            const std::size_t right = 1 + random() % rows;
            std::vector<int> step(ids.begin() + std::ptrdiff_t(at), ids.begin() + std::ptrdiff_t(at + rows));
            std::fill(step.begin() + std::ptrdiff_t(right), step.end(), 3);
            RowGroup group{&many, step};
            group.wanted = group.count();
            group.drafted = true;
            QVERIFY(model->append(std::span(&group, 1)));
            for (std::size_t row = 0; row < right; ++row)
                QVERIFY2(same_bits(row_logits(*model, many, int(row)), expected[at + row - kBefore]),
                         qPrintable(QString("row %1 of %2 at %3").arg(row).arg(rows).arg(at)));
            at += right;
            if (right < rows)
                model->take_back(many, int(at));
            QCOMPARE(many.length(), int(at));
            QVERIFY(many.lost.empty());
        }
    }

    void theAnswerIsThatWithoutDrafts_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("where");
        QTest::addColumn<QString>("how");
        PartOfAll part(6);
        for (const char* const name : {"llama", "gemma3", "deepseek2", "qwen3moe", "gpt-oss", "llama4", "gemma3n",
                                       "qwen35", "falcon-h1", "lfm2", "nemotron_h", "qwen4exp"})
            for (const char* const where : {"cpu", "auto", "merge", "stream", "decode"})
                for (const char* const how : {"greedy", "cool", "warm", "penalties"})
                    if ((QString(where) == "cpu" || QString(where) == "stream" || QString(name) == "gemma3") &&
                        part.takes_next())
                        QTest::addRow("%s %s %s", name, where, how) << name << where << how;
    }

    /// Answers end by themselves, at random bounds, stopped at random pieces, and by strings that lie in them.
    void theAnswerIsThatWithoutDrafts()
    {
        QFETCH(const QString, name);
        QFETCH(const QString, where);
        QFETCH(const QString, how);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const auto model = load(placed(name, where));
        QVERIFY(model);
        Request request;
        request.raw_prompt = (kRepeats + kRepeats).toStdString();
        request.sampling = sampling(how);
        request.max_tokens = 120;

        const auto compare = [&](int stop_at) {
            Request drafting = request;
            drafting.most_drafted = 1 + int(random() % 15);
            const Said without = say(*model, request, stop_at), with = say(*model, drafting, stop_at);
            compared_ = true;
            drafted_ += with.drafted;
            accepted_ += with.accepted;
            wrong_ += with.drafted - with.accepted;
            QCOMPARE(with.text, without.text);
            QCOMPARE(with.reason, without.reason);
            QCOMPARE(with.generated, without.generated);
            QCOMPARE(with.ids, without.ids);
            QVERIFY(same_bits(with.logits, without.logits));
            QCOMPARE(without.drafted, 0);
            const int sampled = without.generated + (without.reason == StopReason::EndOfTurn ? 1 : 0);
            QCOMPARE(without.steps, std::max(0, sampled - 1));
            QCOMPARE(without.plain_steps.count, without.steps);
            QCOMPARE(with.steps, std::max(0, sampled - 1 - with.accepted));
            QVERIFY(with.plain_steps.count <= with.steps);
            QVERIFY(with.plain_steps.count < with.steps || with.accepted == 0);
            QVERIFY(with.plain_steps.count == 0 || with.plain_steps.seconds > 0);
            whole_ = without;
        };
        compare(-1);
        const std::string text = whole_.text;
        for (int i = 0; i < 3; ++i) {
            request.max_tokens = int(random() % 40);
            compare(-1);
        }
        request.max_tokens = 120;
        for (int i = 0; i < 3; ++i)
            compare(1 + int(random() % 60));
        for (int i = 0; i < 2 && text.size() > 8; ++i) {
            // Not of the last 3 bytes: where the model ends its turn within a character, they are the sign for a broken
            // one, which is there only when one more token has been sampled.
            request.stop = {text.substr(random() % (text.size() - 5), 3)};
            compare(-1);
        }
        request.stop.clear();
        request.max_tokens = -1;  // until the context is full, or the model ends
        compare(-1);
    }

    /// Each range is of whole tokens, as many as were accepted.
    void whatStoodOfDraftsIsToldAsPartsOfTheText()
    {
        const QTemporaryDir folder;
        LoadRequest placed = request_for("chain");
        placed.model = folder.filePath("chain.gguf").toStdString();
        support::ChainModel({}, {"word"}).says({"a", "b", "word", "c", "a"}).save(placed.model);
        const auto model = load(placed);
        QVERIFY(model);
        Request request;
        request.raw_prompt = "a";
        request.sampling.temperature = 0;
        request.max_tokens = 100;
        QVERIFY(say(*model, request).guessed.empty());
        request.most_drafted = 8;
        const Said said = say(*model, request);
        QVERIFY(said.accepted > 10 && said.accepted < said.generated);
        std::vector<int> ends;
        std::string text;
        for (const int id : said.answer) {
            text += model->tokenizer().piece(id);
            ends.push_back(int(text.size()));
        }
        QVERIFY(said.text.starts_with(text));
        ends.push_back(int(said.text.size()));
        int tokens = 0;
        for (const TextRange& range : said.guessed) {
            QVERIFY(std::ranges::binary_search(ends, range.first) && std::ranges::binary_search(ends, range.last));
            tokens += int(std::ranges::count_if(ends, [&](int end) { return end > range.first && end <= range.last; }));
        }
        QCOMPARE(tokens, said.accepted);
    }

    /// A frame in mid-step says nothing of those whose worth the next frame says.
    void guessesCountWhenTheyAreJudged()
    {
        DraftedStep step(3, DraftDepth::Fixed);
        step.allow(std::make_unique<SameGuess>());
        const int token = 1;
        QCOMPARE(step.begin(std::span(&token, 1), 3, Company::None).size(), std::size_t(4));
        step.computed();
        QVERIFY(step.has_row_of(7));
        QCOMPARE(step.counts().drafted, 0);
        step.accept();
        QCOMPARE(step.counts().drafted, 1);
        QCOMPARE(step.counts().accepted, 1);
        step.end(std::nullopt);
        QCOMPARE(step.counts().drafted, 3);
        QCOMPARE(step.counts().accepted, 1);
        (void)step.begin(std::span(&token, 1), 3, Company::None);
        step.forget();  // it was not computed
        QCOMPARE(step.counts(DraftedBy::Repetition).drafted, 3);
    }

    void anAnswerBeginsWithWhatTheOneBeforeHasLearned()
    {
        const auto model = load(placed("llama", "cpu"));
        QVERIFY(model);
        Request request;
        request.raw_prompt = (kRepeats + kRepeats).toStdString();
        request.sampling.temperature = 0;
        request.max_tokens = 100;
        request.most_drafted = 8;
        DraftRecords records;
        QVERIFY(say(*model, request, -1, &records).drafted > 0);
        const DraftRecord& of_repetition = records[std::size_t(DraftedBy::Repetition)];
        QVERIFY(of_repetition.row_share);
        QVERIFY(of_repetition.acceptance != DraftRecord().acceptance);
        records[std::size_t(DraftedBy::Repetition)].pause = records[std::size_t(DraftedBy::Repetition)].left = 1000;
        QCOMPARE(say(*model, request, -1, &records).drafted, 0);
        QCOMPARE(of_repetition.left, 1000 - 99);  // the first token is the prompt's
    }

    /// Some drafts have to stand and some to fall, else the comparisons above say nothing.
    void draftsStoodAndFell()
    {
        if (!compared_)
            QSKIP("called alone: it counts what the comparisons before it have drafted");
        qInfo("%d drafted, %d accepted, %d wrong", drafted_, accepted_, wrong_);
        QVERIFY(accepted_ > 100);
        QVERIFY(wrong_ > 100);
    }

private:
    bool compared_ = false;
    int drafted_ = 0, accepted_ = 0, wrong_ = 0;
    Said whole_;
};

SPILLWAY_TEST(QCoreApplication, TestDraftedTurns)
#include "tst_drafted_turns.moc"
