// Tests that LM Studio's conversations are read with their versions, thoughts and tools, and that files which only look
// like one are refused.
#include "tests/app/exchange/imported_case.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace {

QJsonObject version(const QString& role, const QString& text)
{
    return {{"role", role}, {"content", QJsonArray{QJsonObject{{"type", "text"}, {"text", text}}}}};
}

QByteArray chatFile(const QJsonArray& messages)
{
    return QJsonDocument(QJsonObject{{"name", "T"}, {"messages", messages}}).toJson();
}

QJsonObject chatMessage(const QJsonArray& versions, const QJsonValue& selected = 0)
{
    return {{"versions", versions}, {"currentlySelected", selected}};
}

}  // namespace

class TestLmStudio : public test_support::ImportedCase
{
    Q_OBJECT

private Q_SLOTS:
    void everythingIsThere()
    {
        const Imported all = fromData("lm-studio.conversation.json");
        QCOMPARE(all.error, "");
        QCOMPARE(all.conversations.size(), 1);
        QCOMPARE(all.leftOut, 3);  // a picture, a call and its result
        const StoredConversation& one = all.conversations[0];
        QCOMPARE(one.header.title, "Sails and knots");
        QVERIFY(one.header.titleByUser && one.header.pinned);
        QCOMPARE(one.header.settings.systemPrompt, "You sail.");
        QCOMPARE(one.header.createdMs, 1'757'000'000'000);
        QCOMPARE(one.header.changedMs, 1'757'000'300'000);
        QCOMPARE(outline(one), "0<- user: Which knot?\n"
                               "1<- user: […]||Which knot is this?\n"
                               "2<1 assistant: <think>|A loop.|</think>||A **bowline**.\n"
                               "3<1 assistant: Cannot say.\n"
                               "4<2 user: Thanks *");
        QCOMPARE(one.messages[2].model, "sailor-7b@q4");
        QCOMPARE(one.messages[3].model, "sailor-7b");
    }

    void theSameIsKnownAgain()
    {
        const QString once = fromData("lm-studio.conversation.json").conversations[0].header.id;
        QCOMPARE(fromData("lm-studio.conversation.json").conversations[0].header.id, once);
        const Imported other = imported(chatFile({chatMessage({version("user", "A")})}));
        QVERIFY(other.conversations[0].header.id != once);
    }

    void theSystemPromptOfTheChat_data()
    {
        QTest::addColumn<QJsonObject>("more");
        QTest::addColumn<QString>("prompt");
        const QJsonObject config{
            {"fields", QJsonArray{QJsonObject{{"key", "llm.prediction.temperature"}, {"value", 0.7}},
                                  QJsonObject{{"key", "llm.prediction.systemPrompt"}, {"value", "You teach."}}}}};
        QTest::newRow("among the settings")
            << QJsonObject{{"systemPrompt", ""}, {"perChatPredictionConfig", config}} << "You teach.";
        QTest::newRow("of an older version")
            << QJsonObject{{"systemPrompt", "You sail."}, {"perChatPredictionConfig", config}} << "You sail.";
        QTest::newRow("not in use") << QJsonObject{{"usePerChatPredictionConfig", false},
                                                   {"perChatPredictionConfig", config}}
                                    << "";
        QTest::newRow("wrong") << QJsonObject{{"perChatPredictionConfig", QJsonObject{{"fields", QJsonArray{5, {}}}}}}
                               << "";
    }
    void theSystemPromptOfTheChat()
    {
        QFETCH(QJsonObject, more);
        QFETCH(QString, prompt);
        more["messages"] = QJsonArray{chatMessage({version("user", "A")})};
        const Imported all = imported(QJsonDocument(more).toJson());
        QCOMPARE(all.conversations.value(0).header.settings.systemPrompt, prompt);
    }

    void selectionsThatAreNone_data()
    {
        QTest::addColumn<QJsonValue>("selected");
        for (const int selected : {-1, 2, 2'000'000'000})
            QTest::addRow("%d", selected) << QJsonValue(selected);
        QTest::newRow("text") << QJsonValue("1");
        QTest::newRow("null") << QJsonValue();
    }
    void selectionsThatAreNone()
    {
        QFETCH(QJsonValue, selected);
        const QJsonArray both{version("user", "A"), version("user", "B")};
        const Imported all =
            imported(chatFile({chatMessage(both, selected), chatMessage({version("assistant", "C")})}));
        QCOMPARE(outline(all.conversations.value(0)), "0<- user: A\n1<- user: B\n2<0 assistant: C *");
    }

    void wrongTypesEverywhere()
    {
        const QList<QJsonValue> wrong{QJsonValue(), 5, true, "text", QJsonArray{5, {}}, QJsonObject{{"type", 5}}};
        for (const QJsonValue& value : wrong) {
            const QJsonObject sound = chatMessage({version("user", "A")});
            for (const char* at : {"role", "content", "steps", "senderInfo"}) {
                QJsonObject spoilt = version("assistant", "B");
                spoilt[QLatin1String(at)] = value;
                const Imported all = imported(chatFile({sound, value, chatMessage({spoilt, value})}));
                QCOMPARE(all.error, "");
                QCOMPARE(all.conversations.size(), 1);
            }
        }
        const Imported none = imported(chatFile({chatMessage({version("tool", "A")})}));
        QVERIFY2(none.error.contains("no conversations"), qPrintable(none.error));
    }
};

SPILLWAY_TEST(QCoreApplication, TestLmStudio)
#include "tst_lm_studio.moc"
