// Tests that a search's words are found in the block of a message in which they stand.
#include "app/chat/message_place.h"

#include "app/chat/block_model.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QTest>

class TestMessagePlace : public QObject
{
    Q_OBJECT

private:
    static MessagePlace place(const QString& text, const QString& excerpt, StoredMessage::Role role)
    {
        return placeOf({.role = role, .text = text}, excerpt);
    }
    static QString found(const QString& before, const QString& words, const QString& after = {})
    {
        return before + QChar(2) + words + QChar(3) + after;
    }

private Q_SLOTS:
    void theBlockIsFound_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("block");
        QTest::newRow("at the beginning") << "needle in the hay" << 0;
        QTest::newRow("after code") << "hay\n\n```\nhay\n```\n\nthe needle in the hay" << 2;
        QTest::newRow("in code") << "hay\n\n```\nhay\nthe needle in the hay\n```\n\nhay" << 1;
        QTest::newRow("in a table") << "hay\n\n| hay | b |\n|---|---|\n| the needle in the hay | d |\n\nhay" << 1;
        QTest::newRow("marked up") << "hay\n\n---\n\nhay **needle in the hay**" << 2;
        QTest::newRow("after a thought") << "<think>hay</think>\n\n```\nhay\n```\nthe needle in the hay" << 2;
        QTest::newRow("in a thought") << "<think>the needle in the hay</think>\n\nhay" << 0;
        QTest::newRow("another place") << "a needle\n\n```\nhay\n```\n\nthe needle in the hay" << 2;
    }
    void theBlockIsFound()
    {
        QFETCH(QString, text);
        QFETCH(int, block);
        QCOMPARE(place(text, found("…", "needle", " in the hay…"), StoredMessage::Role::Assistant).block, block);
    }

    void theShareOfALongBlock()
    {
        const QString hay = QString("hay ").repeated(100);
        const MessagePlace middle =
            place(hay + "needle\n " + hay, found("hay hay ", "needle", " hay…"), StoredMessage::Role::User);
        QCOMPARE(middle.block, 0);
        QVERIFY2(middle.share > 0.45 && middle.share < 0.55, qPrintable(QString::number(middle.share)));
        const MessagePlace end = place(hay + hay + "needle", found("", "needle"), StoredMessage::Role::User);
        QVERIFY2(end.share > 0.95 && end.share <= 1, qPrintable(QString::number(end.share)));
    }

    void whatIsNotThereIsAtTheBeginning()
    {
        for (const QString& excerpt : {QString(), QString("hay"), found("", "gnu"), found("gnu ", "needle")})
            QCOMPARE(place("hay\n\n---\n\nneedle", excerpt, StoredMessage::Role::Assistant), MessagePlace());
        QCOMPARE(place("", found("", "needle"), StoredMessage::Role::Assistant), MessagePlace());
    }
};

SPILLWAY_TEST(QApplication, TestMessagePlace)
#include "tst_message_place.moc"
