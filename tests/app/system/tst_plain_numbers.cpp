// Tests that numbers in sentences and answers are written alike on every desktop.
#include "app/system/plain_numbers.h"
#include "tests/support/test_program.h"

#include <QLocale>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <clocale>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr const char* kGerman = "de_DE.UTF-8";

QByteArray writtenByC(double number)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", number);
    return text;
}

/// Does to this process what QApplication does on a German desktop. False: this system knows no German.
bool speakGerman(const QTemporaryDir& folder)
{
    if (std::setlocale(LC_ALL, kGerman))
        return true;
    // A system of English speakers often has the description only.
    if (QProcess::execute("localedef", {"-i", "de_DE", "-f", "UTF-8", folder.filePath(kGerman)}) != 0)
        return false;
    qputenv("LOCPATH", folder.path().toLocal8Bit());
    return std::setlocale(LC_ALL, kGerman) != nullptr;
}

}  // namespace

class TestPlainNumbers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theDesktopsLanguageIsNotInNumbers()
    {
        const QTemporaryDir folder;
        if (!speakGerman(folder))
            QSKIP("this system knows no German");
        QCOMPARE(writtenByC(3.14), "3,14");
        usePlainNumbers();
        QCOMPARE(writtenByC(3.14), "3.14");
        QCOMPARE(std::strtod("3.14", nullptr), 3.14);
        QCOMPARE(QByteArray(std::setlocale(LC_CTYPE, nullptr)), kGerman);  // nothing else has changed
        QCOMPARE(QLocale(QLocale::German).toString(3.14), "3,14");
    }
};

SPILLWAY_TEST(QCoreApplication, TestPlainNumbers)

#include "tst_plain_numbers.moc"
