// Tests that requests to a server are written as its program wants them, and that its answers are read wherever their
// events are cut.
#include "app/remote/address.h"
#include "app/remote/answer_reader.h"
#include "app/remote/chat_body.h"
#include "app/remote/server_failure.h"
#include "app/remote/sse_reader.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <nlohmann/json.hpp>

using remote::AnswerReader;
using remote::Kind;
using remote::SseReader;
using Json = nlohmann::json;

namespace {

/// The data of each event of a stream that comes in pieces of this many bytes.
std::vector<std::string> events_of(const std::string& stream, std::size_t piece)
{
    std::vector<std::string> all;
    SseReader reader([&](const std::string& data) {
        all.push_back(data);
        return true;
    });
    for (std::size_t at = 0; at < stream.size(); at += piece)
        if (reader.add(std::string_view(stream).substr(at, piece)) != SseReader::State::More)
            return {"ended"};
    reader.end();
    return all;
}

std::string chunk(const char* delta, const char* more = "")
{
    return std::string("{\"choices\":[{\"index\":0,\"delta\":") + delta + "}]" + more + "}";
}

Json body(const engine::Request& request, Kind kind)
{
    const auto text = remote::body_of(request, "org/model", kind);
    return text ? Json::parse(*text) : Json();
}

engine::Request question()
{
    engine::Request request;
    request.messages = {{"system", "Be brief.", {}, {}}, {"user", "Hello", {}, {}}};
    return request;
}

}  // namespace

class TestRemoteWire : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void addresses_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QString>("address");
        QTest::newRow("numbers") << " 192.168.0.5:8000 "
                                 << "http://192.168.0.5:8000";
        QTest::newRow("this machine") << "localhost:11434"
                                      << "http://localhost:11434";
        QTest::newRow("a name of the local network") << "tower.lan"
                                                     << "http://tower.lan";
        QTest::newRow("a name of the web") << "api.example.com/v1"
                                           << "https://api.example.com";
        QTest::newRow("with its API") << "http://host:8000/v1/"
                                      << "http://host:8000";
        QTest::newRow("with a whole path") << "http://host:8000/v1/chat/completions"
                                           << "http://host:8000";
        QTest::newRow("below a path") << "https://example.com/vllm/v1"
                                      << "https://example.com/vllm";
        QTest::newRow("the usual port") << "https://Example.com:443"
                                        << "https://example.com";
        QTest::newRow("with a query") << "http://host/v1?key=1#x"
                                      << "http://host";
        QTest::newRow("IPv6") << "[::1]:8080"
                              << "http://[::1]:8080";
        QTest::newRow("nothing") << "  "
                                 << "";
        QTest::newRow("a password in it") << "http://me:secret@host"
                                          << "";
        QTest::newRow("another scheme") << "ftp://host"
                                        << "";
        QTest::newRow("a sentence") << "my server at home"
                                    << "";
        QTest::newRow("endless") << QString(5000, 'a') << "";
    }
    void addresses()
    {
        QFETCH(QString, typed);
        QFETCH(QString, address);
        const auto read = remote::read_address(typed.toStdString());
        QCOMPARE(QString::fromStdString(read.value_or("")), address);
        if (read)
            QCOMPARE(remote::read_address(*read).value_or(""), *read);
        else
            QVERIFY(!read.error().what.empty());
    }

    void aPasswordIsNotRepeated()
    {
        QVERIFY(remote::read_address("http://me:secret@host").error().what.find("secret") == std::string::npos);
    }

    void pathsOfModels()
    {
        for (const char* name : {"model", "org/model:7b", "a b#c%20d", "größe", "x/#y"}) {
            const auto path = remote::path_of({"http://host:8000/vllm", name});
            const auto model = remote::model_at(path);
            QVERIFY(model);
            QCOMPARE(model->server, std::string("http://host:8000/vllm"));
            QCOMPARE(model->model, std::string(name));
            QVERIFY(!path.filename().empty());
        }
        QVERIFY(!remote::model_at("/home/me/model.gguf"));
        QVERIFY(!remote::model_at("/home/me/#/model.gguf"));
    }

    void whatIsInClear()
    {
        QVERIFY(remote::is_in_clear("http://192.168.0.5:8000"));
        QVERIFY(!remote::is_in_clear("http://127.0.0.1:8000"));
        QVERIFY(!remote::is_in_clear("https://example.com"));
    }

    void eventsCutAnywhere()
    {
        const std::string stream = "\xef\xbb\xbf"
                                   ": waiting\n\ndata: {\"a\":\"\xc3\xa4\"}\n\nevent: x\r\nid: 3\r\ndata:two\r\n\r\n"
                                   "data: first\ndata: second\n\rdata: cr\r\rretry: 5\n\ndata:\n\ndata: [DONE]\n";
        const std::vector<std::string> wanted = {"{\"a\":\"\xc3\xa4\"}", "two", "first\nsecond", "cr", "[DONE]"};
        for (std::size_t piece = 1; piece <= stream.size(); ++piece)
            QCOMPARE(events_of(stream, piece), wanted);
    }

    void anEventWithoutEndIsRefused()
    {
        SseReader reader([](const std::string&) { return true; });
        const std::string line = "data: " + std::string(1 << 20, 'x') + "\n";
        SseReader::State state = SseReader::State::More;
        for (int i = 0; i < 10 && state == SseReader::State::More; ++i)
            state = reader.add(line);
        QCOMPARE(state, SseReader::State::TooLong);
        SseReader other([](const std::string&) { return true; });
        const std::string same(1 << 20, 'x');
        for (state = SseReader::State::More; state == SseReader::State::More;)
            state = other.add(same);
        QCOMPARE(state, SseReader::State::TooLong);
    }

    void thoughtsStandBetweenMarks()
    {
        for (const char* field : {"reasoning_content", "reasoning"}) {
            AnswerReader reader("host", AnswerReader::Thought::None);
            std::string text;
            const auto add = [&](const std::string& json) { text += reader.add(json).value_or("FAILED"); };
            add(chunk("{\"role\":\"assistant\",\"content\":\"\"}"));
            add(chunk((std::string("{\"") + field + "\":\"Let me \"}").c_str()));
            add(chunk((std::string("{\"") + field + "\":\"see\",\"content\":null}").c_str()));
            add(chunk("{\"content\":\"Yes\"}"));
            add(chunk("{\"content\":\".\"}"));
            QCOMPARE(text, std::string("<think>\nLet me see\n</think>\n\nYes."));
            QCOMPARE(reader.pieces(), 4);
        }
    }

    void aThoughtThatWasCutOffGoesOn()
    {
        AnswerReader parsed("host", AnswerReader::Thought::Open);
        QCOMPARE(parsed.add(chunk("{\"reasoning_content\":\"more\"}")).value_or(""), std::string("more"));
        QCOMPARE(parsed.add(chunk("{\"content\":\"Yes\"}")).value_or(""), std::string("\n</think>\n\nYes"));
        AnswerReader raw("host", AnswerReader::Thought::Open);  // a server that does not take thoughts apart
        QCOMPARE(raw.add(chunk("{\"content\":\"more</think>Yes\"}")).value_or(""), std::string("more</think>Yes"));

        QCOMPARE(remote::thought_at_end("<think>\nlet"), AnswerReader::Thought::Open);
        QCOMPARE(remote::thought_at_end("<think>\nlet</think>yes"), AnswerReader::Thought::None);
        QCOMPARE(remote::thought_at_end("[THINK]let[/THINK]yes[THINK]"), AnswerReader::Thought::Open);
        QCOMPARE(remote::thought_at_end("yes"), AnswerReader::Thought::None);
    }

    void numbersOfServers()
    {
        AnswerReader reader("host", AnswerReader::Thought::None);
        QVERIFY(!reader.usage().prompt_tokens);
        QVERIFY(
            reader.add("{\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,"
                       "\"prompt_tokens_details\":{\"cached_tokens\":10}},\"timings\":{\"prompt_per_second\":50.5}}"));
        QCOMPARE(*reader.usage().prompt_tokens, 12);
        QCOMPARE(*reader.usage().cached_tokens, 10);
        QCOMPARE(*reader.usage().answer_tokens, 3);
        QCOMPARE(*reader.usage().prompt_tokens_per_s, 50.5);
        AnswerReader odd("host", AnswerReader::Thought::None);
        QVERIFY(odd.add("{\"choices\":[],\"usage\":{\"prompt_tokens\":-4,\"completion_tokens\":1e300,"
                        "\"prompt_tokens_details\":[]},\"timings\":{\"predicted_n\":\"x\",\"prompt_per_second\":-1}}"));
        QVERIFY(!odd.usage().prompt_tokens && !odd.usage().answer_tokens && !odd.usage().prompt_tokens_per_s);
        QVERIFY(odd.add("{\"choices\":[],\"timings\":{\"prompt_per_second\":1e300}}"));
        QVERIFY(!odd.usage().prompt_tokens_per_s);
    }

    void piecesThatMakeNoSense_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<bool>("failure");
        QTest::newRow("no JSON") << QByteArray("hello") << true;
        QTest::newRow("cut") << QByteArray("{\"choices\":[{\"delta\":{\"con") << true;
        QTest::newRow("a list") << QByteArray("[1]") << true;
        QTest::newRow("no UTF-8") << QByteArray("{\"choices\":[{\"delta\":{\"content\":\"\xc3(\"}}]}") << true;
        QTest::newRow("deep") << QByteArray(200'000, '[') << true;
        QTest::newRow("an error") << QByteArray("{\"error\":{\"message\":\"out of\\nmemory\",\"code\":500}}") << true;
        QTest::newRow("an error in a word") << QByteArray("{\"error\":\"no\"}") << true;
        QTest::newRow("nothing in it") << QByteArray("{}") << false;
        QTest::newRow("choices of another kind") << QByteArray("{\"choices\":{\"a\":1}}") << false;
        QTest::newRow("a delta of another kind") << QByteArray("{\"choices\":[{\"delta\":\"x\"}]}") << false;
        QTest::newRow("a choice of another kind") << QByteArray("{\"choices\":[7]}") << false;
        QTest::newRow("content of another kind") << QByteArray("{\"choices\":[{\"delta\":{\"content\":7}}]}") << false;
    }
    void piecesThatMakeNoSense()
    {
        QFETCH(QByteArray, json);
        QFETCH(bool, failure);
        AnswerReader reader("host", AnswerReader::Thought::None);
        const auto text = reader.add(json.toStdString());
        QCOMPARE(!text.has_value(), failure);
        if (failure)
            QVERIFY(text.error().what.find('\n') == std::string::npos);
        else
            QCOMPARE(*text, std::string());
    }

    void onlyWhatAServerKnowsIsSent()
    {
        engine::Request request = question();
        request.sampling.seed = 5;
        const Json plain = body(request, Kind::Unknown);
        QCOMPARE(plain["model"].get<std::string>(), std::string("org/model"));
        QCOMPARE(plain["messages"].size(), std::size_t(2));
        QVERIFY(plain["stream"].get<bool>() && plain["stream_options"]["include_usage"].get<bool>());
        QCOMPARE(plain["temperature"].get<double>(), 0.8);
        QCOMPARE(plain["seed"].get<int>(), 5);
        for (const char* name : {"top_k", "min_p", "repeat_penalty", "repetition_penalty", "max_tokens", "typical_p"})
            QVERIFY2(!plain.contains(name), name);

        const Json vllm = body(request, Kind::Vllm);
        QCOMPARE(vllm["top_k"].get<int>(), 40);
        QVERIFY(vllm.contains("repetition_penalty") && !vllm.contains("repeat_penalty"));
        request.sampling.top_k = 0;
        QCOMPARE(body(request, Kind::Vllm)["top_k"].get<int>(), -1);
        QCOMPARE(body(request, Kind::LlamaServer)["top_k"].get<int>(), 0);
        QVERIFY(body(request, Kind::LlamaServer).contains("repeat_last_n"));
        request.sampling.top_p = 1;
        QVERIFY(!body(request, Kind::Tgi).contains("top_p"));
        QVERIFY(body(request, Kind::Ollama).contains("top_p"));
        request.max_tokens = 9;
        QCOMPARE(body(request, Kind::Unknown)["max_tokens"].get<int>(), 9);
    }

    void biasesAreSent()
    {
        engine::Request request = question();
        QVERIFY(!body(request, Kind::Unknown).contains("logit_bias"));
        request.sampling.logit_bias = {{.id = 7, .bias = -std::numeric_limits<float>::infinity()},
                                       {.id = 8, .bias = 2}};
        QCOMPARE(body(request, Kind::Unknown)["logit_bias"], Json({{"7", -100}, {"8", 2}}));
        request.sampling.logit_bias.push_back({.text = "word", .bias = 1});
        QCOMPARE(body(request, Kind::LlamaServer)["logit_bias"]["word"], Json(1));
        QVERIFY(!remote::body_of(request, "m", Kind::Unknown));
        request.sampling.logit_bias.clear();
        request.ignore_end = true;
        QVERIFY(body(request, Kind::Vllm)["ignore_eos"].get<bool>());
        request.messages.clear();
        request.raw_ids = {1, 2};
        QCOMPARE(body(request, Kind::Vllm)["prompt"], Json({1, 2}));
    }

    void anAnswerIsGoneOnWith()
    {
        engine::Request request = question();
        request.messages.push_back({"assistant", "Hel", {}, {}});
        request.continue_last = true;
        const Json vllm = body(request, Kind::Vllm);
        QVERIFY(vllm["continue_final_message"].get<bool>() && !vllm["add_generation_prompt"].get<bool>());
        const Json plain = body(request, Kind::Unknown);
        QVERIFY(!plain.contains("continue_final_message"));
        QCOMPARE(plain["messages"].back()["content"].get<std::string>(), std::string("Hel"));
    }

    void rulesAndTemplates()
    {
        engine::Request request = question();
        request.json_schema = "{\"type\":\"object\"}";
        QCOMPARE(body(request, Kind::Vllm)["response_format"]["json_schema"]["schema"]["type"].get<std::string>(),
                 std::string("object"));
        request.json_schema = "{}";
        QCOMPARE(body(request, Kind::Vllm)["response_format"]["type"].get<std::string>(), std::string("json_object"));
        request.json_schema.clear();
        request.grammar = "root ::= \"a\"";
        QVERIFY(body(request, Kind::LlamaServer).contains("grammar"));
        QVERIFY(!remote::body_of(request, "m", Kind::Ollama));
        request.grammar.clear();
        request.template_arguments_json = "{\"enable_thinking\":false,\"reasoning_effort\":\"low\"}";
        QVERIFY(!body(request, Kind::SgLang)["chat_template_kwargs"]["enable_thinking"].get<bool>());
        QCOMPARE(body(request, Kind::Unknown)["reasoning_effort"].get<std::string>(), std::string("low"));
        request.template_arguments_json = "[]";
        QVERIFY(!remote::body_of(request, "m", Kind::Vllm));
    }

    void textThatIsNoTextIsSentAnyway()
    {
        engine::Request request = question();
        request.messages.back().text = "caf\xe9";
        QVERIFY(!body(request, Kind::Unknown).is_null());
        request.messages.clear();
        request.raw_prompt = "Once";
        QCOMPARE(remote::path_of(request), std::string("/v1/completions"));
        QCOMPARE(body(request, Kind::Unknown)["prompt"].get<std::string>(), std::string("Once"));
    }

    void refusalsAreSentences_data()
    {
        using Code = engine::Error::Code;
        QTest::addColumn<int>("status");
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("400") << 400 << QByteArray("{\"error\":{\"message\":\"bad\\nfield\"}}") << int(Code::BadRequest)
                             << QByteArray("refuses the request (\"bad field\")");
        QTest::newRow("too long") << 400
                                  << QByteArray("{\"error\":{\"message\":\"maximum context length is 10 tokens\"}}")
                                  << int(Code::ContextFull) << QByteArray("maximum context length");
        QTest::newRow("401") << 401 << QByteArray() << int(Code::BadRequest) << QByteArray("does not accept the key");
        QTest::newRow("403") << 403 << QByteArray("<html>") << int(Code::BadRequest) << QByteArray("refuses access");
        QTest::newRow("404") << 404 << QByteArray("{\"detail\":\"Not Found\"}") << int(Code::BadRequest)
                             << QByteArray("Not Found");
        QTest::newRow("429") << 429 << QByteArray() << int(Code::BadRequest) << QByteArray("in 7 s");
        QTest::newRow("501") << 501 << QByteArray() << int(Code::BadRequest) << QByteArray("does not do that");
        QTest::newRow("500") << 500 << QByteArray() << int(Code::DeviceLost) << QByteArray("status 500");
        QTest::newRow("503") << 503 << QByteArray("{\"error\":\"Loading model\"}") << int(Code::DeviceLost)
                             << QByteArray("Loading model");
        QTest::newRow("a novel") << 400 << QByteArray("{\"error\":\"") + QByteArray("\xc3\xa4").repeated(4000) + "\"}"
                                 << int(Code::BadRequest) << QByteArray("…");
    }
    void refusalsAreSentences()
    {
        QFETCH(int, status);
        QFETCH(QByteArray, body);
        QFETCH(int, code);
        QFETCH(QByteArray, words);
        net::HttpHead head{status, "http://host:8000/v1/x", {{"retry-after", "7"}}, {}};
        const auto error = remote::error_of(remote::refusal_of(head, true, body.toStdString()), false);
        QCOMPARE(int(error.code), code);
        QVERIFY2(QByteArray::fromStdString(error.what).contains(words), error.what.c_str());
        QVERIFY(error.what.size() < 400);
        QCOMPARE(QString::fromStdString(error.what).toUtf8(), QByteArray::fromStdString(error.what));
    }
};

SPILLWAY_TEST(QCoreApplication, TestRemoteWire)
#include "tst_remote_wire.moc"
