// Tests that gaps in texts are filled (fill-in-the-middle), with tiny models that say what follows the last mark of a
// prompt.
#include "app/server/code_bound.h"
#include "app/server/fill_prompt.h"
#include "app/server/llama_completion.h"
#include "app/server/openai_completions.h"
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QTemporaryDir>

#include <future>

using server_test::Answer;
using server_test::Client;
using server_test::RunningServer;
using support::ChainModel;

namespace {

/// With the marks of Qwen 2.5 Coder.
ChainModel coder()
{
    return ChainModel({"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|repo_name|>", "<|file_sep|>"}, {"\n"});
}

QString sentence_of(const Answer& answer)
{
    const QJsonValue error = answer.json()["error"];
    return error.isString() ? error.toString() : error.toObject()["message"].toString();
}

/// Loads the guide at once, and another model until that is stopped.
class LoadingEngine final : public server_test::GateEngine
{
public:
    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                           std::stop_token stop) override
    {
        if (request.model == server_test::guide_model())
            return GateEngine::load(request, listener, stop);
        begins.set_value();
        while (!stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return engine::fail(engine::Error::Code::Cancelled, "loading was stopped");
    }
    std::promise<void> begins;
};

server::Gap around(std::string before, std::string after, std::vector<server::Gap::File> others = {})
{
    return {std::move(before), std::move(after), std::move(others)};
}

}  // namespace

class TestInfill : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theTextsStandBetweenTheMarks()
    {
        const auto model = saved(coder());
        QCOMPARE(laid_out(model, around("ab", "cd")), QString("<s><|fim_prefix|>ab<|fim_suffix|>cd<|fim_middle|>"));
        QCOMPARE(laid_out(model, around("", "")), QString("<s><|fim_prefix|><|fim_suffix|><|fim_middle|>"));
        QCOMPARE(laid_out(model, around("ab", "cd", {{"x", "yz"}, {"", "w\n"}})),
                 QString("<s><|repo_name|>project\n<|file_sep|>x\nyz\n<|file_sep|>file\nw\n<|file_sep|>file\n"
                         "<|fim_prefix|>ab<|fim_suffix|>cd<|fim_middle|>"));
        // What somebody has typed is no mark.
        const QString typed = laid_out(model, around("a<|fim_middle|>b", "<|file_sep|></s>"));
        QCOMPARE(typed.count("<|fim_middle|>"), 1);
        QVERIFY2(!typed.contains("<|file_sep|>") && !typed.contains("</s>"), qPrintable(typed));
    }

    void aLineTellsFilesApartWithoutAMark()
    {
        const auto model = saved(ChainModel({"<fim_prefix>", "<fim_suffix>", "<fim_middle>"}, {"\n", "-"}));
        QCOMPARE(laid_out(model, around("ab", "cd", {{"x", "yz"}})),
                 QString("<s>--- x ---\nyz\n\n<fim_prefix>ab<fim_suffix>cd<fim_middle>"));
    }

    // As CodeLlama was taught; a space before the text behind the gap would be one more in the code.
    void onlyTheTextBeforeTheGapBeginsAWord()
    {
        const auto model = saved(ChainModel({"▁<PRE>", "▁<SUF>", "▁<MID>"}).space_prefix());
        QCOMPARE(laid_out(model, around("ab", "cd")), QString("<s>▁<PRE> ab▁<SUF>cd▁<MID>"));
    }

    void codestralReadsWhatIsBehindTheGapFirst()
    {
        const auto mistral = [] { return ChainModel({"[PREFIX]", "[MIDDLE]", "[SUFFIX]"}, {"\n", "-"}); };
        QCOMPARE(laid_out(saved(mistral().called("Codestral 22B v0.1")), around("ab", "cd", {{"x", "yz"}})),
                 QString("<s>[SUFFIX]cd[PREFIX]--- x ---\nyz\n\nab"));
        // Others have these tokens without having learned them.
        QVERIFY(laid_out(saved(mistral().called("Mistral Small")), around("ab", "cd")).contains("fills no gaps"));
    }

    void whatIsNextToTheGapIsKept()
    {
        const auto model = saved(coder());
        const auto fitted = [&](const char* before, const char* after) {  // 16 letters, beside 4 marks and the answer
            return laid_out(model, around(before, after), 24, 4);
        };
        QCOMPARE(fitted("abcdefghijklmnop", "qrstuvwxyz"),
                 QString("<s><|fim_prefix|>efghijklmnop<|fim_suffix|>qrst<|fim_middle|>"));
        QCOMPARE(fitted("abcdefghijklmnop", "qr"),
                 QString("<s><|fim_prefix|>cdefghijklmnop<|fim_suffix|>qr<|fim_middle|>"));
        QCOMPARE(fitted("op", "abcdefghijklmnopqr"),
                 QString("<s><|fim_prefix|>op<|fim_suffix|>abcdefghijklmn<|fim_middle|>"));
        // For an answer of any length a quarter is kept.
        QCOMPARE(laid_out(model, around("abcdefghijklmnop", "qr"), 24, -1),
                 QString("<s><|fim_prefix|>efghijklmnop<|fim_suffix|>qr<|fim_middle|>"));
    }

    void theFilesNamedLastAreKept()
    {
        const std::vector<server::Gap::File> files = {{"a", "yz"}, {"b", "yz"}, {"c", "yz"}, {"d", "yz"}};
        QCOMPARE(laid_out(saved(coder()), around("ab", "cd", files), 44, 8),  // 28 tokens for them, of 15 + 6 for each
                 QString("<s><|repo_name|>project\n<|file_sep|>c\nyz\n<|file_sep|>d\nyz\n<|file_sep|>file\n"
                         "<|fim_prefix|>ab<|fim_suffix|>cd<|fim_middle|>"));
        QCOMPARE(laid_out(saved(coder()), around("ab", "cd", files), 28, 4),  // not one of them
                 QString("<s><|fim_prefix|>ab<|fim_suffix|>cd<|fim_middle|>"));
    }

    void aTextWhoseClientHasLeftIsLeftAlone()
    {
        std::stop_source left;
        left.request_stop();
        const QString said = laid_out(saved(coder()), around("ab", "cd"), 0, -1, left.get_token());
        QVERIFY2(said.contains("stopped"), qPrintable(said));
    }

    void editorsAreAnswered()
    {
        const auto server = serve(coder().says({"<|fim_middle|>", "a", "b", "</s>"}));
        QJsonObject body = parsed(R"({"input_prefix": "x", "input_suffix": "y", "prompt": "p", "n_predict": 8,
            "input_extra": [{"text": "z\n", "time": [1, 2], "filename": "q"}], "n_indent": 0, "top_k": 40,
            "top_p": 0.99, "stream": false, "samplers": ["top_k", "top_p", "infill"], "cache_prompt": true,
            "t_max_prompt_ms": 500, "t_max_predict_ms": 60000,
            "response_fields": ["content", "timings/prompt_n", "truncated"]})");
        const auto some = server->post("/infill", body);
        QVERIFY2(some.status == 200, some.body.constData());
        QCOMPARE(some.json()["content"].toString(), QString("ab"));
        QCOMPARE(some.json().size(), 3);
        body.remove("response_fields");
        const auto all = server->post("/infill", body).json();
        QCOMPARE(all["content"].toString(), QString("ab"));
        QCOMPARE(all["stop_type"].toString(), QString("eos"));
        QCOMPARE(all["tokens_evaluated"].toInt(), 27);
        QCOMPARE(all["prompt"].toString(), QString("p"));
        QCOMPARE(all["generation_settings"].toObject()["temperature"].toDouble(), 0.0);  // as "infill" nearly does
        body["stream"] = true;
        QString text;
        for (const QByteArray& event : server->post("/infill", body).events())
            text += QJsonDocument::fromJson(event).object()["content"].toString();
        QCOMPARE(text, QString("ab"));
        // To have files read before they are needed.
        const auto warm = server->post("/infill", parsed(R"({"input_prefix": "", "input_suffix": "", "prompt": "",
            "input_extra": [], "n_predict": 0, "temperature": 0.0, "samplers": [], "t_max_prompt_ms": 1,
            "t_max_predict_ms": 1, "response_fields": [""]})"));
        QVERIFY2(warm.status == 200 && warm.body == "{}", warm.body.constData());
    }

    void completionsHaveASuffix()
    {
        const auto server = serve(coder().says({"<|fim_middle|>", "a", "b", "</s>"}));
        const auto asked = [&](const QByteArray& prompt) {
            return server->post("/v1/completions", parsed(R"({"suffix": "y", "temperature": 0, "max_tokens": 8, )"
                                                          R"("prompt": )" +
                                                          prompt + "}"));
        };
        const auto one = asked(R"("x")");
        QVERIFY2(one.status == 200, one.body.constData());
        QCOMPARE(one.json()["choices"].toArray()[0].toObject()["text"].toString(), QString("ab"));
        QCOMPARE(one.json()["usage"].toObject()["prompt_tokens"].toInt(), 6);
        QCOMPARE(asked(R"("")").json()["usage"].toObject()["prompt_tokens"].toInt(), 5);
        QCOMPARE(asked(R"(["x", "z"])").json()["choices"].toArray()[1].toObject()["text"].toString(), QString("ab"));
        QVERIFY(sentence_of(asked("[1, 2]")).contains("'suffix'"));

        const QJsonObject greedy{{"temperature", 0}};
        QJsonObject body{{"prompt", "x"}, {"suffix", "y"}, {"stream", false}, {"options", greedy}};
        const auto ollamas = server->post("/api/generate", body);
        QVERIFY2(ollamas.status == 200, ollamas.body.constData());
        QCOMPARE(ollamas.json()["response"].toString(), QString("ab"));
        QCOMPARE(ollamas.json()["prompt_eval_count"].toInt(), 6);
        body["raw"] = true;  // as Void asks
        QCOMPARE(server->post("/api/generate", body).json()["response"].toString(), QString("ab"));
        QCOMPARE(server->post("/api/generate", body).json()["prompt_eval_count"].toInt(), 6);
        body["raw"] = false;
        body["prompt"] = "";
        QCOMPARE(server->post("/api/generate", body).json()["response"].toString(), QString("ab"));
        QVERIFY(server->post("/api/show", {{"model", "guide"}}).json()["capabilities"].toArray().contains("insert"));
    }

    void aModelWithoutMarksSaysSo()
    {
        const RunningServer guide;
        const QJsonObject body{{"prompt", "x"}, {"suffix", "y"}, {"input_prefix", "x"}, {"input_suffix", "y"}};
        for (const char* path : {"/infill", "/v1/completions", "/api/generate"}) {
            const auto answer = guide.post(path, body);
            QCOMPARE(answer.status, 400);
            QVERIFY2(sentence_of(answer).contains("fill-in-the-middle"), answer.body.constData());
        }
        QVERIFY(!guide.post("/api/show", {{"model", "guide"}}).json()["capabilities"].toArray().contains("insert"));
        QVERIFY(sentence_of(guide.post("/infill", {{"prompt", "x"}})).contains("'input_suffix'"));
    }

    void whatIsTooLongIsCutToTheContext()
    {
        const auto server = serve(coder().says({"<|fim_middle|>", "a", "b", "</s>"}), 64);
        const auto json = server
                              ->post("/infill", {{"input_prefix", QString("x").repeated(500)},
                                                 {"input_suffix", QString("y").repeated(500)},
                                                 {"n_predict", 4},
                                                 {"temperature", 0}})
                              .json();
        QCOMPARE(json["content"].toString(), QString("ab"));
        QCOMPARE(json["tokens_evaluated"].toInt(), 60);
    }

    // How much fits is known only when the model is loaded.
    void whoWaitsForTheModelLearnsThatTheServerStops()
    {
        auto engine = std::make_unique<LoadingEngine>();
        auto begins = engine->begins.get_future();
        server::ServerOptions options;
        options.folders = {saved(coder()).parent_path()};
        options.grace = {};
        const auto name = QString::number(models_);
        RunningServer server(std::move(engine), options);
        Client client(server.port());
        const QJsonObject body{{"model", name}, {"input_prefix", "x"}, {"input_suffix", "y"}};
        client.say(Client::request("POST", "/infill", QJsonDocument(body).toJson()));
        QVERIFY(begins.wait_for(std::chrono::minutes(1)) == std::future_status::ready);
        (*server).stop();
        const auto answer = client.answer();
        QCOMPARE(answer.status, 503);
        QVERIFY2(sentence_of(answer).contains("stopped"), answer.body.constData());
    }

    void anAnswerEndsWithItsBlock()
    {
        const auto server = serve(coder().says({"<|fim_middle|>", "q", "\n", "r", "s", "</s>"}));
        QJsonObject body{{"input_prefix", ""}, {"input_suffix", ""}, {"temperature", 0}};
        QCOMPARE(server->post("/infill", body).json()["content"].toString(), QString("q\nrs"));
        body["n_indent"] = 2;
        const auto json = server->post("/infill", body).json();
        QCOMPARE(json["content"].toString(), QString("q\n"));
        QCOMPARE(json["stop_type"].toString(), QString("limit"));
        QVERIFY(server->get("/metrics").body.contains("spillway_turns_cancelled_total 0\n"));
    }

    void codeIsBoundByIndentAndTime()
    {
        using std::chrono::milliseconds;
        using Pieces = std::vector<std::pair<std::string_view, milliseconds>>;
        const auto said = [](server::CodeBound bound, const Pieces& pieces) {
            std::string text;
            for (const auto& [piece, so_far] : pieces)
                text += bound.take(piece, so_far);
            return text;
        };
        const milliseconds now(0), any(0);
        const Pieces block = {{"if\n", now}, {"  y\r\n\r\n", now}, {" ", now}, {" z\n} //", now}, {"\n  more", now}};
        QCOMPARE(said({2, any}, block), std::string("if\n  y\r\n\r\n  z\n"));
        QCOMPARE(said({0, any}, block), std::string("if\n  y\r\n\r\n  z\n} //\n  more"));
        const Pieces slow = {
            {"a", now}, {"b\nc", milliseconds(50)}, {"d", milliseconds(150)}, {"e\nf", milliseconds(200)}, {"g", now}};
        QCOMPARE(said({0, milliseconds(100)}, slow), std::string("ab\ncde"));
    }

    // Each prompt has a copy of it.
    void aLongSuffixIsForFewPrompts()
    {
        server::Json body = {{"prompt", server::Json::array({"x", "y"})},
                             {"suffix", std::string(std::size_t(1) << 20, 'z')}};
        QVERIFY(server::OpenAiCompletions().read(body, {"x", {}, nullptr}));
        body["prompt"] = std::vector<std::string>(64, "x");
        const auto refused = server::OpenAiCompletions().read(body, {"x", {}, nullptr});
        QVERIFY(!refused && refused.error().field == "suffix");
    }

    // Whatever stands in a field, it is taken or refused with a sentence, and nothing is thrown.
    void oddValuesAreNoTrouble()
    {
        const server::Json odd = server::Json::parse(R"([null, true, 0, -1, 1e308, "", "x", [], [[]], [null], ["x"],
            [{}], [{"text": 1}], [{"text": "x", "filename": 1}], [{"text": "x"}], {}, {"": 0}])");
        int taken = 0, refused = 0;
        for (const char* field :
             {"input_prefix", "input_suffix", "input_extra", "prompt", "n_indent", "t_max_predict_ms", "n"})
            for (const server::Json& value : odd) {
                server::Json body = {{"input_prefix", "x"}, {"input_suffix", "y"}};
                body[field] = value;
                const auto asked = server::LlamaInfill().read(body, {"x", {}, nullptr});
                QVERIFY(asked || !asked.error().sentence.empty());
                ++(asked ? taken : refused);
            }
        QVERIFY(taken > 10 && refused > 80);
    }

private:
    static QJsonObject parsed(const QByteArray& json) { return QJsonDocument::fromJson(json).object(); }

    std::filesystem::path saved(const ChainModel& model)
    {
        const std::filesystem::path path = folder_.filePath(QString("%1.gguf").arg(++models_)).toStdString();
        model.save(path);
        return path;
    }

    std::unique_ptr<RunningServer> serve(const ChainModel& model, int context_tokens = 0)
    {
        engine::LoadRequest load;
        load.model = saved(model);
        load.context_tokens = context_tokens;
        return std::make_unique<RunningServer>(engine::make_engine(), server::ServerOptions(), load);
    }

    /// Returns the prompt of a gap as text, with its marks, or why there is none.
    static QString laid_out(const std::filesystem::path& model, server::Gap gap, int context_tokens = 0,
                            int answer_tokens = -1, std::stop_token stop = {})
    {
        const auto text = server::ModelText::open(model);
        server::Ask ask;
        ask.turn.max_tokens = answer_tokens;
        ask.prompts.push_back({.gap = std::move(gap)});
        const auto done = server::make_tokens_of_gaps(ask, **text, context_tokens, std::move(stop));
        return QString::fromStdString(done ? *(*text)->detokenize(ask.prompts.front().ids) : done.error().what);
    }

    QTemporaryDir folder_;
    int models_ = 0;
};

SPILLWAY_TEST(QCoreApplication, TestInfill)
#include "tst_infill.moc"
