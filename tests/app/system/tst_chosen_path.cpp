// Tests that what somebody chose or typed in a dialog becomes the path that was meant.
#include "app/system/chosen_path.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QtTest>

class TestChosenPath : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void itIsWhatWasMeant_data()
    {
        QTest::addColumn<QUrl>("file");
        QTest::addColumn<QString>("path");
        QTest::newRow("chosen") << QUrl("file:///home/u/a%20b//c.csv") << "/home/u/a b//c.csv";
        QTest::newRow("elsewhere") << QUrl("https://example.org/c.csv") << "";
        // As Qt 6.4's own dialog gives it: behind the folder that it shows.
        QTest::newRow("a name") << QUrl("/home/u/c.csv") << "/home/u/c.csv";
        QTest::newRow("a path below") << QUrl("/home/u/a%20b/c.csv") << "/home/u/a b/c.csv";
        QTest::newRow("a whole path") << QUrl("/home/u//tmp/c.csv") << "/tmp/c.csv";
        QTest::newRow("a whole path, slashes in it") << QUrl("/home/u//tmp//c.csv") << "/tmp//c.csv";
        QTest::newRow("a whole path with a tilde") << QUrl("/home/u//tmp/~/c.csv") << "/tmp/~/c.csv";
        QTest::newRow("in the topmost folder") << QUrl("//c.csv") << "/c.csv";
        QTest::newRow("from the home folder") << QUrl("/tmp/~/c.csv") << QDir::homePath() + "/c.csv";
        QTest::newRow("a tilde in a name") << QUrl("/tmp/~c.csv") << "/tmp/~c.csv";
    }
    void itIsWhatWasMeant()
    {
        QFETCH(QUrl, file);
        QFETCH(QString, path);
        QCOMPARE(chosenPath(file), path);
    }
};

SPILLWAY_TEST(QCoreApplication, TestChosenPath)
#include "tst_chosen_path.moc"
