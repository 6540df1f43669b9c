// Tests that a turn's token times become its rates and percentiles.
#include "engine/metrics/rates.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QTest>

#include <algorithm>

using engine::TurnRates;
using namespace std::chrono_literals;

class TestRates : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingIsKnownBeforeTheFirstToken()
    {
        const TurnRates rates;
        QVERIFY(!rates.token_times());
        QVERIFY(!rates.decode_tokens_per_s());
        QVERIFY(!rates.prefill_tokens_per_s());
    }

    void oneToken()
    {
        TurnRates rates;
        rates.add_token(20ms);
        QCOMPARE(rates.token_times()->mean_ms, 20.0);
        QCOMPARE(rates.token_times()->p50_ms, 20.0);
        QCOMPARE(rates.token_times()->p99_ms, 20.0);
        QCOMPARE(*rates.decode_tokens_per_s(), 50.0);
    }

    void percentilesByNearestRank()
    {
        TurnRates rates;
        for (int ms = 200; ms >= 1; --ms)
            rates.add_token(std::chrono::milliseconds(ms));
        QCOMPARE(rates.token_times()->mean_ms, 100.5);
        QCOMPARE(rates.token_times()->p50_ms, 100.0);
        QCOMPARE(rates.token_times()->p99_ms, 198.0);
        QCOMPARE(rates.tokens(), 200);
        QCOMPARE(rates.token_times()->p50_ms, 100.0);  // asking twice changes nothing
        rates.add_token(1000ms);
        QCOMPARE(rates.token_times()->p99_ms, 199.0);
    }

    void percentilesOfRandomTimesAgreeWithSorting()
    {
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        for (const int count : {2, 3, 99, 100, 101, 1000}) {
            TurnRates rates;
            std::vector<double> times;
            for (int i = 0; i < count; ++i) {
                times.push_back(random.bounded(1, 100000));
                rates.add_token(std::chrono::milliseconds(int(times.back())));
            }
            std::sort(times.begin(), times.end());
            const auto by_rank = [&](int percent) { return times[std::size_t((count * percent + 99) / 100 - 1)]; };
            QCOMPARE(rates.token_times()->p50_ms, by_rank(50));
            QCOMPARE(rates.token_times()->p99_ms, by_rank(99));
        }
    }

    void theWindowKeepsTheNewest()
    {
        TurnRates rates(4);
        for (const int ms : {1000, 1000, 10, 20, 30, 40})
            rates.add_token(std::chrono::milliseconds(ms));
        QCOMPARE(rates.token_times()->mean_ms, 350.0);  // of all
        QCOMPARE(rates.token_times()->p50_ms, 20.0);
        QCOMPARE(rates.token_times()->p99_ms, 40.0);
        QCOMPARE(*rates.decode_tokens_per_s(), 1000.0 / 350.0);
    }

    void prefillInChunks()
    {
        TurnRates rates;
        rates.add_prefill(512, 1s);
        rates.add_prefill(88, 500ms);
        QCOMPARE(*rates.prefill_tokens_per_s(), 400.0);
        QVERIFY(!rates.decode_tokens_per_s());
    }

    void startForgetsTheTurnBefore()
    {
        TurnRates rates(4);
        rates.add_prefill(10, 1s);
        for (int i = 0; i < 10; ++i)
            rates.add_token(1s);
        rates.start();
        QVERIFY(!rates.token_times());
        QVERIFY(!rates.prefill_tokens_per_s());
        rates.add_token(5ms);
        QCOMPARE(rates.token_times()->p99_ms, 5.0);
    }

    void timesThatMakeNoSense()
    {
        TurnRates rates;
        rates.add_token(-5ms);  // a clock that went backwards
        QCOMPARE(rates.token_times()->mean_ms, 0.0);
        QVERIFY(!rates.decode_tokens_per_s());  // no infinity
    }
};

SPILLWAY_TEST(QCoreApplication, TestRates)
#include "tst_rates.moc"
