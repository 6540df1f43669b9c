// Tests that clients of llama-server's own completions are answered, also to prompts that are tokens or plain text,
// with the guide model behind it.
#include "app/server/llama_completion.h"
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>

using server_test::Answer;
using server_test::RunningServer;

namespace {

constexpr const char* kPath = "/completion";
const QString kPrompt = QStringLiteral("A KV cache");

QJsonObject asked(QJsonObject more = {})
{
    for (const auto& [name, value] : {std::pair("prompt", QJsonValue(kPrompt)), {"n_predict", 12}, {"temperature", 0}})
        if (!more.contains(name))
            more[name] = value;
    return more;
}

QString error_of(const Answer& answer)
{
    return answer.json()["error"].toObject()["message"].toString();
}

}  // namespace

class TestLlamaCompletion : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void saysAllOfAnAnswer()
    {
        const auto answer = guide_.post(kPath, asked());
        QCOMPARE(answer.status, 200);
        const auto json = answer.json();
        QVERIFY(!json["content"].toString().isEmpty());
        QVERIFY(json["stop"].toBool());
        QCOMPARE(json["stop_type"].toString(), QString("limit"));
        QCOMPARE(json["stopping_word"].toString(), QString());
        QCOMPARE(json["tokens_predicted"].toInt(), 12);
        QVERIFY(json["tokens_evaluated"].toInt() > 2);
        QVERIFY(!json["truncated"].toBool());
        QCOMPARE(json["prompt"].toString(), kPrompt);
        QCOMPARE(json["model"].toString(), QString("guide"));
        QVERIFY(json["tokens"].toArray().isEmpty());
        const auto timings = json["timings"].toObject();
        QCOMPARE(timings["predicted_n"].toInt(), 12);
        QCOMPARE(timings["prompt_n"].toInt() + timings["cache_n"].toInt(), json["tokens_evaluated"].toInt());
        QVERIFY(timings["predicted_per_token_ms"].toDouble() > 0);
        const auto settings = json["generation_settings"].toObject();
        QCOMPARE(settings["n_predict"].toInt(), 12);
        QCOMPARE(settings["temperature"].toDouble(), 0.0);
        QCOMPARE(settings["top_k"].toInt(), 40);
        QCOMPARE(guide_.post("/completions", asked()).json()["content"], json["content"]);
    }

    void aStreamSaysTheSame()
    {
        const auto whole = guide_.post(kPath, asked({{"return_tokens", true}})).json();
        QString text;
        QJsonArray tokens;
        QJsonObject last;
        const auto stream = guide_.post(kPath, asked({{"stream", true}}));
        for (const QByteArray& event : stream.events()) {
            QVERIFY(!last["stop"].toBool());
            last = QJsonDocument::fromJson(event).object();
            QVERIFY(last["stop"].isBool());
            text += last["content"].toString();
            for (const QJsonValue token : last["tokens"].toArray())
                tokens.append(token);
        }
        QCOMPARE(text, whole["content"].toString());
        QCOMPARE(tokens, whole["tokens"].toArray());
        QVERIFY(last["stop"].toBool());
        QCOMPARE(last["generation_settings"].toObject()["n_predict"].toInt(), 12);
        QCOMPARE(last["timings"].toObject()["predicted_n"].toInt(), 12);
    }

    void tokensAreThoseOfTheText()
    {
        const auto json = guide_.post(kPath, asked({{"return_tokens", true}, {"n_probs", 3}})).json();
        const auto tokens = json["tokens"].toArray();
        QCOMPARE(tokens.size(), 12);
        const auto said = guide_.post("/detokenize", {{"tokens", tokens}}).json()["content"].toString();
        QCOMPARE(said.trimmed(), json["content"].toString().trimmed());
        const auto all = json["completion_probabilities"].toArray();
        QCOMPARE(all.size(), 12);
        for (int i = 0; i < 12; ++i) {
            const auto one = all[i].toObject();
            QCOMPARE(one["id"], tokens[i]);
            QCOMPARE(one["top_logprobs"].toArray().size(), 3);
            QCOMPARE(one["top_logprobs"].toArray().first().toObject()["id"], tokens[i]);  // greedy
        }
    }

    void aPromptMayBeTokens()
    {
        const QJsonObject wanted{{"content", kPrompt}, {"add_special", true}};
        const auto tokens = guide_.post("/tokenize", wanted).json()["tokens"].toArray();
        const auto text = guide_.post(kPath, asked()).json();
        const auto json = guide_.post(kPath, asked({{"prompt", tokens}})).json();
        QCOMPARE(json["content"], text["content"]);
        QCOMPARE(json["tokens_evaluated"], text["tokens_evaluated"]);
        QCOMPARE(json["prompt"].toArray(), tokens);
        const auto again = guide_.post(kPath, asked({{"prompt", tokens}})).json();
        QCOMPARE(again["tokens_cached"].toInt(), tokens.size() - 1);
        const auto choices = guide_.post("/v1/completions", asked({{"prompt", tokens}})).json()["choices"].toArray();
        QCOMPARE(choices.first().toObject()["text"], text["content"]);
    }

    void textsMayStandBetweenTokens()
    {
        const auto tokens_of = [&](const QString& text, bool begins) {
            return guide_.post("/tokenize", {{"content", text}, {"add_special", begins}}).json()["tokens"].toArray();
        };
        QJsonArray ids = tokens_of("A KV", true), mixed = ids;
        for (const QJsonValue id : tokens_of(" cache", false))
            ids.append(id);
        mixed.append(" cache");
        const auto expected = guide_.post(kPath, asked({{"prompt", ids}})).json();
        const auto json = guide_.post(kPath, asked({{"prompt", mixed}})).json();
        QCOMPARE(json["content"], expected["content"]);
        QCOMPARE(json["tokens_evaluated"].toInt(), ids.size());
        QCOMPARE(json["prompt"].toArray(), mixed);
        const QJsonArray text_first{"A KV", tokens_of(" cache", false).first()};
        const auto beginning = guide_.post(kPath, asked({{"prompt", text_first}})).json();
        QCOMPARE(beginning["tokens_evaluated"].toInt(), tokens_of("A KV", true).size() + 1);
        const auto both = guide_.post(kPath, asked({{"prompt", QJsonArray{mixed, kPrompt}}}));
        QCOMPARE(QJsonDocument::fromJson(both.body).array()[0].toObject()["content"], expected["content"]);
    }

    void severalPromptsHaveAnAnswerEach()
    {
        const auto tokens = guide_.post("/tokenize", {{"content", "Spillway"}}).json()["tokens"].toArray();
        const QJsonObject object{{"prompt_string", "The context"}};
        const QJsonArray prompts{kPrompt, tokens, object};
        const auto all =
            QJsonDocument::fromJson(guide_.post(kPath, asked({{"prompt", prompts}, {"n", 2}})).body).array();
        QCOMPARE(all.size(), 6);
        const auto completion = guide_.post("/v1/completions", asked({{"prompt", prompts}, {"n", 2}})).json();
        const auto choices = completion["choices"].toArray();
        int prompt_tokens = 0, answer_tokens = 0;
        for (int i = 0; i < 6; ++i) {
            const auto alone = guide_.post(kPath, asked({{"prompt", prompts[i / 2]}})).json();
            prompt_tokens += i % 2 == 0 ? alone["tokens_evaluated"].toInt() : 0;
            answer_tokens += alone["tokens_predicted"].toInt();
            QCOMPARE(all[i].toObject()["content"], alone["content"]);
            QCOMPARE(all[i].toObject()["index"].toInt(), i);
            QCOMPARE(all[i].toObject()["prompt"], prompts[i / 2]);
            QCOMPARE(choices[i].toObject()["text"], alone["content"]);
        }
        QCOMPARE(completion["usage"].toObject()["prompt_tokens"].toInt(), prompt_tokens);
        QCOMPARE(completion["usage"].toObject()["completion_tokens"].toInt(), answer_tokens);
    }

    void whatEndedItIsNamed()
    {
        const auto word =
            guide_.post(kPath, asked({{"n_predict", 60}, {"stop", QJsonArray{"zzz", "e", "yyy"}}})).json();
        QCOMPARE(word["stop_type"].toString(), QString("word"));
        QCOMPARE(word["stopping_word"].toString(), QString("e"));
        QVERIFY(!word["content"].toString().contains('e'));
        const auto eos =
            guide_.post(kPath, asked({{"n_predict", 60}, {"json_schema", QJsonObject{{"const", "x"}}}})).json();
        QCOMPARE(eos["stop_type"].toString(), QString("eos"));
        QCOMPARE(eos["content"].toString(), QString("\"x\""));
        engine::LoadRequest load;
        load.context_tokens = 32;
        const RunningServer small(engine::make_engine(), {}, load);
        const auto full = small.post(kPath, asked({{"n_predict", -1}, {"ignore_eos", true}})).json();
        QCOMPARE(full["stop_type"].toString(), QString("limit"));
        QVERIFY(full["truncated"].toBool());
        QCOMPARE(full["tokens_evaluated"].toInt() + full["tokens_predicted"].toInt(), 33);  // the last needs no room
        const auto longer = small.post(kPath, asked({{"prompt", QString("many words ").repeated(100)}}));
        QCOMPARE(longer.status, 400);
        const auto error = longer.json()["error"].toObject();
        QCOMPARE(error["type"].toString(), QString("exceed_context_size_error"));
        QCOMPARE(error["n_ctx"].toInt(), 32);
        QVERIFY(error["n_prompt_tokens"].toInt() > 100);
    }

    void theSeedIsSaidAndGivesTheSameAgain()
    {
        const QJsonObject hot{{"temperature", 5}, {"top_k", 0}, {"top_p", 1}, {"min_p", 0}};
        const auto drawn = guide_.post(kPath, asked(hot)).json();
        auto again = hot;
        again["seed"] = drawn["generation_settings"].toObject()["seed"];
        QVERIFY(again["seed"].isDouble());
        QCOMPARE(guide_.post(kPath, asked(again)).json()["content"], drawn["content"]);
        QVERIFY(guide_.post(kPath, asked({{"seed", 77}, {"temperature", 5}})).body.contains("\"seed\":77"));
    }

    void tokensMayBeForbidden_data()
    {
        QTest::addColumn<QJsonValue>("bias");
        const QString first = guide_.post(kPath, asked({{"n_predict", 1}})).json()["content"].toString();
        const int id = guide_.post(kPath, asked({{"n_predict", 1}, {"return_tokens", true}}))
                           .json()["tokens"]
                           .toArray()[0]
                           .toInt();
        QTest::newRow("pairs") << QJsonValue(QJsonArray{QJsonArray{id, -100}});
        QTest::newRow("false") << QJsonValue(QJsonArray{QJsonArray{id, false}});
        QTest::newRow("an object") << QJsonValue(QJsonObject{{QString::number(id), -100}});
        QTest::newRow("a text") << QJsonValue(QJsonArray{QJsonArray{first, -100}});
        QTest::newRow("an object of texts") << QJsonValue(QJsonObject{{first, -100}});
    }

    void tokensMayBeForbidden()
    {
        QFETCH(QJsonValue, bias);
        const auto usual = guide_.post(kPath, asked({{"return_tokens", true}})).json()["tokens"].toArray();
        for (const char* path : {kPath, "/v1/completions"}) {
            const auto answer = guide_.post(path, asked({{"logit_bias", bias}, {"return_tokens", true}}));
            QVERIFY2(answer.status == 200, answer.body.constData());
            if (path == kPath)
                QVERIFY(!answer.json()["tokens"].toArray().contains(usual.first()));
        }
    }

    void theEndMayBeIgnored()
    {
        const QJsonArray messages{QJsonObject{{"role", "user"}, {"content", "What is a KV cache?"}}};
        const QJsonObject body{{"messages", messages}, {"temperature", 0}, {"max_tokens", 300}};
        const auto usual = guide_.post("/v1/chat/completions", body).json();
        QCOMPARE(usual["choices"].toArray()[0].toObject()["finish_reason"].toString(), QString("stop"));
        auto longer = body;
        longer["ignore_eos"] = true;
        const auto on = guide_.post("/v1/chat/completions", longer).json();
        QCOMPARE(on["choices"].toArray()[0].toObject()["finish_reason"].toString(), QString("length"));
        QCOMPARE(on["usage"].toObject()["completion_tokens"].toInt(), 300);
    }

    void samplersThatAreNotListedAreOff()
    {
        const QJsonArray usual{"penalties", "dry",   "top_n_sigma", "top_k",      "typ_p",
                               "top_p",     "min_p", "xtc",         "temperature"};
        const QJsonObject hot{{"temperature", 3}, {"seed", 5}};
        auto listed = hot;
        listed["samplers"] = usual;
        QCOMPARE(guide_.post(kPath, asked(listed)).json()["content"], guide_.post(kPath, asked(hot)).json()["content"]);
        listed["samplers"] = "edskypmxt";  // llama-server's usual ones, a letter each
        QCOMPARE(guide_.post(kPath, asked(listed)).json()["content"], guide_.post(kPath, asked(hot)).json()["content"]);
        listed["samplers"] = QJsonArray{"top_k"};
        const auto settings = guide_.post(kPath, asked(listed)).json()["generation_settings"].toObject();
        QCOMPARE(settings["top_k"].toInt(), 40);
        QCOMPARE(settings["top_p"].toDouble(), 1.0);
        QCOMPARE(settings["min_p"].toDouble(), 0.0);
        QCOMPARE(settings["temperature"].toDouble(), 1.0);
        listed["samplers"] = QJsonArray{"temperature", "top_k"};
        const auto other = guide_.post(kPath, asked(listed));
        QCOMPARE(other.status, 400);
        QVERIFY(error_of(other).contains("'samplers'"));
        listed["top_k"] = 0;  // of one that is off the place does not matter
        QCOMPARE(guide_.post(kPath, asked(listed)).status, 200);
    }

    void aStreamTellsHowFarThePromptIs()
    {
        engine::LoadRequest load;
        load.prefill_chunk_tokens = 32;
        const RunningServer slow(engine::make_engine(), {}, load);
        for (const char* path : {kPath, "/v1/completions", "/v1/chat/completions"}) {
            const QString prompt = path + QString(" and many words").repeated(60);  // nothing of it is known
            const QJsonArray messages{QJsonObject{{"role", "user"}, {"content", prompt}}};
            const QJsonObject body{{"prompt", prompt},        {"messages", messages}, {"max_tokens", 1},
                                   {"return_progress", true}, {"stream", true},       {"temperature", 0}};
            QList<int> done;
            int total = 0, cached = 0;
            for (const QByteArray& event : slow.post(path, body).events())
                if (const auto json = QJsonDocument::fromJson(event).object(); json.contains("prompt_progress")) {
                    const auto progress = json["prompt_progress"].toObject();
                    total = progress["total"].toInt();
                    cached = progress["cache"].toInt();
                    done.append(progress["processed"].toInt());
                }
            QVERIFY2(done.size() > 2, path);
            QCOMPARE(done.first(), cached);
            QCOMPARE(done.last(), total);
            QVERIFY(std::ranges::is_sorted(done));
        }
        QVERIFY(!slow.post(kPath, {{"prompt", "x"}, {"n_predict", 1}, {"stream", true}}).body.contains("progress"));
    }

    void whatARequestDoesNotSayIsTheServers()
    {
        server::ServerOptions options;
        options.desk.unsaid.sampling.seed = 77;
        options.desk.unsaid.sampling.temperature = 5;
        options.desk.unsaid.max_tokens = 7;
        const RunningServer server(engine::make_engine(), options);
        const auto json = server.post(kPath, {{"prompt", kPrompt}}).json();
        QCOMPARE(json["tokens_predicted"].toInt(), 7);
        QCOMPARE(json["generation_settings"].toObject()["seed"].toInt(), 77);
        QCOMPARE(server.post(kPath, {{"prompt", kPrompt}}).json()["content"], json["content"]);
        const QJsonArray messages{QJsonObject{{"role", "user"}, {"content", "What is a KV cache?"}}};
        QJsonObject chat{{"messages", messages}, {"prompt", "x"}, {"stream", false}};
        for (const char* path : {"/v1/chat/completions", "/v1/completions"})
            QCOMPARE(server.post(path, chat).json()["usage"].toObject()["completion_tokens"].toInt(), 7);
        for (const char* path : {"/api/chat", "/api/generate"})
            QCOMPARE(server.post(path, chat).json()["eval_count"].toInt(), 7);
        chat.remove("prompt");
        chat["input"] = "x";
        for (const char* path : {"/v1/messages", "/v1/responses"})
            QCOMPARE(server.post(path, chat).json()["usage"].toObject()["output_tokens"].toInt(), 7);
        const auto own = server.post(kPath, asked({{"seed", -1}})).json();
        QCOMPARE(own["tokens_predicted"].toInt(), 12);
        QVERIFY(own["generation_settings"].toObject()["seed"].toDouble() != 77);
        const auto params = server.get("/props").json()["default_generation_settings"].toObject()["params"].toObject();
        QCOMPARE(params["seed"].toInt(), 77);
    }

    void someFieldsOfTheAnswerMayBeAskedFor()
    {
        const QJsonArray wanted{"content", "generation_settings/n_predict", "nothing", "content/x", ""};
        const auto json = guide_.post(kPath, asked({{"response_fields", wanted}})).json();
        QCOMPARE(json.size(), 2);
        QCOMPARE(json["generation_settings/n_predict"].toInt(), 12);
        QVERIFY(!json["content"].toString().isEmpty());
    }

    void whatIsNotDoneIsRefusedByName_data()
    {
        QTest::addColumn<QByteArray>("field");
        QTest::addColumn<QByteArray>("value");
        QTest::addColumn<QByteArray>("idle");
        const auto row = [](const char* field, const QByteArray& value, const char* idle) {
            QTest::newRow(field) << QByteArray(field) << value << QByteArray(idle);
        };
        row("mirostat", "2", "0");
        row("dynatemp_range", "0.5", "0.0");
        row("top_n_sigma", "1", "-1.0");
        row("adaptive_target", "0.5", "-0.01");
        row("min_keep", "3", "0");
        row("tfs_z", "0.5", "1.0");
        row("n_indent", "-1", "2");
        row("t_max_predict_ms", "\"x\"", "100");
        row("lora", "[{\"id\": 0, \"scale\": 1}]", "[]");
        row("image_data", "[{\"id\": 1}]", "[]");
        row("prompt", "[1, {}]", "[1, \"x\"]");
        row("prompt", "[1, \"\"]", "[\"x\", 1]");
        row("prompt", "{\"prompt_string\": \"x\", \"multimodal_data\": [\"eA==\"]}",
            "{\"prompt_string\": \"x\", \"multimodal_data\": []}");
        row("prompt", "[]", "[[1]]");
        row("prompt", "[1, -2]", "[1, 2]");
        row("prompt", "[1, 999999999]", "[1]");
        row("prompt", "[\"x\", \"\"]", "[\"x\"]");
        row("prompt", "[" + QByteArray("\"x\",").repeated(64) + "\"x\"]", "\"x\"");
        row("prompt", "{}", "[\"x\", \"y\"]");
        row("logit_bias", "[[1]]", "[]");
        row("logit_bias", "[[1, \"x\"]]", "{}");
        row("logit_bias", "[[999999999, 1]]", "[[2, 1]]");
        row("logit_bias", "{\"\": 1}", "{\"x\": 1}");
        row("logit_bias", "[\"x\"]", "null");
        row("samplers", "[1]", "null");
        row("n_probs", "1e9", "0");
        row("n_cmpl", "1e9", "1");
        row("response_fields", "[1]", "[]");
    }

    void whatIsNotDoneIsRefusedByName()
    {
        QFETCH(QByteArray, field);
        QFETCH(QByteArray, value);
        QFETCH(QByteArray, idle);
        const auto ask = [&](const QByteArray& said) {
            const QByteArray prompt = field == "prompt" ? "" : R"(, "prompt": "x")";
            return server_test::Client(guide_.port())
                .ask("POST", kPath, "{\"n_predict\": 1, \"" + field + "\": " + said + prompt + "}");
        };
        const auto refused = ask(value);
        QCOMPARE(refused.status, 400);
        const QByteArray name = QByteArray(field).replace("_", " ");  // the engine's own words have no '_'
        QVERIFY2(error_of(refused).contains(field) || error_of(refused).contains(name), refused.body.constData());
        const auto taken = ask(idle);
        QVERIFY2(taken.status == 200, taken.body.constData());
    }

    // Whatever stands in a field, it is taken or refused with a sentence, and nothing is thrown.
    void oddValuesAreNoTrouble()
    {
        const server::Json odd =
            server::Json::parse("[null, true, false, 0, -1, 0.5, 1e308, -1e308, 18446744073709551615, \"\", \"x\", "
                                "\"-1\", \"99999999999\", [], [[]], "
                                "[null], [0], [-1], [\"\"], [\"x\", 1], [[1, 2]], [[1, null]], [[[]], {}], {}, {\"\": "
                                "0}, {\"x\": {}}, {\"1\": [1]}]");
        int taken = 0, refused = 0;
        for (const char* field : {"prompt",
                                  "logit_bias",
                                  "samplers",
                                  "n_predict",
                                  "max_tokens",
                                  "n",
                                  "n_cmpl",
                                  "n_probs",
                                  "return_tokens",
                                  "stream",
                                  "stop",
                                  "seed",
                                  "temperature",
                                  "top_k",
                                  "dry_sequence_breakers",
                                  "mirostat",
                                  "adaptive_target",
                                  "tfs_z",
                                  "response_fields",
                                  "json_schema",
                                  "grammar",
                                  "response_format",
                                  "ignore_eos",
                                  "n_indent",
                                  "t_max_predict_ms",
                                  "return_progress",
                                  "post_sampling_probs",
                                  "model",
                                  "lora",
                                  "image_data"})
            for (const server::Json& value : odd) {
                server::Json body = {{"prompt", "x"}, {"n_probs", 1}};
                body[field] = value;
                const auto asked = server::LlamaCompletion().read(body, {"x", {}, nullptr});
                QVERIFY(asked || !asked.error().sentence.empty());
                ++(asked ? taken : refused);
            }
        QVERIFY(taken > 100 && refused > 100);
    }

    void whatIsUnknownIsIgnored()
    {
        const auto json = guide_.post(kPath, asked({{"whatever", 1}, {"cache_prompt", false}, {"id_slot", -1}})).json();
        QCOMPARE(json["content"], guide_.post(kPath, asked()).json()["content"]);
        QCOMPARE(guide_.post(kPath, {{"n_predict", 1}}).status, 400);
    }

private:
    RunningServer guide_;
};

SPILLWAY_TEST(QCoreApplication, TestLlamaCompletion)
#include "tst_llama_completion.moc"
