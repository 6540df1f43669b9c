// Tests that stop strings end streamed text, that no part of one is shown, and that it does not matter how the text is
// cut.
#include "engine/sampling/stop_strings.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>
#include <string>
#include <vector>

using engine::StopStrings;

namespace {

struct Outcome {
    std::string text;
    bool stopped = false;
    bool operator==(const Outcome&) const = default;
};

/// Feeds the pieces and ends the text.
Outcome run(const std::vector<std::string>& strings, const std::vector<std::string>& pieces)
{
    StopStrings stop(strings);
    Outcome outcome;
    for (const std::string& piece : pieces) {
        const auto released = stop.feed(piece);
        outcome.text += released.text;
        outcome.stopped = released.stopped;
        if (outcome.stopped)
            return outcome;
    }
    const auto released = stop.finish();
    return {outcome.text + std::string(released.text), released.stopped};
}

std::vector<std::string> bytes(const std::string& text)
{
    std::vector<std::string> pieces;
    for (const char c : text)
        pieces.emplace_back(1, c);
    return pieces;
}

/// The definition, on the whole text: cut at the first place where any of the strings stands.
Outcome cut(const std::vector<std::string>& strings, const std::string& text)
{
    std::size_t first = std::string::npos;
    for (const std::string& s : strings)
        if (!s.empty())
            first = std::min(first, text.find(s));
    return {text.substr(0, first), first != std::string::npos};
}

}  // namespace

class TestStopStrings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cutsAtTheFirst_data()
    {
        QTest::addColumn<QStringList>("strings");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("shown");
        QTest::addColumn<bool>("stopped");
        QTest::newRow("none") << QStringList{} << "abc"
                              << "abc" << false;
        QTest::newRow("empty ignored") << QStringList{"", ""} << "abc"
                                       << "abc" << false;
        QTest::newRow("absent") << QStringList{"xyz"} << "abcxy"
                                << "abcxy" << false;
        QTest::newRow("middle") << QStringList{"User:"} << "Hello\nUser: hi"
                                << "Hello\n"
                                << true;
        QTest::newRow("at once") << QStringList{"a"} << "abc"
                                 << "" << true;
        QTest::newRow("at the end") << QStringList{"c"} << "abc"
                                    << "ab" << true;
        QTest::newRow("whole") << QStringList{"abc"} << "abc"
                               << "" << true;
        QTest::newRow("two, the first wins") << QStringList{"x", "c"} << "abcx"
                                             << "ab" << true;
        QTest::newRow("repeated beginning") << QStringList{"aab"} << "aaaab!"
                                            << "aa" << true;
        QTest::newRow("one inside another") << QStringList{"bcd", "c"} << "abcd"
                                            << "a" << true;
        QTest::newRow("one inside another, which fails") << QStringList{"bcd", "c"} << "abcx"
                                                         << "ab" << true;
        QTest::newRow("one inside another, and the text ends") << QStringList{"bcd", "c"} << "abc"
                                                               << "ab" << true;
        QTest::newRow("one the beginning of another") << QStringList{"ab", "abcd"} << "xabcd"
                                                      << "x" << true;
        QTest::newRow("overlapping") << QStringList{"abc", "cd"} << "xabdcd"
                                     << "xabd" << true;
        QTest::newRow("UTF-8") << QStringList{"。"} << "こんにちは。またね"
                               << "こんにちは" << true;
        QTest::newRow("UTF-8, first byte alike") << QStringList{"ü"} << "für"
                                                 << "f" << true;
        QTest::newRow("UTF-8, only the first byte alike") << QStringList{"ü"} << "fär"
                                                          << "fär" << false;
    }

    void cutsAtTheFirst()
    {
        QFETCH(QStringList, strings);
        QFETCH(QString, text);
        QFETCH(QString, shown);
        QFETCH(bool, stopped);
        std::vector<std::string> list;
        for (const QString& s : strings)
            list.push_back(s.toStdString());
        const Outcome expected{shown.toStdString(), stopped};
        QVERIFY(run(list, {text.toStdString()}) == expected);
        QVERIFY(run(list, bytes(text.toStdString())) == expected);
    }

    void holdsBackOnlyWhatMayStillMatch()
    {
        StopStrings stop({"</end>", "###"});
        QCOMPARE(std::string(stop.feed("Hello <").text), std::string("Hello "));
        QCOMPARE(std::string(stop.feed("b> and </").text), std::string("<b> and "));
        QCOMPARE(std::string(stop.feed("en").text), std::string());
        QCOMPARE(std::string(stop.feed("t> #").text), std::string("</ent> "));
        QCOMPARE(std::string(stop.feed("#").text), std::string());
        QCOMPARE(std::string(stop.feed(" x</end").text), std::string("## x"));
        const auto last = stop.feed(">more");
        QVERIFY(last.stopped);
        QVERIFY(last.text.empty());
        QVERIFY(stop.feed("even more").stopped);
        QVERIFY(stop.feed("even more").text.empty());
        QVERIFY(stop.finish().text.empty());
    }

    void saysWhichOneItWas()
    {
        const std::vector<std::string> strings = {"", "xyz", "bcd", "c"};
        for (const auto& [text, found] : {std::pair("abcd", "bcd"), {"abce", "c"}, {"abc", "c"}, {"axyz", "xyz"}}) {
            StopStrings stop(strings);
            if (!stop.feed(text).stopped)
                QVERIFY(stop.finish().stopped);
            QCOMPARE(stop.stopped_by(), std::string(found));
        }
    }

    void givesTheHeldTextWhenTheAnswerEnds()
    {
        StopStrings stop({"###"});
        QCOMPARE(std::string(stop.feed("a##").text), std::string("a"));
        const auto rest = stop.finish();
        QCOMPARE(std::string(rest.text), std::string("##"));
        QVERIFY(!rest.stopped);
    }

    void anyDivisionGivesTheSame()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 rng(seed);
        const auto word = [&](unsigned longest) {
            std::string s(rng() % (longest + 1), ' ');
            for (char& c : s)
                c = char('a' + rng() % 2);
            return s;
        };
        for (int round = 0; round < 20000; ++round) {
            std::vector<std::string> strings(rng() % 4);
            for (std::string& s : strings)
                s = word(6);
            const std::string text = word(30);
            std::vector<std::string> pieces;
            for (std::size_t at = 0; at < text.size();) {
                pieces.push_back(text.substr(at, 1 + rng() % 8));
                at += pieces.back().size();
            }
            const Outcome expected = cut(strings, text);
            QVERIFY(run(strings, pieces) == expected);
            QVERIFY(run(strings, bytes(text)) == expected);
            QVERIFY(run(strings, {text}) == expected);
        }
    }

    void hostileStringsStayLinear()  // quadratic would be 10^11 steps
    {
        const std::string string(300000, 'a');
        StopStrings stop({string + "b"});
        std::size_t shown = 0;
        for (int i = 0; i < 4; ++i)
            shown += stop.feed(string).text.size();
        QCOMPARE(shown, std::size_t(3 * 300000));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestStopStrings)
#include "tst_stop_strings.moc"
