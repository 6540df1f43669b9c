// Tests that a conversation's settings reach the engine as they are shown, and that nonsense does not.
#include "app/chat/request_settings.h"
#include "app/chat/sampling_control.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QTest>

class RequestSettings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingSetChangesNothing()
    {
        engine::Request request;
        request.messages = {{"user", "hi"}};
        request.max_tokens = 77;
        applySettings({}, request);
        QCOMPARE(request.messages.size(), size_t(1));
        QCOMPARE(request.max_tokens, 77);
        QVERIFY(request.template_arguments_json.empty());
        QCOMPARE(request.sampling.temperature, engine::SamplingOptions().temperature);
    }

    void everythingReachesTheEngine()
    {
        ConversationSettings settings;
        settings.systemPrompt = QStringLiteral("Be brief.");
        settings.sampling = {{"temperature", 0.25}, {"top_p", 0.5},           {"top_k", 7}, {"min_p", 0.125},
                             {"max_tokens", 100},   {"repeat_penalty", 1.25}, {"seed", 42}};
        settings.templateArguments = {{"enable_thinking", false}, {"messages", "somebody else's"}};
        engine::Request request;
        request.messages = {{"user", "hi"}};
        applySettings(settings, request);
        QCOMPARE(request.sampling.temperature, 0.25f);
        QCOMPARE(request.sampling.top_p, 0.5f);
        QCOMPARE(request.sampling.top_k, 7);
        QCOMPARE(request.sampling.min_p, 0.125f);
        QCOMPARE(request.sampling.repeat_penalty, 1.25f);
        QCOMPARE(request.max_tokens, 100);
        QCOMPARE(*request.sampling.seed, std::uint64_t(42));
        QCOMPARE(request.template_arguments_json, std::string("{\"enable_thinking\":false}"));
        QCOMPARE(request.messages.size(), size_t(2));
        QCOMPARE(request.messages[0].role, std::string("system"));
        QCOMPARE(request.messages[0].text, std::string("Be brief."));
    }

    void nonsenseIsLeftOut()
    {
        ConversationSettings settings;
        settings.systemPrompt = QStringLiteral(" \n");
        settings.sampling = {{"temperature", -1},  {"top_p", 2},           {"top_k", 1.5}, {"min_p", "0.5"},
                             {"max_tokens", 1e30}, {"repeat_penalty", {}}, {"seed", -1},   {"unknown", 1}};
        engine::Request request;
        applySettings(settings, request);
        const engine::SamplingOptions own;
        QCOMPARE(request.sampling.temperature, own.temperature);
        QCOMPARE(request.sampling.top_p, own.top_p);
        QCOMPARE(request.sampling.top_k, own.top_k);
        QCOMPARE(request.sampling.min_p, own.min_p);
        QCOMPARE(request.sampling.repeat_penalty, own.repeat_penalty);
        QCOMPARE(request.max_tokens, -1);
        QVERIFY(!request.sampling.seed);
        QVERIFY(request.messages.empty());
    }

    void aModelThatContinuesTextHasNoSystemPrompt()
    {
        ConversationSettings settings;
        settings.systemPrompt = QStringLiteral("Be brief.");
        engine::Request request;
        request.raw_prompt = "Once";
        applySettings(settings, request);
        QVERIFY(request.messages.empty());
    }

    void eachControlKeepsItsEnds()
    {
        for (const SamplingControl& control : samplingControls()) {
            for (const double end : {control.from, control.to}) {
                engine::Request request;
                const QJsonObject sampling{{QLatin1String(control.key), end}};
                const auto value = samplingValue(sampling, control);
                QVERIFY2(value, control.key);
                control.give(request, *value);
                QCOMPARE(control.valueOf(request).value_or(-1), end);
            }
        }
    }
};

SPILLWAY_TEST(QCoreApplication, RequestSettings)
#include "tst_request_settings.moc"
