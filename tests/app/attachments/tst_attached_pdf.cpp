// Tests that the text of attached PDF files is read, and that damaged and hostile ones are refused with a sentence and
// stay within limits of size and time.
#include "app/attachments/read_file.h"
#include "tests/app/attachments/attachment_room.h"
#include "tests/app/attachments/made_pdf.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QRandomGenerator>
#include <QTest>

using namespace test_support;

class AttachedPdfTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsPdf()
    {
        QTemporaryDir files;
        const QString path = files.filePath("a.PDF");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(madePdf(3));
        file.close();
        const ReadFile read = readFile(path, {}, {});
        QVERIFY2(read.attachment, qPrintable(read.sentence));
        QCOMPARE(read.attachment->kind, "pdf");
        QCOMPARE(read.attachment->text, "Page 1: Grüße мир\nsecond line\n\nPage 2: Grüße мир\nsecond line\n\n"
                                        "Page 3: Grüße мир\nsecond line");
    }

    void theReadingProgramIsConfined()
    {
#ifndef Q_OS_LINUX
        QSKIP("looks into /proc");
#else
        QProcess program;
        program.start(pdfTextProgram(), {"10", "1000000"});
        QVERIFY(program.waitForStarted());
        const auto status = [&] {
            QFile file(QStringLiteral("/proc/%1/status").arg(program.processId()));
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        // The program confines itself before it is given a file.
        QTRY_VERIFY_WITH_TIMEOUT(
            status().contains("Seccomp:\t2\n") || program.readAllStandardError().contains("not confined"), 60000);
        QVERIFY(status().contains("NoNewPrivs:\t1\n"));
        program.write(madePdf(1));
        program.closeWriteChannel();
        QVERIFY(program.waitForFinished(60000));
        QCOMPARE(program.exitCode(), 0);
        QVERIFY(program.readAllStandardOutput().startsWith("Page 1"));
#endif
    }

    void refusesPdf_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<PdfText::State>("state");
        QTest::newRow("no text") << picturePdf() << PdfText::State::NoText;
        QTest::newRow("password") << protectedPdf("/Standard") << PdfText::State::Password;
        QTest::newRow("protection") << protectedPdf("/Curious") << PdfText::State::Protection;
        QTest::newRow("mark only") << QByteArray("%PDF-1.7\n") << PdfText::State::Damaged;
        QTest::newRow("noise") << "%PDF-1.7\n" + noise(200'000) << PdfText::State::Damaged;
        QTest::newRow("cut") << madePdf(3).left(600) << PdfText::State::Damaged;
        QTest::newRow("pages") << madePdf(21) << PdfText::State::TooManyPages;
        QTest::newRow("tree in a circle") << circlePdf() << PdfText::State::TooSlow;  // it never ends
        QTest::newRow("brackets") << deepPdf() << PdfText::State::NoText;
    }

    void refusesPdf()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(PdfText::State, state);
        const std::chrono::seconds time(state == PdfText::State::TooSlow ? 1 : 4);
        const PdfText pdf = readPdf(bytes, {}, {.pages = 20, .time = time});
        // What the library makes of nonsense is its own affair, as long as it ends and gives no text.
        QVERIFY2(pdf.state == state || (state == PdfText::State::Damaged && pdf.state == PdfText::State::NoText),
                 qPrintable(QString::number(int(pdf.state))));
        QVERIFY(pdf.text.isEmpty());
    }

    void damageAnywhereIsSurvived()
    {
        const QByteArray whole = madePdf(2);
        const quint32 seed = 20261121;
        QRandomGenerator random(seed);
        for (int i = 0; i < 20; ++i) {
            QByteArray bytes = whole;
            for (int change = 0; change < 20; ++change)
                bytes[random.bounded(int(bytes.size()))] = char(random.bounded(256));
            const PdfText pdf = readPdf(bytes, {}, {.time = std::chrono::seconds(20)});
            QVERIFY2(pdf.state != PdfText::State::TooSlow,
                     qPrintable(QString("change %1 of seed %2").arg(i).arg(seed)));
        }
    }

    void aBombIsEndedByTheLimits()
    {
        QElapsedTimer clock;
        clock.start();
        const PdfText pdf = readPdf(bombPdf(), {}, {.text_bytes = 1 << 20, .time = std::chrono::seconds(2)});
        QVERIFY(pdf.state != PdfText::State::Read);
        QVERIFY(clock.elapsed() < 15'000);
    }

    void pdfTextHasALimit()
    {
        const PdfText pdf = readPdf(madePdf(20), {}, {.text_bytes = 100});
        QCOMPARE(pdf.state, PdfText::State::TooMuchText);
    }

    void pdfTimeHasALimit()
    {
        const PdfText pdf = readPdf(madePdf(300), {}, {.time = std::chrono::milliseconds(1)});
        QCOMPARE(pdf.state, PdfText::State::TooSlow);
    }

    void pdfIsCancelled()
    {
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(readPdf(madePdf(300), stop.get_token()).state, PdfText::State::Cancelled);
    }

    void everyRefusalOfAPdfIsASentence()
    {
        Room room;
        room.model.add({room.write("scan.pdf", picturePdf()), room.write("locked.pdf", protectedPdf("/Standard")),
                        room.write("bad.pdf", "%PDF-1.4\nnothing")});
        QTRY_VERIFY_WITH_TIMEOUT(!room.model.reading(), kSoon);
        QCOMPARE(room.at(0, AttachmentModel::SentenceRole).toString(),
                 "“scan.pdf” holds no text, only pictures of pages, and pictures cannot be read yet.");
        QCOMPARE(room.at(1, AttachmentModel::SentenceRole).toString(),
                 "“locked.pdf” is protected by a password, so it cannot be read.");
        QCOMPARE(room.at(2, AttachmentModel::SentenceRole).toString(), "“bad.pdf” is damaged, so it cannot be read.");
    }
};

SPILLWAY_TEST(QApplication, AttachedPdfTest)
#include "tst_attached_pdf.moc"
