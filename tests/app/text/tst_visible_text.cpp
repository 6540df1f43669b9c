// Tests that text of models and files is shown as it is: no character in it hides or reorders others.
#include "app/text/visible_text.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestVisibleText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void shows_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("shown");
        QTest::newRow("plain") << "Hello, world"
                               << "Hello, world";
        QTest::newRow("lines and tabs") << "a\tb\nc"
                                        << "a\tb\nc";
        QTest::newRow("Windows lines") << "a\r\nb"
                                       << "a\nb";
        QTest::newRow("lone carriage return") << "safe\rrm"
                                              << "safe␍rm";
        QTest::newRow("escape") << QString("\x1b[31mred") << "␛[31mred";
        QTest::newRow("null") << QString(QChar(0)) << "␀";
        QTest::newRow("delete") << QString(QChar(0x7f)) << "␡";
        QTest::newRow("second control set") << QString(QChar(0x9b)) << "⟨U+009B⟩";
        QTest::newRow("right-to-left override") << QStringLiteral("a\u202Egpj.exe") << "a⟨U+202E⟩gpj.exe";
        QTest::newRow("isolate") << QStringLiteral("\u2066x\u2069") << "⟨U+2066⟩x⟨U+2069⟩";
        QTest::newRow("zero width space") << QStringLiteral("a\u200Bb") << "a⟨U+200B⟩b";
        QTest::newRow("tag characters") << QStringLiteral("a\U000E0041") << "a⟨U+E0041⟩";
        QTest::newRow("flags of regions stay")
            << QStringLiteral("🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F!")
            << QStringLiteral("🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F!");
        QTest::newRow("half a flag") << QStringLiteral("🏴\U000E0067\U000E0062x")
                                     << "🏴⟨U+E0067⟩⟨U+E0062⟩x";
        QTest::newRow("no region's name")
            << QStringLiteral("🏴\U000E0068\U000E007F") << "🏴⟨U+E0068⟩⟨U+E007F⟩";
        QTest::newRow("selectors in a row") << QStringLiteral("😀\uFE0F\uFE01\uFE02") << "😀\uFE0F⟨U+FE01⟩⟨U+FE02⟩";
        QTest::newRow("selectors that hide bytes") << QStringLiteral("😀\U000E0158\U000E01EF") << "😀⟨U+E0158⟩⟨U+E01EF⟩";
        QTest::newRow("selectors stay") << QStringLiteral("❤\uFE0F‍🔥 1\uFE0F\u20E3 葛\U000E0100 ᠠ\u180B")
                                        << QStringLiteral("❤\uFE0F‍🔥 1\uFE0F\u20E3 葛\U000E0100 ᠠ\u180B");
        QTest::newRow("Mongolian ones elsewhere")
            << QStringLiteral("a\u180Bᠠ\u180E\u180B") << "a⟨U+180B⟩ᠠ\u180E⟨U+180B⟩";
        QTest::newRow("fillers") << QStringLiteral("a\u3164\uFFA0\u115F\u1160\u034F\u17B4")
                                 << "a⟨U+3164⟩⟨U+FFA0⟩⟨U+115F⟩⟨U+1160⟩⟨U+034F⟩⟨U+17B4⟩";
        QTest::newRow("no characters") << QStringLiteral("\uFDD0\uFDD1\uFDEF\uFFFE\uFFFF\U0010FFFF")
                                       << "⟨U+FDD0⟩⟨U+FDD1⟩⟨U+FDEF⟩⟨U+FFFE⟩⟨U+FFFF⟩⟨U+10FFFF⟩";
        QTest::newRow("line separator") << QStringLiteral("a\u2028b") << "a\nb";
        QTest::newRow("half a pair") << QString(QChar(0xd83d)) << "⟨U+D83D⟩";
        QTest::newRow("emoji with joiners stays") << QStringLiteral("👩‍💻") << QStringLiteral("👩‍💻");
        QTest::newRow("Persian joiner stays")
            << QStringLiteral("می‌خواهم") << QStringLiteral("می‌خواهم");
        QTest::newRow("markup is only text") << "<b>x</b>"
                                             << "<b>x</b>";
    }

    void shows()
    {
        QFETCH(QString, text);
        QFETCH(QString, shown);
        QCOMPARE(VisibleText::of(text), shown);
    }

    void piecesGiveTheSameAsTheWhole()
    {
        const QString text =
            QStringLiteral("one\r\ntwo\rthree\r\n\r\n😀\uFE0F\uFE0F🏴\U000E0067\U000E0062\U000E0065\U000E006E"
                           "\U000E0067\U000E007F🏴\U000E0067\r");
        for (qsizetype cut = 0; cut <= text.size(); ++cut) {
            if (cut < text.size() && text[cut].isLowSurrogate())
                continue;  // pieces are of whole characters
            VisibleText visible;
            QString shown = visible.add(text.left(cut));
            shown += visible.add(text.mid(cut));
            shown += visible.end();
            QCOMPARE(shown, VisibleText::of(text));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestVisibleText)
#include "tst_visible_text.moc"
