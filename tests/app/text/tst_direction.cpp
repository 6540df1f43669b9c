// Tests that each block of a message is read from the right or the left as its text asks for.
#include "app/text/block_builder.h"
#include "app/text/direction.h"
#include "tests/support/test_program.h"

#include <QTest>

static constexpr Direction N = Direction::Neutral, L = Direction::LeftToRight, R = Direction::RightToLeft;

class TestDirection : public QObject
{
    Q_OBJECT

private:
    static QList<Block> blocksOf(const QString& text)
    {
        BlockBuilder builder;
        for (const QChar c : text)  // as it streams: nothing may be left of what was shown in between
            builder.append(QString(c));
        builder.finish();
        return builder.blocks();
    }
    static QList<Direction> paragraphs(const QString& text)
    {
        QList<Direction> all;
        for (const Block& block : blocksOf(text))
            for (const Paragraph& paragraph : block.paragraphs)
                all.append(paragraph.direction);
        return all;
    }

private Q_SLOTS:
    void theFirstStrongLetterDecides_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<Direction>("direction");
        QTest::newRow("English") << "an answer" << L;
        QTest::newRow("Arabic") << u"مرحبا world"_qs << R;
        QTest::newRow("Hebrew") << u"שלום world"_qs << R;
        QTest::newRow("Latin first") << u"world مرحبا"_qs << L;
        QTest::newRow("numbers before") << u"12.5 % (مرحبا)"_qs << R;
        QTest::newRow("beyond the first plane") << QString::fromUcs4(U"\U0001E900\U0001E901") << R;
        QTest::newRow("after a picture") << u"\U0001F600 مرحبا"_qs << R;
        QTest::newRow("nothing") << "1.5 % ..." << N;
        QTest::newRow("half a letter") << QString(QChar(0xD83A)) << N;
    }
    void theFirstStrongLetterDecides()
    {
        QFETCH(QString, text);
        QTEST(directionOf(text), "direction");
    }

    void codeDecidesOnlyAlone()
    {
        QCOMPARE(directionOf(Spans{{"printf", Span::Code, {}}, {u" تطبع"_qs, 0, {}}}), R);
        QCOMPARE(directionOf(Spans{{"printf", Span::Code, {}}, {" 1", 0, {}}}), L);
    }

    void eachParagraphHasItsOwn()
    {
        QCOMPARE(paragraphs(u"مرحبا\n\nEnglish again\n\nشكرا\n\n1, 2, 3"_qs), QList({R, L, R, R}));
        QCOMPARE(paragraphs("1, 2, 3"), QList({N}));
        QCOMPARE(paragraphs(u"- واحد\n- two\n- 3\n\nEnd"_qs), QList({R, L, L, L}));
        QCOMPARE(paragraphs(u"# عنوان\n\ntext"_qs), QList({R, L}));
    }

    void quotesAndWhatStandsInListsFollowTheirText()
    {
        const QList<Block> quotes = blocksOf(u"> اقتباس\n\n> quote\n\n- بند\n\n  ```c\n  int a;\n  ```\n"_qs);
        QCOMPARE(quotes.size(), 4);
        QCOMPARE(quotes[0].direction, R);
        QCOMPARE(quotes[1].direction, L);
        QCOMPARE(quotes[3].kind, Block::Kind::Code);
        QCOMPARE(quotes[3].direction, R);
        QCOMPARE(blocksOf(u"مرحبا\n\n```c\nint a;\n```"_qs)[1].direction, N);
    }

    void aTableIsReadAsItsFirstWord()
    {
        const auto table = [](const QString& text) { return blocksOf(text)[0].table.direction; };
        QCOMPARE(table(u"| اسم | value |\n|---|---|\n| a | b |"_qs), R);
        QCOMPARE(table(u"| name | قيمة |\n|---|---|\n| ا | ب |"_qs), L);
        QCOMPARE(table(u"| 1 | 2 |\n|---|---|\n| 3 | ب |\n"_qs), R);
        QCOMPARE(table(u"- | ا | ب |\n  |---|---|\n"_qs), N);  // a list: its table comes second
        QCOMPARE(blocksOf(u"- | ا | ب |\n  |---|---|\n  | 1 | 2 |\n"_qs).last().table.direction, R);
        QString rows = u"| اسم | b |\n|---|---|\n"_qs;
        for (int i = 0; i < 400; ++i)
            rows += "| a | b |\n";
        for (const Block& block : blocksOf(rows))
            QCOMPARE(block.table.direction, R);
    }
};

SPILLWAY_TEST(QCoreApplication, TestDirection)
#include "tst_direction.moc"
