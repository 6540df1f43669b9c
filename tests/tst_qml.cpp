// Tests that no Repeater of the window's QML files stands right in a layout: Qt 6.4's layouts call items of it that are
// gone. LayoutRepeater is for that.
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QStringList>
#include <QTest>

namespace {

/// The lines at which a Repeater begins whose parent is a layout, or a page, which lays out what it holds.
QList<int> repeatersInLayouts(const QString& qml)
{
    static const QRegularExpression comment("//.*$");
    static const QRegularExpression object("^\\s*(?:[\\w ]+:\\s*)?([A-Z]\\w*) \\{");
    QStringList within;  // types of the objects that are open; empty: other braces
    QList<int> found;
    int number = 0;
    for (const QString& whole : qml.split('\n')) {
        ++number;
        const QString line = QString(whole).remove(comment);
        const QString type = object.match(line).captured(1);
        if (type == "Repeater") {
            const QStringList objects = QStringList(within).filter(QRegularExpression("."));
            if (!objects.isEmpty() && (objects.last().endsWith("Layout") || objects.last() == "Page"))
                found.append(number);
        }
        for (int i = 0; i < line.count('{'); ++i)
            within.append(i == 0 ? type : QString());
        for (int i = 0; i < line.count('}') && !within.isEmpty(); ++i)
            within.removeLast();
    }
    return found;
}

}  // namespace

class TestQml : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRepeaterInALayoutIsFound()
    {
        QCOMPARE(repeatersInLayouts("RowLayout {\n    Repeater {\n    }\n}\n"), QList<int>{2});
        QCOMPARE(repeatersInLayouts("Item {\n    GridLayout {\n        Text { text: \"{}\" }\n        Repeater {\n"),
                 QList<int>{4});
        QCOMPARE(repeatersInLayouts("RowLayout {\n    Row {\n        Repeater {\n"), QList<int>{});
        QCOMPARE(repeatersInLayouts("RowLayout {\n    LayoutRepeater {\n"), QList<int>{});
    }

    void noRepeaterStandsInALayout()
    {
        int files = 0;
        for (QDirIterator it(SPILLWAY_SOURCE_DIR "/ui", {"*.qml"}, QDir::Files, QDirIterator::Subdirectories);
             it.hasNext(); ++files) {
            QFile file(it.next());
            QVERIFY(file.open(QIODevice::ReadOnly));
            for (const int line : repeatersInLayouts(QString::fromUtf8(file.readAll())))
                QFAIL(qPrintable(QString("%1:%2: use LayoutRepeater here").arg(file.fileName()).arg(line)));
        }
        QVERIFY(files > 100);
    }
};

QTEST_GUILESS_MAIN(TestQml)
#include "tst_qml.moc"
