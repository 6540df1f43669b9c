// Tests that tokens are drafted from a text that repeats itself as a search of the whole text would find them.
#include "engine/run/ngram_index.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QtTest>

#include <algorithm>
#include <random>
#include <vector>

using engine::NgramIndex;

namespace {

/// Returns how many tokens before a place equal those at the end, up to as many as count.
int length_at(const std::vector<int>& tokens, std::size_t place)
{
    int length = 0;
    while (length < NgramIndex::kLongestMatch && std::size_t(length) < place &&
           tokens[place - 1 - std::size_t(length)] == tokens[tokens.size() - 1 - std::size_t(length)])
        ++length;
    return length;
}

}  // namespace

class TestNgramIndex : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingFollowsWhatIsNew()
    {
        NgramIndex index(100);
        const std::vector<int> tokens{1, 2, 3, 4, 5, 2, 3};
        QVERIFY(index.next(std::span(tokens).first(0), 5).empty());
        QVERIFY(index.next(std::span(tokens).first(2), 5).empty());
        QVERIFY(index.next(tokens, 5).empty());  // two of the same are too few
    }

    void whatFollowedFollowsAgain()
    {
        NgramIndex index(100);
        const std::vector<int> tokens{1, 2, 3, 4, 5, 6, 1, 2, 3};
        const auto next = index.next(tokens, 2);
        QCOMPARE(std::vector(next.begin(), next.end()), (std::vector{4, 5}));
        QVERIFY(index.next(tokens, 0).empty());
        QCOMPARE(index.next(tokens, 100).size(), std::size_t(6));  // to the end
    }

    void theLongerRepetitionIsBelieved()
    {
        NgramIndex index(100);
        const std::vector<int> tokens{9, 1, 2, 3, 7, 8, 1, 2, 3, 5, 9, 1, 2, 3};
        QCOMPARE(index.next(tokens, 1).front(), 7);
        const std::vector<int> equal{1, 2, 3, 7, 1, 2, 3, 5, 1, 2, 3};
        NgramIndex other(100);
        QCOMPARE(other.next(equal, 1).front(), 5);  // among equals the newer one
    }

    void aShortPeriodGivesLongDrafts()
    {
        NgramIndex index(100);
        std::vector<int> tokens;
        for (int i = 0; i < 40; ++i)
            tokens.push_back(i % 2);
        const auto next = index.next(tokens, 10);
        QCOMPARE(next.size(), std::size_t(10));
        for (std::size_t i = 0; i < next.size(); ++i)
            QCOMPARE(next[i], int(i % 2));
    }

    /// Also when the text grows in pieces, and beyond what is known.
    void itFindsWhatASearchFinds()
    {
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        for (int round = 0; round < 50; ++round) {
            NgramIndex index(300);
            std::vector<int> tokens;
            const unsigned ids = 3 + random() % 6;
            while (tokens.size() < 290) {
                for (std::size_t i = 1 + random() % 20; i > 0; --i)
                    tokens.push_back(int(random() % ids));
                const auto next = index.next(tokens, 4);
                int longest = 0, places = 0;
                for (std::size_t place = 1; place < std::min<std::size_t>(tokens.size(), 300); ++place) {
                    longest = std::max(longest, length_at(tokens, place));
                    places += length_at(tokens, place) >= NgramIndex::kNgram;
                }
                QCOMPARE(next.empty(), places == 0);
                if (next.empty())
                    continue;
                const auto place = std::size_t(next.data() - tokens.data());
                QVERIFY(length_at(tokens, place) >= NgramIndex::kNgram);
                QVERIFY(place + next.size() <= tokens.size());
                if (places <= NgramIndex::kMostPlaces / 4)  // others of the same hash count among those looked at
                    QCOMPARE(length_at(tokens, place), longest);
            }
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestNgramIndex)
#include "tst_ngram_index.moc"
