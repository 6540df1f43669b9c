// Tests that conversations are written as JSON and Markdown and read again, and that damaged and hostile files are
// refused with a sentence.
#include "app/exchange/conversation_json.h"
#include "app/exchange/conversation_markdown.h"
#include "app/exchange/export_job.h"
#include "app/store/conversation_store.h"
#include "tests/support/conversations.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QUuid>

#include <functional>

#ifdef Q_OS_UNIX
#include <sys/stat.h>
#endif

namespace {

QByteArray file(const QList<StoredConversation>& conversations)
{
    QByteArray bytes = jsonBeginning();
    for (qsizetype i = 0; i < conversations.size(); ++i)
        bytes += (i > 0 ? ",\n" : "") + jsonOf(conversations[i]);
    return bytes + jsonEnd();
}

using Change = std::function<void(QJsonObject& root, QJsonObject& conversation, QJsonArray& messages)>;

/// A sound file with one thing wrong.
QByteArray spoilt(const Change& change)
{
    QJsonObject conversation = toJson(twoTurns("c", "Title"));
    QJsonArray messages = conversation["messages"].toArray();
    QJsonObject root{{"format", "spillway-conversations"}, {"version", 1}};
    change(root, conversation, messages);
    if (!conversation.contains("messages") || conversation["messages"].isArray())
        conversation["messages"] = messages;
    if (!root.contains("conversations"))
        root["conversations"] = QJsonArray{conversation};
    return QJsonDocument(root).toJson();
}

void setIn(QJsonArray& messages, int at, const char* name, const QJsonValue& value)
{
    QJsonObject message = messages[at].toObject();
    message[QLatin1String(name)] = value;
    messages[at] = message;
}

}  // namespace

Q_DECLARE_METATYPE(Change)

class TestExchange : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir folder;

    Imported imported(const QByteArray& bytes)
    {
        QFile out(folder.filePath("file"));
        if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size())
            return {{}, "the test could not write"};
        out.close();
        return importFile(out.fileName());
    }

private Q_SLOTS:
    void jsonKeepsEverything()
    {
        const StoredConversation whole = fullConversation("one");
        const Imported back = fromJson(QJsonDocument::fromJson(file({whole, twoTurns("two", "Second")})));
        QCOMPARE(back.error, "");
        QCOMPARE(back.conversations.size(), 2);
        StoredConversation expected = whole;
        Attachment& attachment = expected.messages[0].attachments[0];
        StoredConversation read = back.conversations[0];
        // The file itself does not travel.
        QCOMPARE(read.messages[0].attachments[0].text, attachment.text);
        attachment.id = attachment.sha256 = "";
        attachment.bytes = 0;
        read.header.id = expected.header.id;
        QCOMPARE(describe(read), describe(expected));
    }

    void anyTextSurvivesJson()
    {
        StoredConversation conversation =
            twoTurns("one", QString::fromUtf8("\"quotes\" \\ / 👩‍👩‍👧 مرحبا"));
        conversation.messages[0].text = QString("a") + QChar(0) + "\x01\r\n\t" + QChar(0x2028) + "</script>";
        const Imported back = fromJson(QJsonDocument::fromJson(file({conversation})));
        QCOMPARE(back.conversations[0].header.title, conversation.header.title);
        QCOMPARE(back.conversations[0].messages[0].text, conversation.messages[0].text);
    }

    void messagesGetIdsOfTheirOwn()
    {
        const QByteArray bytes = file({fullConversation("one")});
        const Imported first = imported(bytes);
        const Imported second = imported(bytes);
        QCOMPARE(first.error, "");
        const StoredConversation& a = first.conversations[0];
        const StoredConversation& b = second.conversations[0];
        QVERIFY(a.header.id != "one" && !QUuid(a.header.id).isNull());
        QCOMPARE(a.header.id, b.header.id);  // by which it is known the next time
        QVERIFY(a.messages[0].id != b.messages[0].id);
        QCOMPARE(a.messages[1].parent, a.messages[0].id);
        QCOMPARE(a.messages[4].parent, a.messages[0].id);  // the other version
        QCOMPARE(a.header.leaf, a.messages[3].id);
        QCOMPARE(a.messages[0].attachments[0].sha256.size(), 64);
        QVERIFY(a.messages[0].attachments[0].sha256 != QString(64, 'b'));  // nobody claims another file's place
    }

    void whatIsWrongIsSaid_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const char* says, const Change& change) {
            QTest::newRow(name) << spoilt(change) << says;
        };
        QTest::newRow("cut") << spoilt([](auto&, auto&, auto&) {}).chopped(20) << "not JSON";
        QTest::newRow("array") << QByteArray("[1, 2]") << "no conversations that Spillway can read";
        QTest::newRow("other json") << QByteArray("{\"chats\": []}") << "no conversations that Spillway can read";
        QTest::newRow("deep") << QByteArray(5000, '[') << "not JSON";
        QTest::newRow("deep object") << QByteArray("{\"a\":").repeated(5000) << "not JSON";
        row("newer", "newer version", [](auto& root, auto&, auto&) { root["version"] = 2; });
        row("no version", "version", [](auto& root, auto&, auto&) { root.remove("version"); });
        row("text as version", "version", [](auto& root, auto&, auto&) { root["version"] = "1"; });
        row("no list", "not a list", [](auto& root, auto&, auto&) { root["conversations"] = 5; });
        row("empty", "no conversations", [](auto& root, auto&, auto&) { root["conversations"] = QJsonArray(); });
        row("number as conversation", "not an object",
            [](auto& root, auto&, auto&) { root["conversations"] = QJsonArray{1}; });
        row("number as title", "'title'", [](auto&, auto& c, auto&) { c["title"] = 5; });
        row("long title", "'title' is too long", [](auto&, auto& c, auto&) { c["title"] = QString(100'000, 'x'); });
        row("text as messages", "'messages'", [](auto&, auto& c, auto&) { c["messages"] = "none"; });
        row("no role", "role", [](auto&, auto&, auto& m) { setIn(m, 1, "role", QJsonValue()); });
        row("system role", "role", [](auto&, auto&, auto& m) { setIn(m, 1, "role", "system"); });
        row("same id", "same id", [](auto&, auto&, auto& m) { setIn(m, 1, "id", "c-0"); });
        row("no id", "same id", [](auto&, auto&, auto& m) { setIn(m, 1, "id", ""); });
        row("own parent", "before the one it answers", [](auto&, auto&, auto& m) { setIn(m, 1, "parent", "c-1"); });
        row("circle", "before the one it answers", [](auto&, auto&, auto& m) { setIn(m, 0, "parent", "c-3"); });
        row("no such parent", "not there", [](auto&, auto&, auto& m) { setIn(m, 0, "parent", "elsewhere"); });
        row("number as text", "'text'", [](auto&, auto&, auto& m) { setIn(m, 0, "text", 1); });
        row("negative tokens", "'tokens'", [](auto&, auto&, auto& m) { setIn(m, 0, "tokens", -1); });
        row("huge tokens", "'tokens'", [](auto&, auto&, auto& m) { setIn(m, 0, "tokens", 1e300); });
        row("text as time", "'created_ms'", [](auto&, auto&, auto& m) { setIn(m, 0, "created_ms", "today"); });
        row("deep settings", "nested too deeply", [](auto&, auto& c, auto&) {
            QJsonValue value = 1;
            for (int i = 0; i < 100; ++i)
                value = QJsonObject{{"a", value}};
            c["template_arguments"] = value;
        });
        row("text as recording", "not a recording", [](auto&, auto& c, auto&) { c["recording"] = "none"; });
        row("another's recording", "not a recording", [](auto&, auto& c, auto&) {
            c["recording"] = QJsonObject{{"format", "spillway-recording"}};
        });
        row("attachment", "not an object", [](auto&, auto&, auto& m) { setIn(m, 0, "attachments", QJsonArray{"x"}); });
        for (const QJsonValue& kind : {QJsonValue("PDF"), QJsonValue("text2"), QJsonValue()})
            row(qPrintable("attachment of kind " + kind.toString()), kind.isNull() ? "'kind'" : "no known kind",
                [kind](auto&, auto&, auto& m) {
                    setIn(m, 0, "attachments", QJsonArray{QJsonObject{{"kind", kind}, {"text", "to be read"}}});
                });
        row("attachment of no kind", "no known kind", [](auto&, auto&, auto& m) {
            setIn(m, 0, "attachments", QJsonArray{QJsonObject{{"text", "to be read"}}});
        });
        QTest::newRow("zip") << QByteArray("PK\3\4rest") << "unpack it";
        QTest::newRow("empty file") << QByteArray() << "not a conversation";
        QTest::newRow("text") << QByteArray("Dear diary,\n\n# today\n") << "not a conversation";
        QTest::newRow("bytes") << QByteArray("\0\xff\xfe\x80", 4).repeated(1000) << "not a conversation";
    }
    void whatIsWrongIsSaid()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        const Imported back = imported(bytes);
        QVERIFY2(back.error.contains(says), qPrintable(back.error));
        QVERIFY(back.error.endsWith('.'));
        QVERIFY(back.conversations.isEmpty());
    }

    void whatIsUnknownIsPassedOver()
    {
        const Imported back = imported(spoilt([](auto& root, auto& c, auto& m) {
            root["future"] = 1;
            c["future"] = QJsonArray{1};
            c.remove("draft");
            setIn(m, 1, "status", "future");
        }));
        QCOMPARE(back.error, "");
        QCOMPARE(back.conversations[0].messages.size(), 4);
    }

    void markdownReadsWell()
    {
        const QByteArray text = toMarkdown(fullConversation("one"));
        QVERIFY(text.startsWith("# All there is\n\n## System\n\nBe kind.\n\n## User\n\nThe question\n```\ncode\n```"));
        QVERIFY(text.contains("> Attached: a report.pdf"));
        QVERIFY(text.contains("\n## Assistant (tiny)\n\n<think>hm</think>Yes."));
        QVERIFY(text.contains("\n\\## User\n"));  // of the message, not ours
        QVERIFY(!text.contains("No."));           // another version
    }

    void markdownComesBack()
    {
        StoredConversation conversation = fullConversation("one");
        conversation.messages[0].attachments.clear();
        conversation.messages[3].sentence.clear();
        conversation.messages[2].text = "\\## User\n\\\\## Assistant (x)\n  ## User\n#### User";
        const Imported back = imported(toMarkdown(conversation));
        QCOMPARE(back.error, "");
        const StoredConversation& read = back.conversations[0];
        QCOMPARE(read.header.title, "All there is");
        QCOMPARE(read.header.settings.systemPrompt, "Be kind.");
        QCOMPARE(read.messages.size(), 4);
        for (int i = 0; i < 4; ++i) {
            QCOMPARE(read.messages[i].text, conversation.messages[i].text.trimmed());
            QCOMPARE(read.messages[i].role, conversation.messages[i].role);
            QCOMPARE(read.messages[i].parent, i > 0 ? read.messages[i - 1].id : "");
        }
        QCOMPARE(read.messages[1].model, "tiny");
        QCOMPARE(read.header.leaf, read.messages[3].id);
    }

    void markdownFromElsewhere()
    {
        const Imported back =
            imported("\xEF\xBB\xBF# Notes\r\n\r\n## User\r\nHello\r\n\r\n## Assistant\r\n\r\nHi\r\n## Users\r\n");
        QCOMPARE(back.error, "");
        QCOMPARE(back.conversations[0].messages.size(), 2);
        QCOMPARE(back.conversations[0].messages[0].text, "Hello");
        QCOMPARE(back.conversations[0].messages[1].text, "Hi\n## Users");
    }

    void aMarkOfUtf8IsPassedOver()
    {
        const Imported back = imported("\xEF\xBB\xBF" + file({twoTurns("one", "One")}));
        QCOMPARE(back.error, "");
        QCOMPARE(back.conversations.size(), 1);
        QCOMPARE(back.conversations[0].header.title, "One");
    }

    void tooLarge()
    {
        QFile large(folder.filePath("large"));
        QVERIFY(large.open(QIODevice::WriteOnly) && large.resize(300LL * 1024 * 1024));  // a hole
        large.close();
        QVERIFY(importFile(large.fileName()).error.contains("256 MB"));
        QVERIFY(importFile(folder.path()).error.contains("cannot be read"));
    }

    void aPipeIsNotWaitedFor()
    {
#ifndef Q_OS_UNIX
        QSKIP("has no pipes with names");
#else
        const QString pipe = folder.filePath("pipe");
        QCOMPARE(mkfifo(QFile::encodeName(pipe).constData(), 0600), 0);
        const QString error = importFile(pipe).error;
        QVERIFY2(error.contains("not an ordinary file"), qPrintable(error));
#endif
    }

    void aLargeExportBecomesSeveralFiles()
    {
        const QTemporaryDir place;
        ConversationStore store(place.filePath("data"));
        QStringList all;
        for (int i = 0; i < 5; ++i) {
            all << QString("c%1").arg(i);
            store.saveAll(twoTurns(all.last(), "T", QString(i == 3 ? 90'000 : 20'000, 'x')));
        }
        QFile taken(place.filePath("all.b (2).json"));
        QVERIFY(taken.open(QIODevice::WriteOnly) && taken.write("mine") == 4);
        taken.close();
        ExportJob job(store, all, ExportJob::Format::Json, place.filePath("all.b.json"), nullptr, 100'000);
        const QSignalSpy done(&job, &ExportJob::done);
        QTRY_COMPARE(done.size(), 1);
        QCOMPARE(done[0][0].toInt(), 5);
        QVERIFY(job.tooLargeToImport());  // the fourth
        QStringList found;
        for (const char* name : {"all.b.json", "all.b (3).json", "all.b (4).json", "all.b (5).json"}) {
            const Imported back = importFile(place.filePath(name));
            QCOMPARE(back.error, "");
            found << QString::number(back.conversations.size());
            QVERIFY(back.conversations.size() == 1 || QFileInfo(place.filePath(name)).size() <= 100'000);
        }
        QCOMPARE(found.join(' '), "2 1 1 1");
        QVERIFY(taken.open(QIODevice::ReadOnly) && taken.readAll() == "mine");
    }

    void fileNames_data()
    {
        QTest::addColumn<QString>("title");
        QTest::addColumn<QString>("name");
        QTest::newRow("plain") << "A title"
                               << "A title";
        QTest::newRow("path") << "../../etc/passwd"
                              << "etc passwd";
        QTest::newRow("dots") << ".."
                              << "Conversation";
        QTest::newRow("empty") << ""
                               << "Conversation";
        QTest::newRow("windows") << "a:b*c?\"<>|d"
                                 << "a b c d";
        QTest::newRow("lines") << "one\ntwo"
                               << "one two";
        QTest::newRow("control characters") << QString::fromUtf8("a\x07"
                                                                 "b\xc2\x85"
                                                                 "c")
                                            << "a b c";
        QTest::newRow("end") << "To be continued. . ."
                             << "To be continued";
        for (const char* const device : {"CON", "con", "Prn", "aux", "NUL", "com1", "LPT9", "COM¹", "lpt²", "com³",
                                         "con.txt", "nul.tar.gz", "aux .md", "CONIN$"})
            QTest::addRow("device %s", device) << QString::fromUtf8(device) << QString::fromUtf8(device).prepend('_');
        for (const char* const plain : {"Console", "con man", "Nullable", "com10", "lpt", "My aux"})
            QTest::addRow("no device %s", plain) << QString(plain) << QString(plain);
        QTest::newRow("device at the end of a cut") << "con" + QString(80, '.') << "_con";
        QTest::newRow("device behind a path") << "../con"
                                              << "_con";
        QTest::newRow("long") << QString(500, 'x') << QString(60, 'x');
        QTest::newRow("emoji") << QString::fromUtf8("👍").repeated(40) << QString::fromUtf8("👍").repeated(30);
    }
    void fileNames()
    {
        QFETCH(QString, title);
        QFETCH(QString, name);
        QCOMPARE(ExportJob::fileName(title), name);
    }
};

SPILLWAY_TEST(QCoreApplication, TestExchange)
#include "tst_exchange.moc"
