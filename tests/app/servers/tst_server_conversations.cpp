// Tests that a conversation moves to a model on a server and back, that a server writes several answers at the same
// time, and that what has come of an answer stays where the server vanishes.
#include "tests/app/servers/servers_case.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>

using support::LookAlike;
using support::WebAnswer;
using test_support::List;
using test_support::Talk;
using test_support::urlOf;

namespace {

/// Answers a word with the same word ten times, in pieces. The answer to "bad" breaks off in the middle.
WebAnswer repeatSlowly(const support::WebRequest& request)
{
    if (request.method != "POST")
        return {200, {}, "{\"data\":[{\"id\":\"org/model\"}]}"};
    const std::string word = nlohmann::json::parse(request.body)["messages"].back()["content"];
    WebAnswer answer = LookAlike::stream(std::vector<std::string>(10, LookAlike::content(word + ' ')));
    answer.piece_bytes = int(answer.body.size() / 12);
    answer.pause_ms = 120;
    if (word == "bad") {
        answer.end = WebAnswer::End::Reset;
        answer.sent_bytes = std::int64_t(answer.body.size() / 2);
    }
    return answer;
}

/// A conversation whose model is on a server that takes its time.
struct SlowTalk {
    SlowTalk()
    {
        list.add("tower", urlOf(server));
        server.server().answer_by(repeatSlowly);
        talk.open(list.path());
    }
    LookAlike server;
    List list;
    Talk talk{list};
};

}  // namespace

class TestServerConversations : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void aConversationMovesThereAndBack()
    {
        LookAlike server;
        List list;
        list.add("tower", urlOf(server));
        Talk talk(list);
        talk.open("/here.gguf");
        talk.say("first");
        QCOMPARE(talk.lastText(), QString("one two three"));

        server.says(LookAlike::stream({"{\"reasoning_content\":\"Hm\"}", LookAlike::content("From there")}, "stop",
                                      "{\"prompt_tokens\":20,\"completion_tokens\":5}"));
        talk.open(list.path());
        QCOMPARE(talk.models.error(), QString());
        talk.say("second");
        QCOMPARE(talk.last(MessageModel::ModelNameRole).toString(), QString("org/model"));
        QVERIFY(talk.lastText().contains("From there"));
        QCOMPARE(talk.last(MessageModel::PromptTokensRole).toInt(), 20);
        QCOMPARE(talk.last(MessageModel::OwnTokensRole).toInt(), 5);
        const auto sent = server.chats().back();
        QCOMPARE(sent["messages"].size(), std::size_t(3));
        QCOMPARE(sent["messages"][1]["content"].get<std::string>(), std::string("one two three"));

        server.says(LookAlike::stream({LookAlike::content("Another")}));
        talk.chat.turn()->regenerate(talk.lastId());
        QTRY_VERIFY(!talk.chat.turn()->busy());
        QCOMPARE(talk.lastText(), QString("Another"));
        QCOMPARE(talk.chat.messages()->count(), 4);  // a version beside the first

        talk.open("/here.gguf");
        talk.say("third");
        const auto back = talk.script->requests().back().messages;
        QCOMPARE(back.size(), std::size_t(5));
        QCOMPARE(back[3].text, std::string("Another"));
        QCOMPARE(talk.lastText(), QString("one two three"));
    }

    void conversationsAreAnsweredAtTheSameTime()
    {
        SlowTalk slow;
        Talk& talk = slow.talk;
        const QSignalSpy ended(&talk.turns, &TurnRunner::turnEnded);
        QStringList ids;
        for (const char* word : {"one", "bad", "three"}) {
            talk.chat.newConversation();
            QVERIFY(talk.chat.turn()->send(word));
            ids.append(talk.chat.conversationId());
        }
        QTRY_VERIFY(talk.lastText().startsWith("three"));
        QCOMPARE(talk.chat.turn()->countElsewhere(), 2);
        QVERIFY(ended.empty());
        QElapsedTimer timer;
        timer.start();
        talk.chat.turn()->stop();
        QVERIFY(QTest::qWaitFor([&] { return !talk.chat.turn()->busy(); }));
        QVERIFY2(timer.elapsed() < 700, qPrintable(QString::number(timer.elapsed())));
        QTRY_COMPARE(ended.size(), 3);
        using Status = StoredMessage::Status;
        const auto answer = [&](int i) { return talk.store.conversation(ids[i])->messages.value(1); };
        QCOMPARE(answer(0).text, QStringLiteral("one ").repeated(10));
        QCOMPARE(answer(0).status, Status::Complete);
        QVERIFY(answer(1).text.startsWith("bad ") && answer(1).text.size() < 40);
        QCOMPARE(answer(1).status, Status::Failed);
        QVERIFY(!answer(1).sentence.isEmpty());
        QVERIFY(answer(2).text.startsWith("three ") && answer(2).text.size() < 60);
        QCOMPARE(answer(2).status, Status::Stopped);
        QVERIFY(talk.models.current().known());  // one that fails does not close the model
    }

    void versionsAreMadeAtTheSameTime()
    {
        SlowTalk slow;
        Talk& talk = slow.talk;
        talk.say("word");
        const std::size_t before = slow.server.server().requests().size();
        talk.chat.turn()->regenerateTogether(talk.lastId(), 3);
        QTRY_COMPARE(slow.server.server().requests().size(), before + 3);
        QVERIFY(talk.chat.turn()->busy());  // none of them has ended yet
        QTRY_VERIFY(!talk.chat.turn()->busy());
        const StoredConversation stored = *talk.store.conversation(talk.chat.conversationId());
        QCOMPARE(stored.messages.size(), 5);
        for (const StoredMessage& message : stored.messages.mid(1)) {
            QCOMPARE(message.text, QStringLiteral("word ").repeated(10));
            QCOMPARE(message.status, StoredMessage::Status::Complete);
        }
    }

    void aServerThatVanishesLeavesTheText()
    {
        auto server = std::make_unique<LookAlike>();
        List list;
        list.add("tower", urlOf(*server));
        Talk talk(list);
        talk.open(list.path());
        WebAnswer broken = LookAlike::stream({LookAlike::content("The beginning")}, "");
        broken.sent_bytes = std::int64_t(broken.body.size());
        broken.body += "data: x";
        broken.end = WebAnswer::End::Close;
        server->says(broken);
        talk.say("go");
        QCOMPARE(talk.lastText(), QString("The beginning"));
        QCOMPARE(MessageModel::Status(talk.last(MessageModel::StatusRole).toInt()), MessageModel::Failed);
        QVERIFY(talk.last(MessageModel::CanContinueRole).toBool());
        QVERIFY(talk.models.current().known());  // it may be back at once

        // There is a way to go on there...
        server->says(LookAlike::stream({LookAlike::content(" and more")}, ""));
        talk.chat.turn()->continueAnswer(talk.lastId());
        QTRY_VERIFY(!talk.chat.turn()->busy());
        QCOMPARE(talk.lastText(), QString("The beginning and more"));
        QCOMPARE(server->chats().back()["messages"].back()["content"].get<std::string>(), std::string("The beginning"));
        // ...and here.
        server.reset();
        talk.open("/here.gguf");
        talk.chat.turn()->continueAnswer(talk.lastId());
        QTRY_VERIFY(!talk.chat.turn()->busy());
        QCOMPARE(talk.lastText(), QString("The beginning and moreone two three"));
        QVERIFY(talk.script->requests().back().continue_last);
        QCOMPARE(MessageModel::Status(talk.last(MessageModel::StatusRole).toInt()), MessageModel::Complete);
        QCOMPARE(talk.last(MessageModel::ModelNameRole).toString(), QString("org/model, here"));  // both wrote it
    }

    void aServerThatIsNotThereIsASentence()
    {
        List list;
        QString path;
        {
            LookAlike server;
            list.add("tower", urlOf(server));
            path = list.path();
        }
        Talk talk(list);
        talk.open(path);
        QVERIFY2(talk.models.error().contains("refuses the connection"), qPrintable(talk.models.error()));
        QVERIFY(talk.models.canRetry());
        list.servers->remove(list.servers->all().value(0).url);
        talk.open(path);
        QVERIFY(talk.models.error().contains("none of your servers"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestServerConversations)
#include "tst_server_conversations.moc"
