// Tests the judge of the guide model's answers, for which no model is needed.
#include "tests/guide/judge.h"

#include <QtTest>

#include <set>

using namespace guide;

class TestQuestions : public QObject
{
    Q_OBJECT

private:
    const std::vector<Question> questions_ = read_questions();
    const std::vector<Question> held_out_ = read_questions(kHeldOut);
    const std::vector<Question> newer_ = read_questions(kNewer);
    const std::vector<Sample> samples_ = read_samples();
    const std::vector<Sample> newer_samples_ = read_samples("newer_samples.json");

    const Question* find(const QString& id) const { return find(questions_, id); }

    static const Question* find(const std::vector<Question>& questions, const QString& id)
    {
        const auto found =
            std::find_if(questions.begin(), questions.end(), [&](const Question& q) { return q.id == id; });
        return found == questions.end() ? nullptr : &*found;
    }

    static void checkQuestions(const std::vector<Question>& questions)
    {
        std::set<QString> ids;
        for (const Question& question : questions) {
            QVERIFY2(ids.insert(question.id).second, qPrintable(question.id));
            QVERIFY2(!question.text.isEmpty() && !question.right.empty(), qPrintable(question.id));
            for (const Expressions* expressions : {&question.right, &question.wrong})
                for (const QRegularExpression& expression : *expressions)
                    QVERIFY2(expression.isValid(), qPrintable(question.id + ": " + expression.errorString()));
            checkTurns(question.history, question.id);
        }
    }

    static void checkSamples(const std::vector<Question>& questions, const std::vector<Sample>& samples)
    {
        std::set<QString> tried;
        for (const Sample& sample : samples) {
            const Question* question = find(questions, sample.id);
            QVERIFY2(question, qPrintable(sample.id));
            QVERIFY2(is_right(*question, sample.right), qPrintable(sample.id + ": " + sample.right));
            if (!sample.wrong.isEmpty())
                QVERIFY2(!is_right(*question, sample.wrong), qPrintable(sample.id + ": " + sample.wrong));
            tried.insert(sample.id);
        }
        for (const Question& question : questions)
            QVERIFY2(question.is_other() || tried.contains(question.id), qPrintable(question.id));
    }

    static void checkTurns(const std::vector<engine::Message>& messages, const QString& where)
    {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            QVERIFY2(messages[i].role == (i % 2 == 0 ? "user" : "assistant"), qPrintable(where));
            QVERIFY2(!messages[i].text.empty(), qPrintable(where));
        }
        QVERIFY2(messages.size() % 2 == 0, qPrintable(where));
    }

private Q_SLOTS:
    void thereAreEnough()
    {
        const auto count = [&](auto which) { return std::count_if(questions_.begin(), questions_.end(), which); };
        QVERIFY(count([](const Question& q) { return !q.is_other(); }) >= 240);
        QVERIFY(count([](const Question& q) { return q.is_other(); }) >= 60);
        QVERIFY(count([](const Question& q) { return q.depth; }) >= 50);
        QVERIFY(count([](const Question& q) { return q.depth && q.is_other(); }) == 0);
        QVERIFY(count([](const Question& q) { return !q.history.empty(); }) >= 5);
    }

    void everyQuestionIsWhole()
    {
        checkQuestions(questions_);
        checkQuestions(held_out_);
        checkQuestions(newer_);
    }

    void thereAreEnoughHeldOutQuestions()
    {
        const auto count = [&](const char* language) {
            return std::count_if(held_out_.begin(), held_out_.end(),
                                 [&](const Question& q) { return q.language == QLatin1String(language); });
        };
        QCOMPARE(count("en"), 300);
        QCOMPARE(count("de"), 300);
        QCOMPARE(count("fr"), 10);
        QCOMPARE(count("es"), 10);
    }

    void theEarlierConversationIsLongEnough()
    {
        const auto earlier = messages_of(read_json("earlier_conversation.json").array());
        checkTurns(earlier, "earlier_conversation.json");
        qsizetype words = 0;
        for (const engine::Message& message : earlier)
            words += QString::fromStdString(message.text).split(' ').size();
        QVERIFY2(words >= 2300, qPrintable(QString::number(words)));
    }

    void samplesAreToldApart()
    {
        checkSamples(questions_, samples_);
        checkSamples(held_out_, read_samples("held_out/samples.json"));
        checkSamples(newer_, newer_samples_);
    }

    void typographyDoesNotMatter()
    {
        const Question* question = find("start-06");
        QVERIFY(question);
        QVERIFY(is_right(*question, QStringLiteral("Press **Ctrl\u00a0+\u00a0O**.")));
        QVERIFY(is_right(*question, QStringLiteral("press `ctrl\u2011o`")));
        QVERIFY(!is_right(*question, QString()));
    }

    void answersToSomethingElseAreWrong_data()
    {
        QTest::addColumn<bool>("newer");
        QTest::newRow("the first set") << false;
        QTest::newRow("what is newer") << true;
    }

    // Expressions that accept anything would judge nothing. So a right answer to one question is offered to all
    // questions of other topics: now and then it does answer them too.
    void answersToSomethingElseAreWrong()
    {
        QFETCH(const bool, newer);
        const std::vector<Sample>& samples = newer ? newer_samples_ : samples_;
        int offered = 0;
        int accepted = 0;
        for (const Question& question : newer ? newer_ : questions_) {
            int offered_here = 0;
            int accepted_here = 0;
            for (const Sample& sample : samples) {
                if (sample.id.startsWith(question.topic + '-'))
                    continue;
                ++offered_here;
                accepted_here += is_right(question, sample.right);
            }
            const auto report = QStringLiteral("%1 accepts %2 of %3").arg(question.id).arg(accepted_here);
            QVERIFY2(accepted_here * 100 < offered_here * 8, qPrintable(report.arg(offered_here)));
            offered += offered_here;
            accepted += accepted_here;
        }
        QVERIFY2(accepted * 100 < offered * 2, qPrintable(QStringLiteral("%1 of %2").arg(accepted).arg(offered)));
    }

    void anIntroductionAnswersNothingElse()
    {
        const QStringList introductions = {
            "I am Spillway's small built-in guide. I only know Spillway and local inference; for other things open a "
            "bigger model with Ctrl+O, or the model page with Ctrl+L.",
            "I'm the guide built into Spillway. Ask me about the program or about local inference.",
        };
        for (const QString& introduction : introductions)
            for (const std::vector<Question>* questions : {&questions_, &newer_})
                for (const Question& question : *questions)
                    if (!question.is_other() && question.topic != "identity")
                        QVERIFY2(!is_right(question, introduction), qPrintable(question.id));
        for (const Question& question : questions_)
            if (question.is_other())
                QVERIFY2(is_right(question, introductions.front()), qPrintable(question.id));
    }
};

QTEST_GUILESS_MAIN(TestQuestions)
#include "tst_questions.moc"
