// Tests that attached files become text, that those which cannot are refused with a reason, and that no file makes the
// program hang.
#include "app/attachments/decode_text.h"
#include "app/attachments/read_file.h"
#include "tests/app/attachments/attachment_room.h"
#include "tests/app/attachments/made_pdf.h"
#include "tests/support/plain_user.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QProcess>
#include <QTest>

#include <chrono>
#include <functional>

using namespace test_support;

Q_DECLARE_METATYPE(std::function<void(AttachmentModel&)>)

class AttachmentsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void decodes_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("text");  // null: not text
        const auto row = [](const char* name, const QByteArray& bytes, const QString& text) {
            QTest::newRow(name) << bytes << text;
        };
        row("ascii", "a\nb\n", "a\nb\n");
        row("utf-8", "\xC3\xA9 \xE4\xB8\x96", QStringLiteral("é 世"));
        row("utf-8 with mark",
            "\xEF\xBB\xBF"
            "a",
            "a");
        row("utf-16 little",
            QByteArray("\xFF\xFE"
                       "a\0\xE9\0",
                       6),
            QStringLiteral("aé"));
        row("utf-16 big", QByteArray("\xFE\xFF\0a\0\xE9", 6), QStringLiteral("aé"));
        row("latin", "caf\xE9", QStringLiteral("café"));
        row("windows", "\x93quoted\x94 \x80", QStringLiteral("“quoted” €"));
        row("line ends", "a\r\nb\rc\n", "a\nb\nc\n");
        row("colours of a terminal", "\x1B[31mred\x1B[0m", QStringLiteral("\x1B[31mred\x1B[0m"));
        row("zero", QByteArray("a\0b", 3), {});
        row("controls",
            "\x01\x02\x03\x04"
            "abcdef",
            {});
        row("picture", QByteArray("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16), {});
    }

    void decodes()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, text);
        const auto decoded = decodeText(bytes);
        QCOMPARE(decoded.has_value(), !text.isNull());
        QCOMPARE(decoded.value_or(QString()), text);
    }

    void readsAFile()
    {
        Room room;
        room.load();
        room.model.add({room.write("notes.md", "# one two\n")});
        QCOMPARE(room.model.count(), 1);
        QCOMPARE(room.at(0, AttachmentModel::NameRole), "notes.md");
        QTRY_COMPARE_WITH_TIMEOUT(room.at(0, AttachmentModel::StateRole), AttachmentModel::Ready, kSoon);
        QCOMPARE(room.at(0, AttachmentModel::KindRole), "markdown");
        QCOMPARE(room.at(0, AttachmentModel::BytesRole), 10.0);
        QTRY_VERIFY_WITH_TIMEOUT(!room.model.counting(), kSoon);
        // "File:", the name, both fences and three words
        QCOMPARE(room.at(0, AttachmentModel::TokensRole), 7);
        QCOMPARE(room.model.tokens(), 7);
        QCOMPARE(room.model.text(0), "# one two\n");
        const Attachment ready = room.model.ready().constFirst();
        QCOMPARE(room.copies(), QStringList(ready.sha256));
        QCOMPARE(ready.sha256,
                 QString::fromLatin1(QCryptographicHash::hash("# one two\n", QCryptographicHash::Sha256).toHex()));
    }

    void whatHidesInAFileIsSeen()
    {
        const QString text = QStringLiteral("pay\u202E me\u200B\r\nnow");
        Room room;
        room.model.add({room.write("a.txt", text.toUtf8())});
        QTRY_COMPARE_WITH_TIMEOUT(room.model.ready().size(), 1, kSoon);
        QCOMPARE(room.model.facts(0).text(), "pay⟨U+202E⟩ me⟨U+200B⟩\nnow");
        const QString read = QString(text).replace("\r\n", "\n");  // as of every file
        QCOMPARE(room.model.text(0), read);                        // by the model
        QCOMPARE(room.model.facts(0).characters(), int(read.size()));
        QCOMPARE(AttachmentFacts(room.model.ready()[0]).text(), room.model.facts(0).text());
        QCOMPARE(room.model.facts(1).text(), "");

        const AttachmentFacts large(Attachment{.name = "l", .text = QString(1'000'000, 'x')});
        QCOMPARE(large.text().size(), 200'000);
        QCOMPARE(large.characters(), 1'000'000);
    }

    void tokensWaitForAModel()
    {
        Room room;
        room.model.add({room.write("a.txt", "a b c")});
        QTRY_COMPARE_WITH_TIMEOUT(room.model.ready().size(), 1, kSoon);
        QTRY_VERIFY_WITH_TIMEOUT(!room.model.counting(), kSoon);
        QVERIFY(!room.at(0, AttachmentModel::TokensRole).isValid());
        room.load();
        room.model.recount();
        QTRY_COMPARE_WITH_TIMEOUT(room.model.tokens(), 7, kSoon);
    }

    void whatIsTakenAwayIsNotCounted_data()
    {
        QTest::addColumn<std::function<void(AttachmentModel&)>>("takeAway");
        const auto row = [](const char* name, const std::function<void(AttachmentModel&)>& takeAway) {
            QTest::newRow(name) << takeAway;
        };
        row("removed", [](AttachmentModel& files) { files.remove(0); });
        row("sent", [](AttachmentModel& files) { files.clear(); });
        row("with its conversation", [](AttachmentModel& files) {
            files.showConversation("another");
            files.forget("one");
        });
    }
    void whatIsTakenAwayIsNotCounted()
    {
        QFETCH(std::function<void(AttachmentModel&)>, takeAway);
        Room room;
        room.load();
        room.script->change([](auto& settings) { settings.count_text = std::chrono::hours(1); });
        room.model.showConversation("one");
        room.model.add({room.write("a.txt", "a b c")});
        QTRY_COMPARE_WITH_TIMEOUT(room.script->counted_texts(), 1, kSoon);
        room.script->change([](auto& settings) { settings.count_text = {}; });
        takeAway(room.model);
        QCOMPARE(room.model.count(), 0);
        room.model.add({room.write("b.txt", "a b c d")});  // whose count would wait for that of the other one
        QTRY_COMPARE_WITH_TIMEOUT(room.model.tokens(), 8, kSoon);
    }

    void tokensWaitForTheEndOfAnswers()
    {
        Room room;
        room.load();
        room.model.setMayCount(false);
        room.model.add({room.write("a.txt", "a b c")});
        QTRY_COMPARE_WITH_TIMEOUT(room.model.ready().size(), 1, kSoon);
        QVERIFY(room.model.counting());
        room.model.setMayCount(true);
        QTRY_COMPARE_WITH_TIMEOUT(room.model.tokens(), 7, kSoon);
        QVERIFY(!room.model.counting());
        QCOMPARE(room.script->counted_texts(), 1);

        // An answer that begins while they are counted.
        room.script->change([](auto& settings) { settings.count_text = std::chrono::hours(1); });
        room.model.recount();
        QTRY_COMPARE_WITH_TIMEOUT(room.script->counted_texts(), 2, kSoon);
        room.script->change([](auto& settings) { settings.count_text = {}; });
        room.model.setMayCount(false);
        QVERIFY(room.model.counting());
        room.model.setMayCount(true);
        QTRY_COMPARE_WITH_TIMEOUT(room.model.tokens(), 7, kSoon);
        QCOMPARE(room.script->counted_texts(), 3);
        QVERIFY(!room.model.counting());
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("folder") << "/usr/lib"
                                << "“lib” is a folder; choose the files in it.";
        QTest::newRow("device") << "/dev/zero"
                                << "“zero” is not an ordinary file.";
        QTest::newRow("proc") << "/proc/self/status"
                              << "“status” is empty.";
        QTest::newRow("vanished") << "/nowhere/a.txt"
                                  << "“a.txt” is not there any more.";
    }

    void refuses()
    {
        QFETCH(QString, path);
        QFETCH(QString, sentence);
        const ReadFile read = readFile(path, {}, {});
        QVERIFY(!read.attachment);
        QCOMPARE(read.sentence, sentence);
    }

    void refusesByContent_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("empty") << "a.txt" << QByteArray() << "“a.txt” is empty.";
        QTest::newRow("blank") << "a.txt" << QByteArray(" \n \n") << "“a.txt” is empty.";
        QTest::newRow("binary") << "a.txt" << QByteArray(100, '\0')
                                << "“a.txt” is neither text nor PDF, so it cannot be read.";
        QTest::newRow("long text") << "a.txt" << QByteArray(2001, 'x') << "“a.txt” is larger than 2 kB.";
        QTest::newRow("long binary") << "a.bin" << QByteArray(2001, '\0')
                                     << "“a.bin” is neither text nor PDF, so it cannot be read.";
        QTest::newRow("large") << "a.txt" << QByteArray(5001, 'x') << "“a.txt” is larger than 5 kB.";
        QTest::newRow("name") << QStringLiteral("a\u202Etxt.exe") << QByteArray(10, '\1')
                              << "“a⟨U+202E⟩txt.exe” is neither text nor PDF, so it cannot be read.";
    }

    void refusesByContent()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, sentence);
        Room room({.file_bytes = 5000, .text_bytes = 2000});
        room.model.add({room.write(name, bytes)});
        QTRY_COMPARE_WITH_TIMEOUT(room.at(0, AttachmentModel::StateRole), AttachmentModel::Failed, kSoon);
        QCOMPARE(room.at(0, AttachmentModel::SentenceRole).toString(), sentence);
        QVERIFY(room.model.ready().isEmpty());
        QVERIFY(room.copies().isEmpty());
    }

    void refusesWhatItMayNotRead()
    {
        Room room;
        const QUrl file = room.write("a.txt", "secret");
        const support::PlainUser notRoot;
        QFile::setPermissions(file.toLocalFile(), {});
        QVERIFY(!QFile(file.toLocalFile()).open(QIODevice::ReadOnly));
        QVERIFY(readFile(file.toLocalFile(), {}, {}).sentence.startsWith("“a.txt” cannot be read: "));
    }

    void aPipeIsNotOpened()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("pipe");
        if (QProcess::execute("mkfifo", {path}) != 0)
            QSKIP("this system makes no pipes");
        QCOMPARE(readFile(path, {}, {}).sentence, "“pipe” is not an ordinary file.");
    }

    void noRoomForTheCopyIsSaid()
    {
        QTemporaryDir files;
        QFile file(files.filePath("a.txt"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("text");
        file.close();
        const ReadFile read = readFile(file.fileName(), file.fileName() + "/not-a-folder", {});
        QVERIFY(!read.attachment);
        QVERIFY2(read.sentence.startsWith("“a.txt” could not be kept: "), qPrintable(read.sentence));
    }

    void aCopyIsNeverReplaced()
    {
        Room room;
        const QString hash = QString::fromLatin1(QCryptographicHash::hash("x", QCryptographicHash::Sha256).toHex());
        QDir(room.kept.path()).mkdir(hash.left(2));
        QFile there(room.kept.path() + '/' + hash.left(2) + '/' + hash);
        QVERIFY(there.open(QIODevice::WriteOnly));
        there.write("as it was");
        there.close();
        QVERIFY(readFile(room.write("x.txt", "x").toLocalFile(), room.kept.path(), {}).attachment);
        QVERIFY(there.open(QIODevice::ReadOnly));
        QCOMPARE(there.readAll(), "as it was");
    }

    void theSameFileTwiceIsOne()
    {
        Room room;
        const QUrl file = room.write("a.txt", "text");
        room.model.add({file, room.write("b.txt", "other"), room.write("copy.txt", "text")});
        QTRY_COMPARE_WITH_TIMEOUT(room.model.count(), 2, kSoon);
        QTRY_VERIFY_WITH_TIMEOUT(!room.model.reading(), kSoon);
        QVERIFY(room.model.notice().endsWith("is attached already."));
        room.model.dismissNotice();
        QVERIFY(room.model.notice().isEmpty());
    }

    void thereIsAMostOfFiles()
    {
        Room room;
        QList<QUrl> files;
        for (int i = 0; i < AttachmentModel::kMostFiles + 5; ++i)
            files << room.write(QString("%1.txt").arg(i), QByteArray::number(i));
        room.model.add(files);
        QCOMPARE(room.model.count(), AttachmentModel::kMostFiles);
        QCOMPARE(room.model.notice(), "A message takes 20 files at most.");
        QTRY_VERIFY_WITH_TIMEOUT(!room.model.reading(), kSoon);
        QCOMPARE(room.model.ready().size(), AttachmentModel::kMostFiles);
        QCOMPARE(room.model.ready()[7].name, "7.txt");  // in the order they were chosen
    }

    void onlyFilesOfThisComputer()
    {
        Room room;
        room.model.add({QUrl("https://example.org/a.txt")});
        QCOMPARE(room.model.count(), 0);
        QCOMPARE(room.model.notice(), "Only files of this computer can be attached.");
    }

    void rowsGoAndComeBackWithTheirConversation()
    {
        Room room;
        room.model.showConversation("one");
        room.model.add({room.write("a.txt", "text")});
        room.model.showConversation("two");  // while it is read
        QCOMPARE(room.model.count(), 0);
        room.model.add({room.write("b.txt", "other")});
        room.model.showConversation("one");
        QTRY_COMPARE_WITH_TIMEOUT(room.model.ready().size(), 1, kSoon);
        QCOMPARE(room.at(0, AttachmentModel::NameRole), "a.txt");
        room.model.remove(0);
        QCOMPARE(room.model.count(), 0);
        room.model.showConversation("two");
        QTRY_COMPARE_WITH_TIMEOUT(room.model.ready().size(), 1, kSoon);
        room.model.clear();
        room.model.showConversation("one");
        room.model.showConversation("two");
        QCOMPARE(room.model.count(), 0);
    }

    void rowsGoWithTheirConversation()
    {
        Room room;
        room.model.showConversation("one");
        room.model.add({room.write("a.txt", "text")});
        room.model.showConversation("two");
        room.model.add({room.write("b.txt", "other")});
        room.model.forget("two");  // it is shown
        QTRY_COMPARE_WITH_TIMEOUT(room.model.ready().size(), 1, kSoon);
        room.model.forget("one");
        room.model.forget("nobody");
        room.model.showConversation("one");
        QCOMPARE(room.model.count(), 0);
        room.model.showConversation("two");
        QCOMPARE(room.model.count(), 1);
    }

    void aDraftsFilesAreReadAgain()
    {
        Room room;
        room.model.showConversation("one");
        room.model.add({room.write("a.md", "# text"), room.write("b.txt", "other"), QUrl("file:///nowhere/c.txt")});
        QVERIFY(room.model.kept().isEmpty());  // not yet
        QTRY_VERIFY_WITH_TIMEOUT(!room.model.reading(), kSoon);
        QList<DraftFile> kept = room.model.kept();
        QCOMPARE(kept.size(), 2);  // not what could not be read

        QVERIFY(QFile::remove(room.kept.filePath(kept[1].sha256.left(2) + "/" + kept[1].sha256)));
        kept.append(DraftFile{"d.txt", "../../../etc/passwd"});
        AttachmentModel later(room.counter, room.kept.path());
        const QAbstractItemModelTester tester(&later);
        later.showConversation("one", kept);
        QCOMPARE(later.kept(), kept);  // also while they are read
        QTRY_VERIFY_WITH_TIMEOUT(!later.reading(), kSoon);
        QCOMPARE(later.ready().size(), 1);
        QCOMPARE(later.ready()[0].name, "a.md");
        QCOMPARE(later.ready()[0].kind, "markdown");
        QCOMPARE(later.ready()[0].text, "# text");
        const auto sentence = [&](int row) { return later.data(later.index(row), AttachmentModel::SentenceRole); };
        QCOMPARE(sentence(1).toString(), "“b.txt” is not there any more.");
        QCOMPARE(sentence(2).toString(), "“d.txt” is not there any more.");
        QCOMPARE(later.kept(), kept);  // until they are taken away or the message is sent
        later.showConversation("two");
        later.showConversation("one", {});
        QCOMPARE(later.count(), 3);
        later.clear();
        later.showConversation("two");
        later.showConversation("one", QList<DraftFile>(AttachmentModel::kMostFiles + 5, kept[0]));
        QTRY_VERIFY_WITH_TIMEOUT(!later.reading(), kSoon);
        QCOMPARE(later.count(), 1);
    }

    void aDraftsFilesAreReadWhereNothingCanBeWritten()
    {
        Room room;
        room.model.showConversation("one");
        room.model.add({room.write("a.md", "# text")});
        QTRY_COMPARE_WITH_TIMEOUT(room.model.ready().size(), 1, kSoon);
        const QTemporaryDir copies;  // of this run alone
        AttachmentModel later(room.counter, copies.path());
        later.alsoLookIn(room.kept.path());
        later.showConversation("one", room.model.kept());
        QTRY_VERIFY_WITH_TIMEOUT(!later.reading(), kSoon);
        QCOMPARE(later.failed(), 0);
        QCOMPARE(later.ready().value(0).text, "# text");
    }

    void aPasteBecomesAFile()
    {
        Room room;
        room.model.addText("Pasted text.txt", QString("line\n").repeated(1000));
        QTRY_COMPARE_WITH_TIMEOUT(room.at(0, AttachmentModel::StateRole), AttachmentModel::Ready, kSoon);
        QCOMPARE(room.at(0, AttachmentModel::KindRole), "text");
        QCOMPARE(room.at(0, AttachmentModel::BytesRole), 5000.0);
    }

    void endsWhileItReads()
    {
        auto room = std::make_unique<Room>();
        room->model.add({room->write("a.pdf", madePdf(400)), room->write("b.txt", "b")});
        room.reset();  // neither hangs nor speaks to what is gone
    }
};

SPILLWAY_TEST(QApplication, AttachmentsTest)
#include "tst_attachments.moc"
