// Tests that streamed text consists of whole characters only, however the bytes arrive.
#include "engine/tokenizer/utf8_stream.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QTest>

using engine::Utf8Stream;

namespace {

const std::string kReplacement = "\xef\xbf\xbd";

std::string hex(const std::string& bytes)
{
    return QByteArray::fromStdString(bytes).toHex(' ').toStdString();
}

}  // namespace

class TestUtf8Stream : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void holdsBackWhatIsNotWhole()
    {
        Utf8Stream stream;
        QCOMPARE(stream.feed("a\xf0\x9f"), std::string("a"));
        QCOMPARE(stream.held_bytes(), 2);
        QCOMPARE(stream.feed("\xa6"), std::string());
        QCOMPARE(stream.feed("\x99z"), std::string("\xf0\x9f\xa6\x99z"));
        QCOMPARE(stream.held_bytes(), 0);
        QCOMPARE(stream.flush(), std::string());
    }

    void replacesWhatCannotBecomeWhole_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("now");    // after feed()
        QTest::addColumn<QByteArray>("later");  // after flush()
        const auto row = [](const char* name, const char* bytes, const char* now, const char* later = "") {
            QTest::newRow(name) << QByteArray(bytes) << QByteArray(now) << QByteArray(later);
        };
        // The replacements are those of table 3-8 of the Unicode standard and of its text on "maximal subparts".
        row("a byte that only continues", "\x80z", "\xef\xbf\xbdz");
        row("a byte of no character", "\xff", "\xef\xbf\xbd");
        row("overlong", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");
        row("overlong in three bytes", "\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        row("a surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        row("above U+10FFFF", "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        row("begun, then something else", "\xe1\x80(", "\xef\xbf\xbd(");
        row("begun, then another", "\xf0\x9f\xe4\xbd\xa0", "\xef\xbf\xbd\xe4\xbd\xa0");
        row("the standard's example", "\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64",
            "\x61\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x62\xef\xbf\xbd\x63\xef\xbf\xbd\xef\xbf\xbd\x64");
        row("begun and never ended", "x\xe4\xbd", "x", "\xef\xbf\xbd");
        row("highest and lowest of each length",
            "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
            "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    }
    void replacesWhatCannotBecomeWhole()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, now);
        QFETCH(QByteArray, later);
        Utf8Stream stream;
        QCOMPARE(hex(stream.feed(bytes.toStdString())), hex(now.toStdString()));
        QCOMPARE(hex(stream.flush()), hex(later.toStdString()));
    }

    void theCutsDoNotMatter()
    {
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        const std::string interesting = "ab\xc2\xa9\xe4\xbd\xa0\xf0\x9f\xa6\x99\xed\xa0\x80\xf4\x90\xe0\x80\xff";
        for (int round = 0; round < 2000; ++round) {
            std::string bytes;
            for (int i = random.bounded(20); i > 0; --i)
                bytes.push_back(interesting[std::size_t(random.bounded(int(interesting.size())))]);
            Utf8Stream at_once;
            std::string expected = at_once.feed(bytes);
            expected += at_once.flush();

            Utf8Stream stream;
            std::string actual;
            for (std::size_t at = 0; at < bytes.size();) {
                const std::size_t step = std::size_t(random.bounded(4));
                const std::string out = stream.feed(bytes.substr(at, step));
                // Whole characters only: Qt finds nothing to replace.
                QVERIFY(QString::fromStdString(out).toStdString() == out);
                QVERIFY(stream.held_bytes() <= 3);
                actual += out;
                at += step;
            }
            actual += stream.flush();
            QCOMPARE(hex(actual), hex(expected));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestUtf8Stream)
#include "tst_utf8_stream.moc"
