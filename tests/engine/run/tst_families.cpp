// Tests the chat templates of the families that people fetch, one by one: the token that ends an answer, whether a
// prompt opens a thought, and how thinking is switched on and off.
#include "engine/reasoning_marks.h"
#include "engine/run/prompt.h"
#include "engine/run/turn_end.h"
#include "engine/text_tools.h"
#include "engine/tokenizer/pre_tokenizer_rules.h"
#include "tests/engine/tokenizer/tokenizer_case.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <nlohmann/json.hpp>
#include <set>

using namespace engine;

namespace {

struct Family {
    const char* name;            // of the golden template
    const char* end;             // the token that ends an answer
    const char* opened = "";     // what the prompt ends with and belongs to the answer, where nothing is asked for
    const char* on = nullptr;    // thinks...
    const char* on_opened = "";  // ... with this at the prompt's end
    const char* off = nullptr;   // does not think, and opens nothing
};

constexpr const char* kThinkLine = "<think>\n";
constexpr const char* kEnable = R"({"enable_thinking": true})";
constexpr const char* kDisable = R"({"enable_thinking": false})";

// clang-format off
constexpr Family kFamilies[] = {
    {"Apertus-8B-Instruct", "<|assistant_end|>", "", kEnable, "", kDisable},
    {"Apriel-1.6-15b-Thinker-fixed", "<|end|>"},
    {"ByteDance-Seed-OSS", "<seed:eos>", "", nullptr, "", R"({"thinking_budget": 0})"},
    {"Cohere2MoE", "<|END_TEXT|>", "<|START_THINKING|>", R"({"reasoning": true})", "<|START_THINKING|>",
     R"({"reasoning": false})"},
    {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", "<|END_OF_TURN_TOKEN|>", "", kEnable, "", kDisable},
    {"CohereForAI-command-r", "<|END_OF_TURN_TOKEN|>"},
    {"EXAONE-4.0", "[|endofturn|]", "", kEnable, kThinkLine, kDisable},
    {"GLM-4.5", "<|user|>", "", kEnable, "", kDisable},
    {"GigaChat3-10B-A1.8B", "<|message_sep|>"},
    {"Kimi-K2-Instruct", "<|im_end|>"},
    {"Kimi-K2-Thinking", "<|im_end|>"},
    {"Kimi-K3", "<|end_of_msg|>"},
    {"LFM2", "<|im_end|>"},
    {"LFM2.5-8B-A1B", "<|im_end|>"},
    {"LFM2.5-Instruct", "<|im_end|>"},
    {"Meta-Llama-3-Instruct", "<|eot_id|>"},
    {"MiMo-VL", "<|im_end|>"},
    {"MiniMax-M1", "<end_of_sentence>"},
    {"MiniMax-M2", "[e~[", kThinkLine},
    {"MiniMax-M3", "[e~[", "", R"({"thinking_mode": "enabled"})", "<mm:think>",
     R"({"thinking_mode": "disabled"})"},
    {"NVIDIA-Nemotron-3-Super", "<|im_end|>", kThinkLine, kEnable, kThinkLine, kDisable},
    {"NVIDIA-Nemotron-3-Ultra", "<|im_end|>", kThinkLine, kEnable, kThinkLine, kDisable},
    {"NVIDIA-Nemotron-Nano-v2", "<SPECIAL_12>", kThinkLine},
    {"Qwen-Qwen2.5-7B-Instruct", "<|im_end|>"},
    {"Qwen2.5-VL-Instruct", "<|im_end|>"},
    {"Qwen3-Coder", "<|im_end|>"},
    {"Qwen3-Instruct-2507", "<|im_end|>"},
    {"Qwen3-Thinking-2507", "<|im_end|>", kThinkLine},
    {"Qwen3-VL-Instruct", "<|im_end|>"},
    {"Qwen3.5-0.8B-nothink", "<|im_end|>", "", kEnable, kThinkLine, kDisable},
    {"Qwen3.5-4B", "<|im_end|>", kThinkLine, kEnable, kThinkLine, kDisable},
    {"Qwen3.6", "<|im_end|>", kThinkLine, kEnable, kThinkLine, kDisable},
    {"Qwen3.8-froggeric-v22", "<|im_end|>", kThinkLine, kEnable, kThinkLine, kDisable},
    {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "<｜end▁of▁sentence｜>", kThinkLine},
    {"deepseek-ai-DeepSeek-V3.1", "<｜end▁of▁sentence｜>", "", R"({"thinking": true})", "<think>",
     R"({"thinking": false})"},
    {"deepseek-ai-DeepSeek-V3.2", "<｜end▁of▁sentence｜>", "", R"({"thinking": true})", "<think>",
     R"({"thinking": false})"},
    {"fireworks-ai-llama-3-firefunction-v2", "<|eot_id|>"},
    {"google-diffusion-gemma", "<turn|>", "", kEnable, "", kDisable},
    {"google-gemma-2-2b-it", "<end_of_turn>"},
    {"google-gemma-3-it", "<end_of_turn>"},
    {"google-gemma-4-31B-it", "<turn|>", "", kEnable, "", kDisable},
    {"ibm-granite-granite-3.3-2B-Instruct", "<|end_of_text|>", "", R"({"thinking": true})", "",
     R"({"thinking": false})"},
    {"ibm-granite-granite-4.1", "<|end_of_text|>"},
    {"llama-cpp-deepseek-r1", "<｜end▁of▁sentence｜>", kThinkLine},
    {"meta-llama-Llama-3.1-8B-Instruct", "<|eot_id|>"},
    {"meta-llama-Llama-3.2-3B-Instruct", "<|eot_id|>"},
    {"meta-llama-Llama-3.3-70B-Instruct", "<|eot_id|>"},
    {"microsoft-phi-4", "<|im_end|>"},
    {"mistralai-Mistral-Nemo-Instruct-2407", "</s>"},
    {"openbmb-MiniCPM5-1B", "<|im_end|>", "", kEnable, kThinkLine, kDisable},
    {"poolside-Laguna-S-2.1", "</assistant>", "<think>", kEnable, "<think>", kDisable},
    {"poolside-Laguna-XS.2", "</assistant>", "", kEnable, "<think>", kDisable},
    {"unsloth-Apriel-1.5", "<|end|>"},
    {"unsloth-gemma-4", "<turn|>", "", kEnable, "", kDisable},
    {"unsloth-gemma-4-edge", "<turn|>", "", kEnable, "", kDisable},
};
// clang-format on

QString templates_folder()
{
    return test_support::golden_folder() + QStringLiteral("/chat-templates/");
}

std::string source_of(const QString& name)
{
    QFile file(templates_folder() + name + QStringLiteral(".jinja"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return file.readAll().toStdString();
}

/// Makes a tokenizer with the special tokens of a template: all that look like one in it, and the end of an answer.
std::unique_ptr<const Tokenizer> tokenizer_for(const std::string& source, const std::string& end)
{
    static const QRegularExpression looks("<[^\\s<>'\"{}]{1,40}>|\\[/?[A-Z_]{2,}\\]");
    std::set<std::string> tokens{end, "<think>", "</think>"};
    for (const auto& match : looks.globalMatch(QString::fromStdString(source)))
        tokens.insert(match.captured().toStdString());
    for (const char* const known : {"<s>", "</s>", "<unk>"})
        tokens.erase(known);
    Vocabulary vocabulary = test_support::fromData("bpe.json");
    for (const std::string& token : tokens) {
        vocabulary.tokens.push_back(token);
        vocabulary.types.push_back(TokenType::Control);
        if (vocabulary.tokens.back() == end)
            vocabulary.eos = end == "<｜end▁of▁sentence｜>" ? int(vocabulary.tokens.size()) - 1 : vocabulary.eos;
    }
    return test_support::make(std::move(vocabulary));
}

Request question_with(const char* arguments = nullptr)
{
    Request request;
    request.messages = {{"user", "why is the sky blue?"}};
    request.template_arguments_json = arguments ? arguments : "";
    return request;
}

Prompt prompt_of(const ChatTemplate& chat_template, const Tokenizer& tokenizer, const Request& request,
                 std::span<const KeptReply> replies = {})
{
    auto prompt = PromptBuilder(chat_template, tokenizer, replies).build(request, 1 << 20, 16);
    if (!prompt)
        qWarning("%s", prompt.error().what.c_str());
    return prompt.value_or(Prompt{});
}

// As its makers describe it; not its own template.
constexpr const char* kRecipients =
    "{% for m in messages %}<|start|>{{ m.role }}{% if m.role == 'assistant' %} to=user{% endif %}<|message|>"
    "{{ m.content }}<|eot|>{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}";
constexpr const char* kParts =
    "<|im_start|>{% for m in messages %}{{ m['role'] | capitalize }}{% if m['content'][0]['type'] == 'image' %}:"
    "{% else %}: {% endif %}{% for part in m['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}"
    "{% elif part['type'] == 'image' %}<image>{% endif %}{% endfor %}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}";
constexpr const char* kHarmony =
    "{% for m in messages %}<|start|>{{ m.role }}{% if m.role == 'assistant' %}<|channel|>final{% endif %}<|message|>"
    "{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}";

}  // namespace

class TestFamilies : public QObject
{
    Q_OBJECT

    static const Family& family(const QString& name)
    {
        return *std::ranges::find_if(kFamilies, [&](const Family& f) { return name == QLatin1String(f.name); });
    }

private Q_SLOTS:
    void each_data()
    {
        QTest::addColumn<QString>("name");
        if (test_support::golden_folder().isEmpty())
            QSKIP("SPILLWAY_GOLDEN is not set: the templates of real models are not tested");
        for (const QString& file : QDir(templates_folder()).entryList({"*.jinja"}, QDir::Files))
            QTest::newRow(qPrintable(file.chopped(6))) << file.chopped(6);
    }
    void each()
    {
        QFETCH(QString, name);
        QVERIFY2(std::ranges::any_of(kFamilies, [&](const Family& f) { return name == QLatin1String(f.name); }),
                 "a template without a row");
        const Family& expected = family(name);
        const std::string source = source_of(name);
        const auto parsed = ChatTemplate::parse(source);
        QVERIFY2(parsed, parsed ? "" : parsed.error().what.c_str());
        const auto tokenizer = tokenizer_for(source, expected.end);

        const int end = tokenizer->find(expected.end);
        const int found = turn_end(*parsed, *tokenizer);
        QVERIFY2(end == found || tokenizer->is_end_of_generation(end),
                 std::string(found >= 0 ? tokenizer->text(found) : "none").c_str());
        // What is found otherwise ends an answer as well.
        QVERIFY2(found < 0 || found == end || tokenizer->is_end_of_generation(found),
                 std::string(tokenizer->text(std::max(found, 0))).c_str());

        const auto opened = [&](const char* arguments) {
            return prompt_of(*parsed, *tokenizer, question_with(arguments)).opened.text;
        };
        QCOMPARE(opened(nullptr), std::string(expected.opened));
        if (expected.on)
            QCOMPARE(opened(expected.on), std::string(expected.on_opened));
        if (expected.off)
            QCOMPARE(opened(expected.off), std::string());
        if (expected.on && expected.off) {
            const auto on = prompt_of(*parsed, *tokenizer, question_with(expected.on));
            QVERIFY(on.ids != prompt_of(*parsed, *tokenizer, question_with(expected.off)).ids);
        }
        for (const char* const choice : {expected.on, expected.off})
            if (choice) {
                const auto argument = QJsonDocument::fromJson(choice).object().keys().front().toStdString();
                QVERIFY(std::ranges::count(parsed->arguments(), argument) == 1);
            }
        if (qEnvironmentVariableIsSet("SPILLWAY_SHOW"))
            for (const std::string& argument : parsed->arguments())
                qInfo("%s", argument.c_str());
    }

    // An answer whose thought the template opened goes on with the same ids, known or not.
    void whatWasOpenedGoesOn_data() { each_data(); }
    void whatWasOpenedGoesOn()
    {
        QFETCH(QString, name);
        const Family& expected = family(name);
        const char* const arguments = *expected.opened ? nullptr : expected.on;
        const std::string source = source_of(name);
        const auto parsed = ChatTemplate::parse(source);
        const auto tokenizer = tokenizer_for(source, expected.end);
        Request request = question_with(arguments);
        const Prompt asked = prompt_of(*parsed, *tokenizer, request);
        if (asked.opened.text.empty())
            return;
        QVERIFY(asked.opened.first > 0 && asked.opened.first < int(asked.ids.size()));

        const std::string said = asked.opened.text + "the light is scattered";
        std::vector<int> ids(asked.ids.begin() + asked.opened.first, asked.ids.end());
        for (const Token& token : tokenizer->encode("the light is scattered",
                                                    {EncodeOptions::Specials::AsText, EncodeOptions::Start::Middle}))
            ids.push_back(token.id);
        request.messages.push_back({"assistant", said});
        request.continue_last = true;
        std::vector<int> whole(asked.ids.begin(), asked.ids.begin() + asked.opened.first);
        whole.insert(whole.end(), ids.begin(), ids.end());
        const std::vector<KeptReply> replies = {{said, ids}};
        const Prompt known = prompt_of(*parsed, *tokenizer, request, replies);
        QCOMPARE(known.ids, whole);
        QVERIFY(known.opened.text.empty());  // it was said when the answer began
        QCOMPARE(prompt_of(*parsed, *tokenizer, request).ids, whole);
        request.messages.back().text.clear();
        QCOMPARE(prompt_of(*parsed, *tokenizer, request).opened.text, asked.opened.text);
    }

    // How these families cut text into words, by the names that their files give.
    void tokenizersAreKnown()
    {
        for (const char* const pre :
             {"qwen35",    "qwen2",  "glm4",       "chatglm-bpe", "deepseek-v3", "deepseek-llm",
              "kimi-k2",   "lfm2",   "minimax-m2", "seed-coder",  "hunyuan",     "hunyuan-dense",
              "falcon-h1", "tekken", "llama4",     "gpt-4o",      "command-r",   "dbrx",
              "olmo",      "refact", "smollm",     "llama-bpe",   "pixtral"})
            QVERIFY2(find_pre_tokenizer_rule(pre), pre);
    }

    void recipientsAreAPartOfTheAnswer()
    {
        const auto parsed = ChatTemplate::parse(kRecipients);
        QVERIFY(parsed);
        const auto tokenizer = test_support::withTokens({"<|start|>", "<|message|>", "<|eom|>", "<|eot|>"},
                                                        TokenType::Control, "bpe.json");
        QVERIFY(tokenizer->is_end_of_generation(tokenizer->find("<|eot|>")));
        QVERIFY(!tokenizer->is_end_of_generation(tokenizer->find("<|eom|>")));
        QCOMPARE(tokenizer->piece(tokenizer->find("<|eom|>")), std::string("<|eom|>"));
        QCOMPARE(prompt_of(*parsed, *tokenizer, question_with()).opened.text, std::string("<|start|>assistant"));
        QCOMPARE(turn_end(*parsed, *tokenizer), tokenizer->find("<|eot|>"));
    }

    // gpt-oss: its answer goes on behind this one, and begins at its channel.
    void channelsGoOn()
    {
        const auto parsed = ChatTemplate::parse(kHarmony);
        QVERIFY(parsed);
        const auto tokenizer =
            test_support::withTokens({"<|start|>", "<|message|>", "<|channel|>", "<|end|>", "<|return|>", "<|call|>"},
                                     TokenType::Control, "bpe.json");
        QCOMPARE(turn_end(*parsed, *tokenizer), kNoToken);
        QVERIFY(!tokenizer->is_end_of_generation(tokenizer->find("<|end|>")));
        for (const char* const end : {"<|return|>", "<|call|>"})
            QVERIFY(tokenizer->is_end_of_generation(tokenizer->find(end)));
        QCOMPARE(prompt_of(*parsed, *tokenizer, question_with()).opened.text, std::string());
    }

    // As models have it whose text part comes from one that sees (Idefics, SmolVLM).
    void templatesMayTakePartsOnly()
    {
        const auto parsed = ChatTemplate::parse(kParts);
        QVERIFY(parsed);
        const auto tokenizer =
            test_support::withTokens({"<|im_start|>", "<end>", "<image>"}, TokenType::Control, "bpe.json");
        Request request = question_with();
        request.messages.push_back({"assistant", "it scatters"});
        request.messages.push_back({"user", "what <image>"});
        const Prompt prompt = prompt_of(*parsed, *tokenizer, request);
        QCOMPARE(tokenizer->decode(prompt.ids, {true, true}),
                 std::string("<s><|im_start|>User: why is the sky blue?<end>\nAssistant: it scatters<end>\n"
                             "User: what <image><end>\nAssistant:"));
        QVERIFY(std::ranges::find(prompt.ids, tokenizer->find("<image>")) == prompt.ids.end());
        for (const PromptLedger::Entry& message : prompt.ledger.messages)
            QVERIFY(message.tokens.count() > 0);
        QCOMPARE(turn_end(*parsed, *tokenizer), tokenizer->find("<end>"));

        TemplateRequest asked;
        asked.messages_json = R"([{"role": "user", "content": "why?"}])";
        const auto shown = render_template({kParts, "", ""}, asked);
        QVERIFY(shown);
        QCOMPARE(*shown, std::string("<|im_start|>User: why?<end>\nAssistant:"));
    }

    // What is shown of a prompt has the limits of the prompt itself, which grow with the messages.
    void longConversationsAreShownToo()
    {
        const std::string searching = "{% set s = 'a' * 1000000 %}{% for m in messages %}{% if 'b' in s %}{% endif %}"
                                      "{% endfor %}{{ messages | length }}";
        TemplateRequest asked;
        asked.messages_json =
            nlohmann::json(std::vector(400, nlohmann::json{{"role", "user"}, {"content", ""}})).dump();
        const auto shown = render_template({searching, "", ""}, asked);
        QVERIFY2(shown, shown ? "" : shown.error().what.c_str());
        QCOMPARE(*shown, std::string("400"));

        RenderAllowance shared;
        QVERIFY(render_template({searching, "", ""}, asked, &shared));
        const auto second = render_template({searching, "", ""}, asked, &shared);
        QVERIFY(!second);
        QCOMPARE(second.error().code, Error::Code::Template);
    }

    // A template that takes both gets the text by itself.
    void textsStayTexts()
    {
        const auto both = ChatTemplate::parse(
            "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for part in m.content %}"
            "[{{ part.text }}]{% endfor %}{% endif %}{% endfor %}");
        QVERIFY(both);
        QVERIFY(both->content("a").is_string());
        QVERIFY(ChatTemplate::parse(kParts)->content("a").is_array());
    }

    // What somebody typed opens nothing, and words end no turn.
    void onlyTheTemplateOpensAndEnds()
    {
        const auto tokenizer =
            test_support::withTokens({"<think>", "</think>", "<|role|>"}, TokenType::Control, "bpe.json");
        const auto plain = ChatTemplate::parse("{% for m in messages %}{{ m.content }}\n{% endfor %}");
        Request request = question_with();
        request.messages.back().text = "<think>";
        QCOMPARE(prompt_of(*plain, *tokenizer, request).opened.text, std::string());
        QCOMPARE(turn_end(*plain, *tokenizer), kNoToken);
        const auto raises = ChatTemplate::parse("{{ raise_exception('no') }}");
        QCOMPARE(turn_end(*raises, *tokenizer), kNoToken);
        const auto roles =
            ChatTemplate::parse("{% for m in messages %}<|role|>{{ m.role }} {{ m.content }}{% endfor %}");
        QCOMPARE(turn_end(*roles, *tokenizer), tokenizer->find("<|role|>"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestFamilies)
#include "tst_families.moc"
