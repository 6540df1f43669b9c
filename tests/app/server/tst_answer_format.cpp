// Tests that answers keep to the JSON, schema or grammar that a client asks for, in each dialect, with the guide model
// behind it.
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>

using server_test::RunningServer;

namespace {

const QJsonArray kAsked{QJsonObject{{"role", "user"}, {"content", "What is a KV cache?"}}};

/// {"fast": true or false, "kind": "vram" or "ram"}
const QJsonObject kSchema{{"type", "object"},
                          {"properties", QJsonObject{{"fast", QJsonObject{{"type", "boolean"}}},
                                                     {"kind", QJsonObject{{"enum", QJsonArray{"vram", "ram"}}}}}},
                          {"required", QJsonArray{"fast", "kind"}},
                          {"additionalProperties", false}};

bool fits(const QString& text)
{
    const QJsonObject json = QJsonDocument::fromJson(text.toUtf8()).object();
    const QString kind = json["kind"].toString();
    return json.size() == 2 && json["fast"].isBool() && (kind == "vram" || kind == "ram");
}

QJsonObject chat(const QJsonObject& more)
{
    QJsonObject body{{"messages", kAsked}, {"max_tokens", 200}, {"temperature", 1}};
    for (auto at = more.begin(); at != more.end(); ++at)
        body[at.key()] = at.value();
    return body;
}

QString content(const QJsonObject& json)
{
    return json["choices"].toArray().first().toObject()["message"].toObject()["content"].toString();
}

}  // namespace

class TestAnswerFormat : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void chatsHoldToASchema_data()
    {
        QTest::addColumn<QJsonObject>("asked");
        const QJsonObject named{{"name", "x"}, {"strict", true}, {"schema", kSchema}};
        QTest::newRow("OpenAI's") << QJsonObject{
            {"response_format", QJsonObject{{"type", "json_schema"}, {"json_schema", named}}}};
        QTest::newRow("beside json_object")
            << QJsonObject{{"response_format", QJsonObject{{"type", "json_object"}, {"schema", kSchema}}}};
        QTest::newRow("llama-server's") << QJsonObject{{"json_schema", kSchema}};
    }

    void chatsHoldToASchema()
    {
        QFETCH(QJsonObject, asked);
        const auto answer = guide_.post("/v1/chat/completions", chat(asked));
        QCOMPARE(answer.status, 200);
        QVERIFY2(fits(content(answer.json())), answer.body);
        QCOMPARE(answer.json()["choices"].toArray().first().toObject()["finish_reason"].toString(), QString("stop"));

        QJsonObject streamed = chat(asked);
        streamed["stream"] = true;
        QString text;
        for (const QByteArray& event : guide_.post("/v1/chat/completions", streamed).events()) {
            const auto choices = QJsonDocument::fromJson(event).object()["choices"].toArray();
            text += choices.first().toObject()["delta"].toObject()["content"].toString();
        }
        QVERIFY2(fits(text), qPrintable(text));
    }

    void anyObjectWillDo()
    {
        QJsonObject body = chat({{"response_format", QJsonObject{{"type", "json_object"}}}});
        body["max_tokens"] = 400;
        body["temperature"] = 0;
        const auto json = guide_.post("/v1/chat/completions", body).json();
        QVERIFY(content(json).startsWith('{'));
        if (json["choices"].toArray().first().toObject()["finish_reason"].toString() == "stop")
            QVERIFY(QJsonDocument::fromJson(content(json).toUtf8()).isObject());
    }

    void aGrammarIsFollowed()
    {
        const QJsonObject grammar{{"grammar", "root ::= \"It is \" (\"full\" | \"empty\") \".\""}};
        const QString text = content(guide_.post("/v1/chat/completions", chat(grammar)).json());
        QVERIFY2(text == "It is full." || text == "It is empty.", qPrintable(text));

        QJsonObject completion = grammar;
        completion["prompt"] = "The cache";
        const auto choice = guide_.post("/v1/completions", completion).json()["choices"].toArray().first().toObject();
        QVERIFY(choice["text"].toString().startsWith("It is "));
    }

    void otherDialectsHoldToASchema()
    {
        const QJsonObject format{{"type", "json_schema"}, {"name", "x"}, {"schema", kSchema}};
        const auto response =
            guide_.post("/v1/responses", {{"input", "What is a KV cache?"}, {"text", QJsonObject{{"format", format}}}});
        QCOMPARE(response.status, 200);
        QString text;
        for (const auto item : response.json()["output"].toArray())
            for (const auto part : item.toObject()["content"].toArray())
                text += part.toObject()["text"].toString();
        QVERIFY2(fits(text), response.body);
        QCOMPARE(response.json()["text"].toObject()["format"].toObject()["type"].toString(), QString("json_schema"));

        const QJsonObject wanted{{"type", "json_schema"}, {"schema", kSchema}};
        for (const QJsonObject& more :
             {QJsonObject{{"output_config", QJsonObject{{"format", wanted}, {"effort", "high"}}}},
              QJsonObject{{"output_format", wanted}}}) {
            QJsonObject asked = more;
            asked["messages"] = kAsked;
            asked["max_tokens"] = 200;
            const auto message = guide_.post("/v1/messages", asked);
            QVERIFY2(fits(message.json()["content"].toArray().first().toObject()["text"].toString()), message.body);
        }

        const auto ollama =
            guide_.post("/api/chat", {{"messages", kAsked}, {"stream", false}, {"format", kSchema}}).json();
        QVERIFY(fits(ollama["message"].toObject()["content"].toString()));
        const QJsonObject any{
            {"prompt", "x"}, {"stream", false}, {"format", "json"}, {"options", QJsonObject{{"num_predict", 5}}}};
        QVERIFY(guide_.post("/api/generate", any).json()["response"].toString().startsWith('{'));
    }

    void whatCannotBeFollowedIsNamed_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QJsonObject>("asked");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* path, const QJsonObject& asked, const char* sentence) {
            QTest::addRow("%s", sentence) << QString(path) << asked << QString(sentence);
        };
        const char* openai = "/v1/chat/completions";
        const QJsonObject bad{{"not", QJsonObject()}};
        row(openai, {{"response_format", QJsonObject{{"type", "json_schema"}}}}, "'response_format' has no schema");
        row(openai, {{"json_schema", bad}}, "'json_schema' cannot be followed: the schema's 'not' is not supported");
        row(openai, {{"grammar", "root ::= a"}},
            "'grammar' cannot be followed: line 1 of the grammar: there is no rule 'a'");
        row(openai, {{"grammar", "root ::= \"a\""}, {"json_schema", kSchema}},
            "'grammar' cannot be given together with a schema");
        const QJsonObject function{{"name", "f"}, {"parameters", QJsonObject()}};
        row(openai,
            {{"grammar", "root ::= \"a\""},
             {"tools", QJsonArray{QJsonObject{{"type", "function"}, {"function", function}}}}},
            "'grammar' is not supported together with tools");
        const QJsonObject unknown{{"strict", true}, {"schema", QJsonObject{{"type", "string"}, {"format", "iri"}}}};
        row(openai, {{"response_format", QJsonObject{{"type", "json_schema"}, {"json_schema", unknown}}}},
            "'response_format' cannot be followed: the schema's format 'iri' is not supported");
        row("/v1/responses",
            {{"input", "x"}, {"text", QJsonObject{{"format", QJsonObject{{"type", "json_schema"}, {"schema", bad}}}}}},
            "'text.format' cannot be followed: the schema's 'not' is not supported");
        row("/api/chat", {{"format", bad}}, "'format' cannot be followed: the schema's 'not' is not supported");
        row("/api/chat", {{"format", 3}}, "'format' must be \"json\" or a JSON schema");
    }

    // In JSON Schema a format that is not known asks for nothing.
    void whoIsNotStrictMayNameAnyFormat()
    {
        const QJsonObject schema{{"schema", QJsonObject{{"type", "string"}, {"format", "iri"}}}};
        const QJsonObject format{{"type", "json_schema"}, {"json_schema", schema}};
        const auto answer = guide_.post("/v1/chat/completions", chat({{"response_format", format}, {"max_tokens", 5}}));
        QCOMPARE(answer.status, 200);
        QVERIFY2(content(answer.json()).startsWith('"'), answer.body);
    }

    void whatCannotBeFollowedIsNamed()
    {
        QFETCH(QString, path);
        QFETCH(QJsonObject, asked);
        QFETCH(QString, sentence);
        if (path != "/v1/responses")
            asked["messages"] = kAsked;
        const auto answer = guide_.post(path.toUtf8(), asked);
        QCOMPARE(answer.status, 400);
        const QJsonValue error = answer.json()["error"];
        QCOMPARE(error.isObject() ? error.toObject()["message"].toString() : error.toString(), sentence);
    }

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestAnswerFormat)
#include "tst_answer_format.moc"
