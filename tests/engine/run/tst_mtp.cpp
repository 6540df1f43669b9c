// Tests that the block of a model's file which guesses the token after the next one computes what the reference does,
// follows a conversation wherever it goes, and changes no answer.
#include "engine/shape_model.h"
#include "tests/engine/run/one_turn.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace test_support;

namespace {

const char* const kWithBlock[] = {"qwen35-mtp", "glm4moe-mtp", "deepseek2-mtp"};

/// A model, and the block of its file.
struct WithBlock {
    explicit WithBlock(const LoadRequest& request)
        : model(load(request))
    {
        auto made = MtpModel::make(*model);
        if (!made)
            qFatal("%s", made.error().what.c_str());
        mtp = std::move(*made);
    }
    std::unique_ptr<LoadedModel> model;
    std::unique_ptr<MtpModel> mtp;
};

LoadRequest lying(const QString& name, const QString& where)
{
    return where == "cpu" ? request_for(name) : emulated(name, 100, KvPolicy::Merge);
}

struct Golden {
    explicit Golden(const QString& name)
    {
        QFile text(own_models_folder() + '/' + name + ".mtp.json");
        if (!text.open(QIODevice::ReadOnly))
            qFatal("no results of %s", qPrintable(name));
        const QJsonObject json = QJsonDocument::fromJson(text.readAll()).object();
        for (const auto& id : json["tokens"].toArray())
            tokens.push_back(id.toInt());
        for (const auto& id : json["guesses"].toArray())
            guesses.push_back(id.toInt());
        tolerance = json["tolerance"].toDouble();
        QFile rows(own_models_folder() + '/' + json["logits"].toString());
        if (!rows.open(QIODevice::ReadOnly))
            qFatal("no logits of %s", qPrintable(name));
        const QByteArray bytes = rows.readAll();
        logits.resize(std::size_t(bytes.size()) / sizeof(float));
        std::copy_n(bytes.constData(), bytes.size(), reinterpret_cast<char*>(logits.data()));
    }
    double error(std::span<const float> actual, std::size_t row) const
    {
        double wrong = 0, size = 0;
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const double expected = logits[row * actual.size() + i];
            wrong += (actual[i] - expected) * (actual[i] - expected);
            size += expected * expected;
        }
        return std::sqrt(wrong / size);
    }
    std::vector<int> tokens, guesses;
    std::vector<float> logits;
    double tolerance = 0;
};

/// The model computes tokens [first, last), `chunk` at a time, and the block hears of it.
bool compute(WithBlock& with, KvSequence& kv, MtpSequence& sequence, std::span<const int> tokens, int last, int chunk)
{
    while (kv.length() < last) {
        const int first = kv.length(), count = std::min({chunk, with.model->max_rows(), last - first});
        if (!with.model->append(kv, tokens.subspan(std::size_t(first), std::size_t(count))))
            return false;
        with.mtp->note(sequence, kv, {first, count}, tokens, {});
    }
    return true;
}

std::vector<float> copied(std::span<const float> values)
{
    return {values.begin(), values.end()};
}

}  // namespace

class TestMtp : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void itsLogitsAreThoseOfTheReference_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("where");
        QTest::addColumn<int>("chunk");
        for (const char* const name : kWithBlock)
            for (const char* const where : {"cpu", "emulated"})
                for (const int chunk : {1, 5, 100})
                    QTest::addRow("%s, %s, %d", name, where, chunk) << name << where << chunk;
    }

    void itsLogitsAreThoseOfTheReference()
    {
        QFETCH(const QString, name);
        QFETCH(const QString, where);
        QFETCH(const int, chunk);
        const Golden golden(name);
        WithBlock with(lying(name, where));
        QVERIFY(with.mtp);
        KvSequence kv;
        MtpSequence sequence(*with.mtp);
        const int count = int(golden.tokens.size());
        QVERIFY(compute(with, kv, sequence, golden.tokens, count - 1, chunk));
        const auto missing = with.mtp->read(sequence, golden.tokens, {});
        QVERIFY(missing && *missing > 0);
        for (std::size_t row = 0; row <= golden.guesses.size(); ++row) {
            const double error = golden.error(with.mtp->logits(), row);
            QVERIFY2(error <= golden.tolerance, qPrintable(QString("row %1: %2").arg(row).arg(error)));
            if (row < golden.guesses.size())
                QVERIFY(with.mtp->read_guess(sequence, golden.guesses[row], {}));
        }
        with.mtp->forget_guesses(sequence, count);
        QCOMPARE(with.mtp->read(sequence, golden.tokens, {}).value(), 0);  // nothing is missing, and nothing was noted
    }

    /// However it came to where it is, its next guess is that of a conversation read from its beginning.
    void itFollowsTheConversation()
    {
        WithBlock with(lying("qwen35-mtp", "cpu"));
        std::vector<int> tokens = some_tokens(*with.model);
        const auto guess_after = [&](MtpSequence& sequence, int count) {
            const auto read = with.mtp->read(sequence, std::span(tokens).first(std::size_t(count)), {});
            return read && *read > 0 ? copied(with.mtp->logits()) : std::vector<float>();
        };
        const auto fresh = [&](int count) {
            KvSequence kv;
            MtpSequence sequence(*with.mtp);
            const bool done = compute(with, kv, sequence, tokens, count - 1, 100);
            with.model->cache().truncate(kv, 0);
            return done ? guess_after(sequence, count) : std::vector<float>();
        };
        KvSequence kv;
        MtpSequence sequence(*with.mtp);
        QVERIFY(compute(with, kv, sequence, tokens, 150, 100));  // more than waits
        QVERIFY(guess_after(sequence, 151) == fresh(151));
        QVERIFY(compute(with, kv, sequence, tokens, 153, 1));
        QVERIFY(guess_after(sequence, 154) == fresh(154));

        // It branches; the first goes on as if nothing had happened.
        const auto branch = sequence.branch(120);
        QCOMPARE(with.mtp->telemetry().kv_bytes > 0, true);
        QVERIFY(guess_after(*branch, 121).empty());  // what the model made of token 119 is not known here
        QVERIFY(compute(with, kv, sequence, tokens, 160, 3));
        QVERIFY(guess_after(sequence, 161) == fresh(161));

        // The model computes something that nobody tells of: what it knows begins anew behind that.
        QVERIFY(with.model->append(kv, std::span(tokens).subspan(160, 10)));
        QVERIFY(guess_after(sequence, 171).empty());
        QVERIFY(compute(with, kv, sequence, tokens, 180, 4));
        QVERIFY(guess_after(sequence, 181) != fresh(181));
        QVERIFY(guess_after(sequence, 181).empty());

        // It goes back to where it is told again.
        MtpSequence again(*with.mtp);
        with.model->cache().truncate(kv, 0);
        QVERIFY(compute(with, kv, again, tokens, 40, 7));
        QVERIFY(!guess_after(again, 41).empty());
        with.model->cache().truncate(kv, 0);
        QVERIFY(compute(with, kv, again, tokens, 60, 9));
        QVERIFY(guess_after(again, 61) == fresh(61));
    }

    /// It has a share of the model's memory; where that is full, the conversation that used it longest ago gives it up.
    void itsMemoryIsBounded()
    {
        WithBlock with(lying("qwen35-mtp", "cpu"));
        KvCache& cache = with.mtp->cache();
        const KvMemoryLimit share = cache.memory_limit(), of_model = with.model->cache().memory_limit();
        QVERIFY(share.pages >= 512 / kBlockTokens);  // a whole context is promised
        if (of_model.bytes != KvMemoryLimit().bytes)
            QVERIFY(share.bytes < of_model.bytes);
        const auto most = std::int64_t(12 * cache.page_bytes());
        cache.limit_memory({.bytes = most});
        const std::vector<int> tokens = some_tokens(*with.model);
        const auto guesses = [&](MtpSequence& sequence) {
            return with.mtp->read(sequence, std::span(tokens).first(151), {}).value_or(0) > 0;
        };
        KvSequence of_first, of_second;
        MtpSequence first(*with.mtp), second(*with.mtp);
        QVERIFY(compute(with, of_first, first, tokens, 150, 100) && guesses(first));
        QVERIFY(compute(with, of_second, second, tokens, 150, 100) && guesses(second));
        QVERIFY(cache.allocated_bytes() <= most);
        QVERIFY(!guesses(first));
        QVERIFY(compute(with, of_first, first, tokens, 160, 5));  // it begins anew
        QVERIFY(with.mtp->read(first, std::span(tokens).first(161), {}).value_or(0) > 0);
    }

    void theAnswerIsThatWithout_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("where");
        for (const char* const name : kWithBlock)
            for (const char* const where : {"cpu", "emulated"})
                QTest::addRow("%s, %s", name, where) << name << where;
    }

    /// Answers end by themselves, at random bounds, and stopped at random pieces; the block guesses alone, and beside
    /// what repeats.
    void theAnswerIsThatWithout()
    {
        QFETCH(const QString, name);
        QFETCH(const QString, where);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        WithBlock with(lying(name, where));
        int drafted = 0, accepted = 0;
        for (const float temperature : {0.0f, 0.3f, 1.0f})
            for (int i = 0; i < 4; ++i) {
                Request request;
                request.raw_prompt = "the cat sat on the mat and the dog sat on the cat";
                request.sampling.temperature = temperature;
                request.max_tokens = i == 0 ? 60 : int(random() % 60);
                Request drafting = request;
                drafting.most_drafted = 1 + int(random() % 6);
                drafting.drafters = i % 2 == 0 ? Drafters::Mtp : Drafters::All;
                drafting.draft_depth = i == 3 ? DraftDepth::Adaptive : DraftDepth::Fixed;
                const int stop_at = i == 2 ? 1 + int(random() % 20) : -1;
                Conversation without, beside;
                const Turn alone = one_turn(*with.model, nullptr, without, request, stop_at);
                const Turn guessed = one_turn(*with.model, nullptr, beside, drafting, stop_at, with.mtp.get());
                QCOMPARE(guessed.text, alone.text);
                QCOMPARE(guessed.reason, alone.reason);
                QCOMPARE(beside.kv.ids, without.kv.ids);
                drafted += guessed.telemetry.drafted_tokens;
                accepted += guessed.telemetry.accepted_tokens;
                QVERIFY(!with.mtp->take_complaint());

                // The conversation goes on.
                request.raw_prompt += guessed.text + " and then the dog";
                drafting.raw_prompt = request.raw_prompt;
                QCOMPARE(one_turn(*with.model, nullptr, beside, drafting, -1, with.mtp.get()).text,
                         one_turn(*with.model, nullptr, without, request, -1).text);
                for (Conversation* const conversation : {&without, &beside})
                    with.model->cache().truncate(conversation->kv, 0);
            }
        qInfo("%d of %d guesses stood", accepted, drafted);
        QVERIFY(drafted > 100);
        QCOMPARE(with.model->cache().used_pages(), 0);
        QCOMPARE(with.mtp->telemetry().kv_bytes, std::int64_t(0));
    }

    void everyQuantisationGuesses_data()
    {
        QTest::addColumn<QString>("name");
        for (const std::string& quantisation : shape_quantisations())
            QTest::addRow("%s", quantisation.c_str()) << QString("tiny-qwen35-mtp:%1").arg(quantisation.c_str());
    }

    void everyQuantisationGuesses()
    {
        QFETCH(const QString, name);
        const QTemporaryDir folder;
        const auto made = ShapeModel::make(name.toStdString(), folder.path().toStdString());
        QVERIFY2(made, made ? "" : made.error().what.c_str());
        LoadRequest request;
        request.model = made->path();
        request.context_tokens = 256;
        WithBlock with(request);
        QVERIFY(with.mtp);
        std::vector<int> tokens;
        for (int i = 0; i < 40; ++i)
            tokens.push_back(3 + i * 7 % 200);
        KvSequence kv;
        MtpSequence sequence(*with.mtp);
        QVERIFY(compute(with, kv, sequence, tokens, 39, 16));
        QVERIFY(with.mtp->read(sequence, tokens, {}).value() > 0);
        const std::span<const float> logits = with.mtp->logits();
        QVERIFY(std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }));
        QVERIFY(std::ranges::max(logits) > std::ranges::min(logits));
    }

    void withoutSuchABlockThereIsNone()
    {
        const auto plain = load(request_for("qwen35"));
        const auto none = MtpModel::make(*plain);
        QVERIFY(none && !*none);
        const auto incomplete = load(request_for("glm4moe"));  // its block has no tensors of its own
        const auto refused = MtpModel::make(*incomplete);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::BadFile);
        QVERIFY(refused.error().what.find("nextn") != std::string::npos);
    }
};

SPILLWAY_TEST(QCoreApplication, TestMtp)
#include "tst_mtp.moc"
