// Tests that ChatGPT's exports are read with their versions and thoughts, and that files which only look like one are
// refused.
#include "tests/app/exchange/imported_case.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace {

QJsonObject node(const QJsonValue& parent, const QString& role, const QString& text, const QJsonArray& children = {})
{
    return {{"parent", parent},
            {"children", children},
            {"message", QJsonObject{{"author", QJsonObject{{"role", role}}},
                                    {"content", QJsonObject{{"content_type", "text"}, {"parts", QJsonArray{text}}}}}}};
}

QByteArray file(const QJsonObject& mapping, const QString& shown = {})
{
    const QJsonObject conversation{{"title", "T"}, {"mapping", mapping}, {"current_node", shown}, {"id", "one"}};
    return QJsonDocument(QJsonArray{conversation}).toJson(QJsonDocument::Compact);
}

}  // namespace

class TestChatGpt : public test_support::ImportedCase
{
    Q_OBJECT

private Q_SLOTS:
    void everythingIsThere()
    {
        const Imported all = fromData("chatgpt.json");
        QCOMPARE(all.error, "");
        QCOMPARE(all.conversations.size(), 2);  // one has no messages
        QCOMPARE(all.leftOut, 2);               // a picture and a call
        const StoredConversation& first = all.conversations[0];
        QCOMPARE(first.header.title, "Legs of a bee");
        QVERIFY(first.header.titleByUser);
        QCOMPARE(first.header.settings.systemPrompt, "I keep bees.\n\nBe brief.");
        QCOMPARE(first.header.createdMs, 1'757'000'000'100);
        QCOMPARE(first.header.changedMs, 1'757'000'300'500);
        QCOMPARE(outline(first),
                 "0<- user: How many legs has a bee?\n"
                 "1<0 assistant: <think>|Counting legs||Bees are insects.||Six it is|</think>||A bee has **six** "
                 "legs.\n"
                 "2<1 user: And a spider?\n"
                 "3<2 assistant: Eight.\n"
                 "4<1 user: And a crab? *\n"
                 "5<4 assistant: Ten, with its claws.\n"
                 "6<4 assistant: Ten.");
        QCOMPARE(first.messages[1].reasoningMs, 8000.0);
        QCOMPARE(first.messages[1].model, "gpt-5-thinking");
        QCOMPARE(first.messages[1].createdMs, 1'757'000'012'500);
        QCOMPARE(outline(all.conversations[1]), "0<- user: […]||What is in this picture?\n"
                                                "1<0 assistant: A hive.\n"
                                                "2<1 user: Thank you. *");
        QCOMPARE(all.conversations[1].header.title, "What is in this picture?");  // it had none
        QVERIFY(!all.conversations[1].header.titleByUser);
        QCOMPARE(all.conversations[1].header.changedMs, 1'757'100'002'000);
    }

    void theSameIsKnownAgain()
    {
        const Imported once = fromData("chatgpt.json");
        const Imported again = fromData("chatgpt.json");
        for (int i = 0; i < 2; ++i)
            QCOMPARE(once.conversations[i].header.id, again.conversations[i].header.id);
        QVERIFY(once.conversations[0].header.id != once.conversations[1].header.id);
        QVERIFY(once.conversations[0].messages[0].id != again.conversations[0].messages[0].id);
    }

    void treesThatAreNone_data()
    {
        QTest::addColumn<QJsonObject>("mapping");
        QTest::addColumn<QString>("expected");
        QTest::newRow("children alone") << QJsonObject{{"a", node({}, "user", "A", {"c", "b"})},
                                                       {"b", node({}, "assistant", "B")},
                                                       {"c", node({}, "assistant", "C")}}
                                        << "0<- user: A\n1<0 assistant: C\n2<0 assistant: B *";
        QTest::newRow("parents alone") << QJsonObject{{"a", node({}, "user", "A")}, {"b", node("a", "assistant", "B")}}
                                       << "0<- user: A\n1<0 assistant: B *";
        QTest::newRow("circle") << QJsonObject{{"a", node("b", "user", "A", {"b"})},
                                               {"b", node("a", "assistant", "B", {"a"})}}
                                << "0<- user: A\n1<0 assistant: B *";
        QTest::newRow("own parent") << QJsonObject{{"a", node("a", "user", "A", {"a"})}} << "0<- user: A *";
        QTest::newRow("lost") << QJsonObject{{"a", node("nobody", "user", "A", {"nobody"})}} << "0<- user: A *";
        QTest::newRow("branch in an answer") << QJsonObject{{"a", node({}, "user", "A", {"b"})},
                                                            {"b", node("a", "assistant", "B", {"c", "d"})},
                                                            {"c", node("b", "assistant", "C")},
                                                            {"d", node("b", "assistant", "D")}}
                                             << "0<- user: A\n1<0 assistant: B\n2<1 assistant: C\n3<1 assistant: D *";
    }
    void treesThatAreNone()
    {
        QFETCH(QJsonObject, mapping);
        QFETCH(QString, expected);
        const Imported all = imported(file(mapping));
        QCOMPARE(all.error, "");
        QCOMPARE(outline(all.conversations.value(0)), expected);
    }

    void theNodeThatIsShown()
    {
        const QJsonObject mapping{{"a", node({}, "user", "A", {"b", "c"})},
                                  {"b", node("a", "assistant", "B", {"t"})},
                                  {"c", node("a", "assistant", "C")},
                                  {"t", node("b", "tool", "what it found")}};
        QCOMPARE(outline(imported(file(mapping, "t")).conversations[0]),
                 "0<- user: A\n1<0 assistant: B *\n2<0 assistant: C");
    }

    void aQuestionWithoutWords_data()
    {
        QTest::addColumn<QJsonArray>("attachments");
        QTest::addColumn<QString>("middle");
        QTest::addColumn<int>("leftOut");
        QTest::newRow("a file") << QJsonArray{QJsonObject{{"name", "a.pdf"}, {"mime_type", "application/pdf"}}}
                                << "2<1 user: […]\n3<2 assistant: C *" << 1;
        QTest::newRow("nothing") << QJsonArray{} << "2<1 assistant: C *" << 0;
        QTest::newRow("a picture") << QJsonArray{QJsonObject{{"name", "a.png"}, {"mimeType", "image/png"}}}
                                   << "2<1 assistant: C *" << 0;  // which is a part, too
        QTest::newRow("wrong") << QJsonArray{5, QJsonArray()} << "2<1 user: […]||[…]\n3<2 assistant: C *" << 2;
    }
    void aQuestionWithoutWords()
    {
        QFETCH(QJsonArray, attachments);
        QFETCH(QString, middle);
        QFETCH(int, leftOut);
        QJsonObject question = node("b", "user", "", {"d"});
        QJsonObject message = question["message"].toObject();
        message["metadata"] = QJsonObject{{"attachments", attachments}};
        question["message"] = message;
        const Imported all = imported(file({{"a", node({}, "user", "A", {"b"})},
                                            {"b", node("a", "assistant", "B", {"c"})},
                                            {"c", question},
                                            {"d", node("c", "assistant", "C")}}));
        QCOMPARE(outline(all.conversations.value(0)), "0<- user: A\n1<0 assistant: B\n" + middle);
        QCOMPARE(all.leftOut, leftOut);
    }

    void wrongTypesEverywhere()
    {
        const QJsonObject sound = node({}, "user", "A");
        const QList<QJsonValue> wrong{QJsonValue(),   5,
                                      -1e300,         true,
                                      "text",         QJsonArray{},
                                      QJsonArray{{}}, QJsonObject{},
                                      1e300,          QJsonArray{1, "x", QJsonObject{}}};
        for (const QJsonValue& value : wrong) {
            for (const char* at : {"parent", "children", "message"}) {
                QJsonObject spoilt = sound;
                spoilt[QLatin1String(at)] = value;
                const Imported all = imported(file({{"a", sound}, {"b", spoilt}}));
                QCOMPARE(all.error, "");
                QCOMPARE(all.conversations.size(), 1);
            }
            for (const char* at : {"author", "content", "create_time", "metadata", "recipient"}) {
                QJsonObject spoilt = sound;
                QJsonObject message = sound["message"].toObject();
                message[QLatin1String(at)] = value;
                spoilt["message"] = message;
                QCOMPARE(imported(file({{"a", sound}, {"b", spoilt}})).error, "");
            }
            QJsonObject conversation{{"mapping", QJsonObject{{"a", sound}}}};
            for (const char* at : {"title", "create_time", "update_time", "current_node", "conversation_id"})
                conversation[QLatin1String(at)] = value;
            const Imported all = imported(QJsonDocument(QJsonArray{value, conversation}).toJson());
            QCOMPARE(all.error, "");
            QCOMPARE(all.conversations.size(), 1);
            QCOMPARE(all.leftOut, 1);
            QVERIFY(all.conversations[0].header.changedMs <= QDateTime::currentMSecsSinceEpoch());
        }
    }

    void aLongChain()
    {
        const int length = 100'000;
        // As text: a QJsonObject moves half of its members with each that is inserted.
        QByteArray mapping = R"({"n0":{"parent":null})";
        for (int i = 1; i < length; ++i) {
            const QJsonObject said = node(QStringLiteral("n%1").arg(i - 1), "assistant", "x");
            mapping += ",\"n" + QByteArray::number(i) + "\":" + QJsonDocument(said).toJson(QJsonDocument::Compact);
        }
        const Imported all = imported(R"([{"title":"T","id":"one","current_node":"","mapping":)" + mapping + "}}]");
        QCOMPARE(all.error, "");
        QCOMPARE(all.conversations[0].messages.size(), 1);
        QCOMPARE(all.conversations[0].messages[0].text.size(), 3 * (length - 1) - 2);
    }

    void tooManyNodes()
    {
        QByteArray bytes = "{\"mapping\":{\"n\":1";
        for (int i = 0; i < 1'000'001; ++i)
            bytes += ",\"" + QByteArray::number(i, 36) + "\":1";
        const Imported all = imported(bytes + "}}");
        QVERIFY2(all.error.contains("too many messages"), qPrintable(all.error));
    }

    void notEvenText()
    {
        const Imported all = imported("[{\"mapping\":{\"a\":{\"message\":\"\xff\xfe\"}}}]");
        QVERIFY2(all.error.contains("damaged"), qPrintable(all.error));
        const Imported none = imported("[{\"mapping\":{}}]");
        QVERIFY2(none.error.contains("no conversations"), qPrintable(none.error));
    }

    void itStops()
    {
        std::stop_source stop;
        stop.request_stop();
        const Imported none = importFile(SPILLWAY_SOURCE_DIR "/tests/data/imports/chatgpt.json", stop.get_token());
        QVERIFY(none.conversations.isEmpty() && none.error.isEmpty());
    }
};

SPILLWAY_TEST(QCoreApplication, TestChatGpt)
#include "tst_chatgpt.moc"
