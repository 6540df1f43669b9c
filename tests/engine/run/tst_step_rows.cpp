// Tests that the rows of a step are divided among turns so that every turn gets on, and an answer beside a prompt keeps
// its pace.
#include "engine/run/step_rows.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QtTest>

#include <algorithm>
#include <numeric>
#include <random>

using namespace engine;

namespace {

RowsWanted prompt(int rows)
{
    return {false, rows};
}

RowsWanted answer(int rows = kMostRowsTogether)
{
    return {true, rows};
}

std::vector<int> divide(std::vector<RowsWanted> turns, int most = 512)
{
    return divide_rows(turns, most);
}

}  // namespace

class TestStepRows : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aTurnAloneGetsWhatItWants()
    {
        QCOMPARE(divide({prompt(2000)}), std::vector{512});
        QCOMPARE(divide({prompt(7)}), std::vector{7});
        QCOMPARE(divide({answer()}), std::vector{16});
        QCOMPARE(divide({answer(1)}), std::vector{1});
        QVERIFY(divide({}).empty());
    }

    void aPromptBesideAnAnswerGetsTheRest()
    {
        QCOMPARE(divide({answer(1), prompt(2000)}), (std::vector{1, kRowsBesideAnswers - 1}));
        QCOMPARE(divide({prompt(2000), answer()}), (std::vector{kRowsBesideAnswers - 16, 16}));
        QCOMPARE(divide({answer(), answer(), answer()}), (std::vector{6, 5, 5}));
        QCOMPARE(divide({answer(2), answer()}), (std::vector{2, 14}));
    }

    void promptsShare()
    {
        QCOMPARE(divide({prompt(2000), prompt(2000)}), (std::vector{256, 256}));
        QCOMPARE(divide({prompt(2000), prompt(12)}), (std::vector{500, 12}));
    }

    void whereThereIsNoRowForAllTheFirstGetOne()
    {
        QCOMPARE(divide({answer(), prompt(9), answer()}, 2), (std::vector{1, 1, 0}));
        QCOMPARE(divide({prompt(9), answer()}, 1), (std::vector{1, 0}));
    }

    void rulesHoldForAnyTurns()
    {
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        for (int round = 0; round < 3000; ++round) {
            std::vector<RowsWanted> turns(1 + random() % kMostRowsTogether);
            for (RowsWanted& turn : turns)
                turn = random() % 2 ? answer(1 + int(random() % kMostRowsTogether)) : prompt(1 + int(random() % 600));
            const int most = random() % 4 ? 512 : 1 + int(random() % 40);
            const std::vector<int> rows = divide_rows(turns, most);
            const auto answers = int(std::ranges::count(turns, true, &RowsWanted::answers));
            const int all = std::accumulate(rows.begin(), rows.end(), 0);
            QVERIFY(all <= (answers > 0 ? std::min(most, kRowsBesideAnswers) : most));
            int of_answers = 0, wanted = 0;
            for (std::size_t i = 0; i < turns.size(); ++i) {
                QVERIFY(rows[i] <= turns[i].most);
                QVERIFY(rows[i] > 0 || int(turns.size()) > most);
                of_answers += turns[i].answers ? rows[i] : 0;
                wanted += turns[i].most;
                // Nobody has more than another of its kind that wanted more, but for a row that could not be divided.
                for (std::size_t j = 0; j < turns.size(); ++j)
                    if (turns[i].answers == turns[j].answers && rows[j] > 0 && rows[j] < turns[j].most)
                        QVERIFY(rows[i] <= rows[j] + int(turns.size()));
            }
            QVERIFY(of_answers <= kMostRowsTogether);
            // Nothing is left over while a prompt could have it.
            const bool prompt_wants = [&] {
                for (std::size_t i = 0; i < turns.size(); ++i)
                    if (!turns[i].answers && rows[i] > 0 && rows[i] < turns[i].most)
                        return true;
                return false;
            }();
            QVERIFY(!prompt_wants || all == (answers > 0 ? std::min(most, kRowsBesideAnswers) : most));
            QVERIFY(all <= wanted);
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestStepRows)
#include "tst_step_rows.moc"
