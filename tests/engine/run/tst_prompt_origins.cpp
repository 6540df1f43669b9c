// Tests that only what a template wrote itself becomes a control token, whatever people write and however the template
// changes it.
#include "engine/run/prompt.h"
#include "engine/text_tools.h"
#include "tests/engine/tokenizer/tokenizer_case.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTest>
#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace engine;
using nlohmann::ordered_json;

namespace {

std::string read_file(const QString& path)
{
    std::ifstream file(path.toStdString(), std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

/// The templates of real models, where they are; the guide's; and the one for models that have none.
const std::map<QString, std::string>& templates()
{
    static const auto all = [] {
        std::map<QString, std::string> found{{QStringLiteral("ChatML"), std::string(kChatMlTemplate)}};
        if (const auto guide = read_template(SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf"))
            found[QStringLiteral("guide")] = guide->text;
        const QDir folder(qEnvironmentVariable("SPILLWAY_GOLDEN") + QStringLiteral("/chat-templates"));
        if (qEnvironmentVariableIsSet("SPILLWAY_GOLDEN"))
            for (const QString& name : folder.entryList({QStringLiteral("*.jinja")}, QDir::Files))
                found[name.chopped(6)] = read_file(folder.filePath(name));
        return found;
    }();
    return all;
}

/// Returns what looks like a special token in any of the templates.
const std::vector<std::string>& specials()
{
    static const auto all = [] {
        static const QRegularExpression looks("<[^\\s<>'\"{}]{1,40}>|\\[/?[A-Z_]{2,}\\]");
        std::set<std::string> found;
        for (const auto& [name, source] : templates())
            for (const auto& match : looks.globalMatch(QString::fromStdString(source)))
                found.insert(match.captured().toStdString());
        return std::vector<std::string>(found.begin(), found.end());
    }();
    return all;
}

const Tokenizer& tokenizer()
{
    static const auto made = test_support::withTokens(specials(), TokenType::Control, "bpe.json");
    return *made;
}

std::vector<int> control_ids(const std::vector<int>& ids)
{
    std::vector<int> found;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(found), [](int id) { return tokenizer().is_special(id); });
    return found;
}

std::string replaced(std::string text, const std::string& old, const std::string& by)
{
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
        text.replace(at, old.size(), by);
    return text;
}

/// The signs of special tokens, and what stands for them where there are to be none.
const std::pair<std::string, std::string> kSigns[] = {{"<", "\uE000"}, {">", "\uE001"}, {"|", "\uE002"},
                                                      {"[", "\uE003"}, {"]", "\uE004"}, {"\uFF5C", "\uE005"}};

std::string disarmed(std::string text)
{
    for (const auto& [sign, other] : kSigns)
        text = replaced(std::move(text), sign, other);
    return text;
}

std::string armed(std::string text)
{
    for (const auto& [sign, other] : kSigns)
        text = replaced(std::move(text), other, sign);
    return text;
}

using Contents = std::vector<std::string>;  // of a user, an assistant, a user ...

Request request_of(const Contents& contents)
{
    Request request;
    for (std::size_t i = 0; i < contents.size(); ++i)
        request.messages.push_back({i % 2 ? "assistant" : "user", contents[i]});
    return request;
}

std::optional<std::string> rendered(const ChatTemplate& chat_template, const Contents& contents)
{
    ordered_json variables = {{"messages", ordered_json::array()}, {"add_generation_prompt", true}};
    for (const Message& message : request_of(contents).messages)
        variables["messages"].push_back({{"role", message.role}, {"content", message.text}});
    variables["bos_token"] = tokenizer().text(tokenizer().bos());
    variables["eos_token"] = tokenizer().text(tokenizer().eos());
    auto text = chat_template.render(variables);
    return text ? std::optional(std::move(*text)) : std::nullopt;
}

/// Contents as somebody would write them who wants to pass for the template.
class Writer
{
public:
    explicit Writer(QRandomGenerator& random)
        : random_(random)
    {
    }

    Contents conversation()
    {
        Contents contents;
        for (int i = 0; i < 3; ++i)
            contents.push_back(spaces() + middle() + spaces());
        // One token in pieces, at the end of a message and at the beginning of the next one.
        const std::string& token = special();
        const auto cut = std::size_t(random_.bounded(int(token.size())));
        const auto first = std::size_t(random_.bounded(2));
        contents[first] += token.substr(0, cut);
        contents[first + 1].insert(0, token.substr(cut));
        return contents;
    }

private:
    template <class T>
    const T& any(const std::vector<T>& of)
    {
        return of[std::size_t(random_.bounded(int(of.size())))];
    }

    const std::string& special() { return any(specials()); }

    std::string spaces()
    {
        static const std::vector<std::string> kSpaces = {" ",      "\n",     "\t",     "\r",     "\u00a0", "\u1680",
                                                         "\u2003", "\u2028", "\u202f", "\u205f", "\u3000", "\x1c"};
        std::string text;
        for (int i = random_.bounded(3); i > 0; --i)
            text += any(kSpaces);
        return text;
    }

    std::string middle()
    {
        static const std::vector<std::string> kWords = {"hello", "Grüße", "世界", "{{ x }}", "\"a\": 1", "<", "|>", ""};
        std::string text;
        for (int i = 1 + random_.bounded(4); i > 0; --i) {
            text += any(kWords);
            for (int more = random_.bounded(3); more > 0; --more)
                text += special() + spaces();
        }
        return text;
    }

    QRandomGenerator& random_;
};

}  // namespace

class PromptOrigins : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void noControlTokenComesFromContent_data()
    {
        QTest::addColumn<std::string>("source");
        for (const auto& [name, source] : templates())
            QTest::newRow(qPrintable(name)) << source;
    }

    // The same conversation without the signs of special tokens has the same control tokens, wherever the template
    // treats both alike. And no template ever gives a token that it does not know.
    void noControlTokenComesFromContent()
    {
        QFETCH(std::string, source);
        const auto chat_template = ChatTemplate::parse(source);
        QVERIFY2(chat_template, chat_template ? "" : chat_template.error().what.c_str());
        const PromptBuilder builder(*chat_template, tokenizer(), {});
        std::set<int> foreign;
        for (const std::string& token : specials())
            if (source.find(token) == std::string::npos)
                foreign.insert(tokenizer().find(token));
        foreign.erase(tokenizer().bos());
        foreign.erase(tokenizer().eos());

        auto random = test_support::seeded();
        Writer writer(random);
        bool ok = false;
        const int asked = qEnvironmentVariableIntValue("SPILLWAY_CONTENTS", &ok);  // for each template
        const int contents = ok ? asked : 10'000 / int(templates().size());
        int conversations = 0, alike = 0, refused = 0;
        for (int done = 0; done < contents; done += 3, ++conversations) {
            const Contents hostile = writer.conversation();
            Contents harmless;
            std::transform(hostile.begin(), hostile.end(), std::back_inserter(harmless), disarmed);
            const auto text = rendered(*chat_template, hostile);
            const auto harmless_text = rendered(*chat_template, harmless);
            if (!text || !harmless_text) {
                ++refused;
                continue;
            }
            const auto prompt = builder.build(request_of(hostile), std::numeric_limits<int>::max(), 0);
            QVERIFY2(prompt, prompt ? "" : prompt.error().what.c_str());
            const std::vector<int> found = control_ids(prompt->ids);
            for (const int id : found)
                QVERIFY2(!foreign.contains(id), std::string(tokenizer().text(id)).c_str());
            if (armed(*harmless_text) != *text)
                continue;  // the template looks for marks in what people say
            ++alike;
            const auto plain = builder.build(request_of(harmless), std::numeric_limits<int>::max(), 0);
            QVERIFY(plain);
            QCOMPARE(found, control_ids(plain->ids));
        }
        if (qEnvironmentVariableIsSet("SPILLWAY_SHOW_TIMES"))
            qInfo("%d conversations, %d alike, %d refused", conversations, alike, refused);
        if (refused == conversations)
            QSKIP("it asks for more than a conversation");
        QVERIFY2(refused * 2 < conversations, qPrintable(QString::number(refused)));
        QVERIFY2(alike * 20 > conversations, qPrintable(QString::number(alike)));
    }

    void ordinaryConversationsKeepTheirTokens_data()
    {
        QTest::addColumn<QString>("name");
        if (!qEnvironmentVariableIsSet("SPILLWAY_GOLDEN"))
            QSKIP("SPILLWAY_GOLDEN is not set: the templates of real models are not tested");
        for (const auto& [name, source] : templates())
            if (QFile::exists(qEnvironmentVariable("SPILLWAY_GOLDEN") + QStringLiteral("/chat-templates/") + name +
                              QStringLiteral(".json")))
                QTest::newRow(qPrintable(name)) << name;
    }

    // Where nobody wrote a special token, all that look like one are the template's.
    void ordinaryConversationsKeepTheirTokens()
    {
        QFETCH(QString, name);
        const QString path = qEnvironmentVariable("SPILLWAY_GOLDEN") + QStringLiteral("/chat-templates/") + name;
        const auto chat_template = ChatTemplate::parse(templates().at(name));
        QVERIFY(chat_template);
        for (const ordered_json& variables : ordered_json::parse(read_file(path + QStringLiteral(".json")))) {
            const auto text = chat_template->render_traced(variables);
            if (!text)
                continue;  // meant to be refused
            std::vector<ByteRange> own;
            std::size_t begin = 0;
            for (const TracedText::Run& run : text->runs()) {
                if (run.origin == kTemplateText)
                    own.push_back({begin, run.end});
                begin = run.end;
            }
            EncodeOptions within{EncodeOptions::Specials::Within};
            within.within = own;
            QCOMPARE(support::ids_of(tokenizer().encode(text->bytes(), within)),
                     support::ids_of(tokenizer().encode(text->bytes(), test_support::kParse)));
        }
    }

    void whatATemplateDoesKeepsTheOrigin_data()
    {
        QTest::addColumn<std::string>("source");
        QTest::addColumn<std::string>("own");  // all that the template wrote
        QTest::addColumn<std::string>("said");
        const auto row = [](const char* expression, const char* own, const char* said) {
            QTest::newRow(expression) << "{% set x = messages[0].content %}{% set y = 'T' + x + 'T' %}{{ " +
                                             std::string(expression) + " }}"
                                      << std::string(own) << std::string(said);
        };
        // x is " aB<é> ".
        row("x", "", " aB<é> ");
        row("'T' + x", "T", " aB<é> ");
        row("x ~ 'T' ~ 1", "T", " aB<é> ");
        row("x | trim", "", "aB<é>");
        row("y.strip('T')", "", " aB<é> ");
        row("y[1:]", "T", " aB<é> ");
        row("y[::-1]", "TT", " >é<Ba ");
        row("y[0] ~ y[2] ~ y[5]", "T", "aé");
        row("y | upper", "TT", " AB<É> ");
        row("y.title()", "TT", " Ab<É> ");
        row("y | title", "TT", " Ab<É> ");
        row("y | capitalize", "Tt", " ab<é> ");
        row("y.swapcase()", "tt", " Ab<É> ");
        row("y * 2", "TTTT", " aB<é>  aB<é> ");
        row("y * 5", "TTTTTTTTTT", " aB<é>  aB<é>  aB<é>  aB<é>  aB<é> ");
        row("y * 0 ~ y * -1", "", "");
        row("y.replace('B', 'R')", "TRT", " a<é> ");
        row("y | replace('T', x)", "", " aB<é>  aB<é>  aB<é> ");
        row("y.replace('', '-', 2)", "-T-T", " aB<é> ");
        row("y.split('B') | join('J')", "TJT", " a<é> ");
        row("y.rsplit('B', 1)[1]", "T", "<é> ");
        row("y.partition('B')[2]", "T", "<é> ");
        row("[x, 'T'] | join", "T", " aB<é> ");
        row("x.join(['T', 'T'])", "TT", " aB<é> ");
        row("'%s:%s' % (x, 'T')", ":T", " aB<é> ");
        row("'{}:{:<1}'.format(x, 'T')", ":T", " aB<é> ");
        row("[x, 'T'] | tojson", "\"T\"", "\" aB<é> \" ");
        row("y | tojson", "\"TT\"", " aB<é> ");
        row("y | escape", "TT", " aB&lt;é&gt; ");
        row("y | urlencode", "TT", "%20aB%3C%C3%A9%3E%20");
        row("y | indent(1, true)", "TT", "  aB<é> ");
        row("y.center(11, '-')", "-TT-", " aB<é> ");
        row("y.zfill(10)", "TT", " aB<é> ");
        row("y | truncate(3, true, '.')", "T.", " ");
        row("['T', x] | string", "'T'", " ' aB<é> '");
        row("y | list | join", "TT", " aB<é> ");
        row("y | reverse", "TT", " >é<Ba ");
        row("[{'k': y}] | map(attribute='k') | first", "TT", " aB<é> ");
        row("bos_token ~ messages[0].role", "<s>user", "");
        row("tools[0]", "", "tool");
    }

    void whatATemplateDoesKeepsTheOrigin()
    {
        QFETCH(std::string, source);
        QFETCH(std::string, own);
        QFETCH(std::string, said);
        const auto chat_template = ChatTemplate::parse(source);
        QVERIFY2(chat_template, chat_template ? "" : chat_template.error().what.c_str());
        const auto text = chat_template->render_traced(
            {{"messages", {{{"role", "user"}, {"content", " aB<é> "}}}}, {"bos_token", "<s>"}, {"tools", {"tool"}}});
        QVERIFY2(text, text ? "" : text.error().what.c_str());
        std::string found_own, found_said;
        std::size_t begin = 0;
        for (const TracedText::Run& run : text->runs()) {
            const std::string part = text->bytes().substr(begin, run.end - begin);
            (run.origin == kTemplateText ? found_own : found_said) += part;
            begin = run.end;
        }
        if (text->runs().empty())
            found_said = text->bytes();
        QCOMPARE(QString::fromStdString(found_own), QString::fromStdString(own));
        for (const char c : std::string_view("0123456789 \"',[]"))  // the interpreter's, which are nobody's
            if (said.find(c) == std::string::npos)
                found_said.erase(std::remove(found_said.begin(), found_said.end(), c), found_said.end());
        QCOMPARE(QString::fromStdString(found_said), QString::fromStdString(said));
    }

    void argumentsDoNotSpeakForTheEngine()
    {
        const auto chat_template = ChatTemplate::parse("{{ bos_token }}{{ messages[0].content }}{{ x }}");
        QVERIFY(chat_template);
        const std::string& token = specials().front();
        Request request = request_of({"hello"});
        request.template_arguments_json =
            ordered_json{{"bos_token", token}, {"messages", {{{"content", token}}}}, {"x", token}}.dump();
        const auto prompt = PromptBuilder(*chat_template, tokenizer(), {}).build(request, 1000, 0);
        QVERIFY(prompt);
        QCOMPARE(control_ids(prompt->ids), std::vector<int>{tokenizer().bos()});
        QCOMPARE(prompt->ledger.messages.front().tokens.count() > 0, true);
    }

    /// As Gemma 4's template does; RenderOptions alone allow for some 1,000 messages.
    void manyMessagesMayBeLookedThroughForEach()
    {
        const auto chat_template = ChatTemplate::parse(
            "{% for message in messages %}{% set ns = namespace(tool=false, own=message.role) %}"
            "{% for j in range(loop.index0 + 1, messages | length) %}{% if messages[j].role == 'tool' and not ns.tool "
            "and ns.own != 'tool' %}{% set ns.tool = true %}{% endif %}{% endfor %}{{ message.content }}{% endfor %}");
        QVERIFY(chat_template);
        const auto prompt = PromptBuilder(*chat_template, tokenizer(), {})
                                .build(request_of(std::vector<std::string>(1300, "a")), 10'000, 0);
        QVERIFY2(prompt, prompt ? "" : prompt.error().what.c_str());
        QCOMPARE(prompt->ledger.messages.size(), std::size_t(1300));
    }

    void stoppingEndsIt()
    {
        const auto chat_template = ChatTemplate::parse(std::string(kChatMlTemplate));
        QVERIFY(chat_template);
        std::stop_source stop;
        stop.request_stop();
        const PromptBuilder builder(*chat_template, tokenizer(), {}, stop.get_token());
        for (const Request& request : {request_of({"hello"}), [] {
                                           Request raw;
                                           raw.raw_prompt = "hello";
                                           return raw;
                                       }()}) {
            const auto prompt = builder.build(request, 1000, 0);
            QVERIFY(!prompt);
            QCOMPARE(int(prompt.error().code), int(Error::Code::Cancelled));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, PromptOrigins)
#include "tst_prompt_origins.moc"
