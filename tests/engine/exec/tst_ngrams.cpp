// Tests that n-grams choose the same rows of their table in whichever pieces the tokens come, and look back no further
// than the text's beginning.
#include "engine/exec/ngrams.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace engine;

namespace {

NgramParameters two_lengths()
{
    NgramParameters p;
    p.longest = 3;
    p.heads = 2;
    p.row_length = 8;
    p.taps = 4;
    p.multipliers = {0xfedcba9876543211u, 19876543210987u, 17171717171717u};
    p.offsets = {0, 100, 300, 1000};
    p.sizes = {97, 199, 691, 7};
    p.ends = {2, 9};
    return p;
}

/// Returns the rows of a token that follows two others.
std::vector<int> expected_rows(const NgramParameters& p, std::uint64_t id, std::uint64_t last,
                               std::uint64_t second_last)
{
    const std::uint64_t two = id * p.multipliers[0] ^ last * p.multipliers[1];
    const std::uint64_t three = two ^ second_last * p.multipliers[2];
    return {int(two % 97), 100 + int(two % 199), 300 + int(three % 691), 1000 + int(three % 7)};
}

}  // namespace

class TestNgrams : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatComesBeforeCounts()
    {
        const NgramParameters p = two_lengths();
        Ngrams ngrams(p, 8);
        const std::vector<int> before = {4, 5}, tokens = {6, 7};
        const auto rows = ngrams.rows_of(before, tokens);
        std::vector<int> expected = expected_rows(p, 6, 5, 4);
        const auto second = expected_rows(p, 7, 6, 5);
        expected.insert(expected.end(), second.begin(), second.end());
        QVERIFY(std::ranges::equal(rows, expected));
    }

    // What is at or before an end, and before the first token, counts as the first of the ends.
    void nothingReachesAcrossAnEnd()
    {
        const NgramParameters p = two_lengths();
        Ngrams ngrams(p, 8);
        const auto rows_of = [&](std::vector<int> tokens) {
            const auto rows = ngrams.rows_of(std::span(tokens).first(tokens.size() - 1), std::span(tokens).last(1));
            return std::vector<int>(rows.begin(), rows.end());
        };
        QCOMPARE(rows_of({6}), expected_rows(p, 6, 2, 2));
        QCOMPARE(rows_of({5, 6}), expected_rows(p, 6, 5, 2));
        QCOMPARE(rows_of({4, 5, 2, 6}), expected_rows(p, 6, 2, 2));
        QCOMPARE(rows_of({4, 9, 6}), expected_rows(p, 6, 2, 2));
        QCOMPARE(rows_of({9, 5, 6}), expected_rows(p, 6, 5, 2));
        QCOMPARE(rows_of({4, 5, 9}), expected_rows(p, 2, 2, 2));
    }

    void itDoesNotMatterHowTokensCome()
    {
        const NgramParameters p = two_lengths();
        const std::vector<int> tokens = {1, 5, 2, 7, 7, 9, 3, 4, 5, 6};
        const auto in_chunks_of = [&](std::size_t most) {
            Ngrams ngrams(p, int(tokens.size()));
            std::vector<int> all;
            for (std::size_t done = 0; done < tokens.size(); done += most) {
                const auto chunk = std::span(tokens).subspan(done, std::min(most, tokens.size() - done));
                const auto rows = ngrams.rows_of(std::span(tokens).first(done), chunk);
                all.insert(all.end(), rows.begin(), rows.end());
            }
            return all;
        };
        const auto at_once = in_chunks_of(tokens.size());
        QCOMPARE(at_once.size(), 4 * tokens.size());
        for (const std::size_t most : {1, 2, 3, 7})
            QCOMPARE(in_chunks_of(most), at_once);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestNgrams)
#include "tst_ngrams.moc"
