// Tests the guide model: it is asked all its questions, and its answers are judged. SPILLWAY_GUIDE names another file
// to judge; SPILLWAY_GUIDE_PRINT=1 prints every answer, so that one can read them.
#include "tests/guide/judge.h"

#include <QtTest>

#include <QTextStream>

#include <algorithm>
#include <map>
#include <span>

using namespace guide;

namespace {

constexpr int kAnswerTokens = 160;
constexpr int kEarlierTokens = 3000;
constexpr std::size_t kAtOnce = 8;  // answers that are made together, which have the bits that each has alone
// The model that is kept reaches 91.4, 62.3 and 59.0 of the held-out questions, of which 95 are the aim (its card says
// why), and 44.6 and 48.6 of the newer ones. It must not get worse; kernels of other processors round otherwise, which
// may cost an answer or two.
constexpr int kFloor_percent = 90;
constexpr int kHeldOutFloorEnglish_percent = 61, kHeldOutFloorGerman_percent = 57;
constexpr int kNewerFloorEnglish_percent = 41, kNewerFloorGerman_percent = 42;

/// Counts how many questions of one kind were asked and answered rightly, in all and by topic.
class Figures
{
public:
    explicit Figures(QString name)
        : name_(std::move(name))
    {
    }

    void add(const Question& question, const QString& answer, bool ended)
    {
        const bool right = is_right(question, answer);
        for (Count* count : {&all_, &topics_[question.topic]}) {
            ++count->asked;
            count->right += right;
        }
        unended_ += !ended;
        if (!right || qEnvironmentVariableIntValue("SPILLWAY_GUIDE_PRINT") != 0)
            out_ << (right ? "right  " : "WRONG  ") << question.id << "  " << question.text << "\n       "
                 << plain(answer) << (ended ? "\n" : " [cut]\n") << Qt::flush;
    }

    void print()
    {
        out_ << '\n' << name_ << '\n';
        for (const auto& [topic, count] : topics_)
            out_ << "  " << topic.leftJustified(16) << line(count) << '\n';
        out_ << "  " << QStringLiteral("all").leftJustified(16) << line(all_) << ", " << unended_ << " cut at "
             << kAnswerTokens << " tokens\n\n"
             << Qt::flush;
    }

    bool at_least(int percent) const { return all_.asked > 0 && all_.right * 100 >= all_.asked * percent; }
    QString summary() const { return name_ + ": " + line(all_); }

private:
    struct Count {
        int asked = 0;
        int right = 0;
    };

    static QString line(const Count& count)
    {
        return QStringLiteral("%1 of %2 right, %3 %")
            .arg(count.right)
            .arg(count.asked)
            .arg(100.0 * count.right / std::max(1, count.asked), 0, 'f', 1);
    }

    QString name_;
    Count all_;
    std::map<QString, Count> topics_;
    int unended_ = 0;
    QTextStream out_{stdout};
};

}  // namespace

class TestGuide : public QObject
{
    Q_OBJECT

private:
    using Messages = std::vector<engine::Message>;

    std::unique_ptr<engine::Engine> engine_ = engine::make_engine();
    const std::vector<Question> questions_ = read_questions();
    const std::vector<Question> held_out_ = read_questions(kHeldOut);
    const std::vector<Question> newer_ = read_questions(kNewer);

    static engine::Request request_of(Messages messages, int most)
    {
        engine::Request request;
        request.messages = std::move(messages);
        request.sampling.temperature = 0;
        request.max_tokens = most;
        return request;
    }

    struct Asked {
        const Question* question;
        Figures* figures;
    };

    /// Asks each question in a conversation of its own, which begins with `earlier` as `trunk` does (0: with nothing)
    /// and ends with the question.
    void ask(std::span<const Asked> all, engine::SequenceId trunk = 0, const Messages& earlier = {})
    {
        for (; !all.empty(); all = all.subspan(std::min(kAtOnce, all.size())))
            ask_together(all.first(std::min(kAtOnce, all.size())), trunk, earlier);
    }

    void ask_together(std::span<const Asked> all, engine::SequenceId trunk, const Messages& earlier)
    {
        std::vector<engine::SequenceId> sequences;
        std::vector<engine::Result<engine::TurnId>> turns;
        for (const Asked& one : all) {
            Messages messages = earlier;
            messages.insert(messages.end(), one.question->history.begin(), one.question->history.end());
            messages.push_back({"user", one.question->text.toStdString()});
            sequences.push_back(trunk != 0 ? *engine_->branch(trunk, -1) : *engine_->create_sequence());
            turns.push_back(engine_->begin(sequences.back(), request_of(std::move(messages), kAnswerTokens), {}, {}));
        }
        const auto begun = std::size_t(std::ranges::count_if(turns, [](const auto& turn) { return bool(turn); }));
        while (engine_->step({}).size() < begun) {
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto turn =
                turns[i] ? engine_->end(*turns[i]) : engine::Result<engine::Turn>(tl::unexpected(turns[i].error()));
            engine_->end_sequence(sequences[i]);
            all[i].figures->add(*all[i].question,
                                QString::fromStdString(turn ? turn->text : "(failed) " + turn.error().what),
                                turn && turn->reason == engine::StopReason::EndOfTurn);
        }
    }

    /// Judges the questions of one language.
    void judge(const std::vector<Question>& questions, const QString& language, int floor_percent, QString name)
    {
        Figures figures(std::move(name));
        std::vector<Asked> all;
        for (const Question& question : questions)
            if (question.language == language)
                all.push_back({&question, &figures});
        ask(all);
        figures.print();
        QVERIFY2(figures.at_least(floor_percent), qPrintable(figures.summary()));
    }

private Q_SLOTS:
    void initTestCase()
    {
        const QString file =
            qEnvironmentVariable("SPILLWAY_GUIDE", SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf");
        engine::LoadRequest request;
        request.model = file.toStdString();
        request.threads = 1;  // so small a model gains little from more, and waits for them on a busy machine
        const auto info = engine_->load(request, {}, {});
        QVERIFY2(info, info ? "" : info.error().what.c_str());
    }

    void answersFreshQuestions()
    {
        Figures own("Spillway and local inference");
        Figures other("other things");
        std::vector<Asked> all;
        for (const Question& question : questions_)
            all.push_back({&question, question.is_other() ? &other : &own});
        ask(all);
        own.print();
        other.print();
        QVERIFY2(own.at_least(kFloor_percent), qPrintable(own.summary()));
        QVERIFY2(other.at_least(90), qPrintable(other.summary()));
    }

    void answersTheHeldOutQuestions_data()
    {
        QTest::addColumn<QString>("language");
        QTest::addColumn<int>("floor_percent");
        QTest::newRow("English") << "en" << kHeldOutFloorEnglish_percent;
        QTest::newRow("German") << "de" << kHeldOutFloorGerman_percent;
        QTest::newRow("French is recognised") << "fr" << 80;
        QTest::newRow("Spanish is recognised") << "es" << 80;
    }

    void answersTheHeldOutQuestions()
    {
        QFETCH(const QString, language);
        QFETCH(const int, floor_percent);
        judge(held_out_, language, floor_percent, "held out: " + language);
    }

    void answersWhatIsNewer_data()
    {
        QTest::addColumn<QString>("language");
        QTest::addColumn<int>("floor_percent");
        QTest::newRow("English") << "en" << kNewerFloorEnglish_percent;
        QTest::newRow("German") << "de" << kNewerFloorGerman_percent;
    }

    void answersWhatIsNewer()
    {
        QFETCH(const QString, language);
        QFETCH(const int, floor_percent);
        judge(newer_, language, floor_percent, "newer: " + language);
    }

    void answersAfterALongConversation()
    {
        // As many whole exchanges as make the depth; each step computes only what it adds.
        const Messages conversation = messages_of(read_json("earlier_conversation.json").array());
        const engine::SequenceId trunk = *engine_->create_sequence();
        Messages earlier;
        int depth = 0;
        while (depth < kEarlierTokens) {
            QVERIFY2(earlier.size() + 2 <= conversation.size(), "the earlier conversation is too short");
            const auto next = conversation.begin() + std::ptrdiff_t(earlier.size());
            earlier.insert(earlier.end(), next, next + 2);
            const auto turn = engine_->generate(trunk, request_of(earlier, 0), {}, {});
            QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
            depth = turn->prompt.count();
        }

        Figures figures(QStringLiteral("after %1 tokens of another conversation").arg(depth));
        std::vector<Asked> all;
        for (const Question& question : questions_)
            if (question.depth)
                all.push_back({&question, &figures});
        ask(all, trunk, earlier);
        figures.print();
        QVERIFY2(figures.at_least(70), qPrintable(figures.summary()));
    }
};

QTEST_GUILESS_MAIN(TestGuide)
#include "tst_guide.moc"
