// Tests that pages of metrics are read as vLLM, SGLang, TGI, llama-server and Spillway write them, and that other pages
// are refused.
#include "app/remote/server_numbers.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QtTest>

#include <limits>
#include <utility>
#include <vector>

using remote::read_numbers;
using remote::ServerNumbers;

namespace {

ServerNumbers numbers_of(const char* name)
{
    QFile file(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/metrics/") + name);
    return file.open(QFile::ReadOnly) ? read_numbers(file.readAll().toStdString()) : ServerNumbers();
}

}  // namespace

class TestServerNumbers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void vllm()
    {
        const ServerNumbers n = numbers_of("vllm.txt");
        QCOMPARE(n.kv_share.value_or(-1), 0.375);  // the mean of two engines
        QCOMPARE(n.running.value_or(-1), 5.0);
        QCOMPARE(n.waiting.value_or(-1), 2.0);
        QCOMPARE(n.preemptions.value_or(-1), 7.0);
        QCOMPARE(n.prefix_tokens.value_or(-1), 12345.0);
        QCOMPARE(n.prefix_hits.value_or(-1), 6000.0);
        QCOMPARE(n.offloaded_bytes.value_or(-1), 1048576.0);
        QCOMPARE(n.fetched_bytes.value_or(-1), 524288.0);
        QVERIFY(n.started_s);
        QVERIFY(!n.kv_tokens && !n.kv_bytes);
    }

    void sglang()
    {
        const ServerNumbers n = numbers_of("sglang.txt");
        QCOMPARE(n.kv_share.value_or(-1), 0.28);
        QCOMPARE(n.running.value_or(-1), 3.0);
        QCOMPARE(n.waiting.value_or(-1), 1.0);
        QCOMPARE(n.preemptions.value_or(-1), 4.0);  // not the gauge of the last batch
        QCOMPARE(n.kv_most_tokens.value_or(-1), 40960.0);
    }

    void tgi()
    {
        const ServerNumbers n = numbers_of("tgi.txt");
        QCOMPARE(n.running.value_or(-1), 2.0);
        QCOMPARE(n.waiting.value_or(-1), 0.0);
        QCOMPARE(n.kv_tokens.value_or(-1), 1500.0);
        QVERIFY(!n.kv_share && !n.preemptions);
    }

    void llama_server()
    {
        const ServerNumbers n = numbers_of("llama_server.txt");
        QCOMPARE(n.running.value_or(-1), 1.0);
        QCOMPARE(n.waiting.value_or(-1), 0.0);
        QCOMPARE(n.answer_tokens.value_or(-1), 321.0);
        QVERIFY(!n.kv_share);  // it does not say, which is not zero
        QVERIFY(!n.prefix_tokens);
    }

    void llamaServersCountTheTokensThatTheyReadAnew()
    {
        const ServerNumbers n =
            read_numbers("llamacpp:prompt_tokens_total 60\nllamacpp:prompt_tokens_cached_total 140\n");
        QCOMPARE(n.prefix_tokens.value_or(-1), 200.0);
        QCOMPARE(n.prefix_hits.value_or(-1), 140.0);
    }

    void whatIsNoNumberIsNotKnown_data()
    {
        QTest::addColumn<QByteArray>("page");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("a page for people") << QByteArray("<html>\n<body>vllm:num_requests_running 3</body>");
        QTest::newRow("no number") << QByteArray("vllm:num_requests_running many\n");
        QTest::newRow("not a number") << QByteArray("vllm:num_requests_running NaN\nvllm:num_requests_running +Inf\n");
        QTest::newRow("below nothing") << QByteArray("vllm:num_requests_running -3\n");
        QTest::newRow("a comment") << QByteArray("# vllm:num_requests_running 3\n");
        QTest::newRow("labels without end") << QByteArray("vllm:num_requests_running{a=\"b\" 3\n");
        QTest::newRow("another name") << QByteArray("vllm:num_requests_running_too 3\n");
        QTest::newRow("binary") << QByteArray(10'000, '\0');
    }
    void whatIsNoNumberIsNotKnown()
    {
        QFETCH(QByteArray, page);
        QVERIFY(!read_numbers(page.toStdString()).running);
    }

    void labelsMayHoldAnything()
    {
        QCOMPARE(read_numbers("vllm:num_requests_running{m=\"a } \\\" b\"} 3 1700000000\r\n").running.value_or(-1),
                 3.0);
        QCOMPARE(read_numbers("  vllm:num_requests_running \t +4e0").running.value_or(-1), 4.0);
        QVERIFY(!read_numbers("vllm:kv_cache_usage_perc 37\n").kv_share);  // no share is above one
    }

    void timesAreReadFromHistograms_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<bool>("first");
        QTest::newRow("vLLM, first") << QByteArray("vllm:time_to_first_token_seconds") << true;
        QTest::newRow("vLLM, gap") << QByteArray("vllm:inter_token_latency_seconds") << false;
        QTest::newRow("SGLang, first") << QByteArray("sglang:time_to_first_token_seconds") << true;
        QTest::newRow("SGLang, gap") << QByteArray("sglang:inter_token_latency_seconds") << false;
        QTest::newRow("TGI") << QByteArray("tgi_request_mean_time_per_token_duration") << false;
        QTest::newRow("ours, first") << QByteArray("spillway_time_to_first_token_seconds") << true;
        QTest::newRow("ours, gap") << QByteArray("spillway_inter_token_seconds") << false;
    }
    void timesAreReadFromHistograms()
    {
        QFETCH(QByteArray, name);
        QFETCH(bool, first);
        // Two engines; a label whose name ends alike; the sum and the count are no bounds.
        const std::string n = name.toStdString();
        const ServerNumbers numbers = read_numbers(
            n + "_bucket{engine=\"0\",le=\"0.1\"} 2\n" + n + "_bucket{engine=\"0\",le=\"+Inf\"} 4\n" + n +
            "_bucket{le=\"0.1\",engine=\"1\"} 1\n" + n + "_bucket{scale=\"9\", le=\"+Inf\"} 4\n" + n +
            "_bucket{scale=\"0.5\"} 90\n" + n + "_bucket{le=\"many\"} 7\n" + n + "_sum 12\n" + n + "_count 8\n");
        const remote::LatencyHistogram& times = first ? numbers.first_token : numbers.token_gap;
        QVERIFY((first ? numbers.token_gap : numbers.first_token).empty());
        QCOMPARE(times.count(), 8.0);
        QCOMPARE(times.quantile(3.0 / 8).value().seconds, 0.1);
    }

    void sharesOfTimes()
    {
        remote::LatencyHistogram times;
        QVERIFY(times.empty() && !times.quantile(0.5));
        const std::vector<std::pair<double, double>> counted = {
            {0.1, 0}, {0.2, 50}, {0.4, 100}, {std::numeric_limits<double>::infinity(), 100}};
        for (const auto& [bound, below] : counted)
            times.add(bound, below);
        QCOMPARE(times.quantile(0.25)->seconds, 0.15);
        QCOMPARE(times.quantile(0.5)->seconds, 0.2);
        QCOMPARE(times.quantile(0.99)->seconds, 0.396);
        QVERIFY(!times.quantile(0.99)->more);
        remote::LatencyHistogram later = times;
        later.add(std::numeric_limits<double>::infinity(), 10);  // slower than all that it counts
        QCOMPARE(later.quantile(0.99)->seconds, 0.4);
        QVERIFY(later.quantile(0.99)->more);
        const auto rise = later.since(times);
        QCOMPARE(rise->count(), 10.0);
        QVERIFY(rise->quantile(0.5)->more);
        QVERIFY(!times.since(later));  // it was started anew
        QVERIFY(!times.since(remote::LatencyHistogram()));
        QCOMPARE(times.since(times)->count(), 0.0);
        QVERIFY(!times.since(times)->quantile(0.5));
        // What is endless alone has no number.
        remote::LatencyHistogram endless;
        endless.add(std::numeric_limits<double>::infinity(), 3);
        QVERIFY(endless.quantile(0.5)->more);
    }

    void aCounterThatFallsIsARestart()
    {
        ServerNumbers before, now;
        before.preemptions = 3;
        before.answer_tokens = 100;
        now.preemptions = 4;
        QCOMPARE(remote::change_between(before, now).preemptions.value_or(-1), 1.0);
        QVERIFY(!remote::change_between(before, now).answer_tokens);  // it said nothing this time
        now.answer_tokens = 50;
        const remote::CounterChange change = remote::change_between(before, now);
        QVERIFY(change.restarted && !change.preemptions && !change.answer_tokens);
        before = now;
        before.started_s = 10;
        now.started_s = 20;
        QVERIFY(remote::change_between(before, now).restarted);
    }
};

SPILLWAY_TEST(QCoreApplication, TestServerNumbers)
#include "tst_server_numbers.moc"
