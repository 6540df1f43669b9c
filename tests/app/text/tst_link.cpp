// Tests that only safe addresses may be opened, and that the address which is shown is the one that is opened.
#include "app/text/link.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestLink : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void safe_data()
    {
        QTest::addColumn<QString>("address");
        QTest::addColumn<QString>("link");    // empty: none
        QTest::addColumn<QString>("target");  // where it leads
        QTest::newRow("web") << "https://a.b/c?d#e"
                             << "https://a.b/c?d#e"
                             << "a.b";
        QTest::newRow("capitals") << "HTTP://A.B/"
                                  << "http://a.b/"
                                  << "a.b";
        QTest::newRow("mail") << "mailto:me@a.b"
                              << "mailto:me@a.b"
                              << "me@a.b";
        QTest::newRow("mail turned around") << "mailto:a%E2%80%AEmoc.live@x.org"
                                            << "mailto:a%E2%80%AEmoc.live@x.org"
                                            << "a⟨U+202E⟩moc.live@x.org";
        QTest::newRow("mail of two lines") << "mailto:x%0Ay%E2%80%A8@z"
                                           << "mailto:x%0Ay%E2%80%A8@z"
                                           << "x y @z";
        QTest::newRow("a name before the host") << "https://bank.com@evil.com/"
                                                << "https://bank.com@evil.com/"
                                                << "evil.com";
        QTest::newRow("other letters") << "https://аррӏе.com"
                                       << "https://xn--80ak6aa92e.com"
                                       << "xn--80ak6aa92e.com";
        QTest::newRow("other letters in the path") << "https://a.b/é"
                                                   << "https://a.b/%C3%A9"
                                                   << "a.b";
        for (const char* bad : {"", "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:x", "data:text/html,x",
                                "file:///etc/passwd", "ftp://a.b", "//a.b", "a.b", "https://", "https:///x",
                                "mailto:", "java\nscript:x", "vbscript:x", "smb://a/b", "qrc:/x", "ms-settings:x"})
            QTest::newRow(bad) << bad << ""
                               << "";
        QTest::newRow("longest") << "https://a.b/" + QString(5000, 'x') << ""
                                 << "";
    }

    void safe()
    {
        QFETCH(QString, address);
        QFETCH(QString, link);
        QCOMPARE(safeLink(address), link);
        if (!link.isEmpty())
            QTEST(linkTarget(link), "target");
    }
};

SPILLWAY_TEST(QCoreApplication, TestLink)
#include "tst_link.moc"
