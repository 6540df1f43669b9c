// Tests the front door of chat templates: their errors, the time that they are told, and which variables one reads.
#include "engine/template/chat_template.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>
#include <vector>

using engine::ChatTemplate;
using engine::Error;
using nlohmann::ordered_json;

static QString variablesOf(const std::string& source)
{
    const auto parsed = ChatTemplate::parse(source);
    if (!parsed)
        return QString::fromStdString(parsed.error().what);
    QStringList names;
    for (const std::string& name : parsed->variables())
        names << QString::fromStdString(name);
    return names.join(QLatin1Char(' '));
}

class TemplateApi : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void raiseExceptionIsTheSentence()
    {
        const auto rendered =
            ChatTemplate::parse("a\n{{ raise_exception('Roles must alternate!') }}")->render(ordered_json::object());
        QVERIFY(!rendered);
        QCOMPARE(int(rendered.error().code), int(Error::Code::Template));
        QCOMPARE(QString::fromStdString(rendered.error().what), QStringLiteral("Roles must alternate!"));
    }

    void errorsNameTheLine_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("syntax") << "a\nb\n{% if %}"
                                << "expected an expression, got 'end of statement block' (line 3 of the chat template)";
        QTest::newRow("unknown tag") << "\n{% nope %}"
                                     << "encountered unknown tag 'nope' (line 2 of the chat template)";
        QTest::newRow("not closed")
            << "{% if 1 %}\n\nx"
            << "unexpected end of template: looking for 'endif' of 'if' (line 3 of the chat template)";
        QTest::newRow("undefined") << "{% if 1 %}\n{{ a.b }}\n{% endif %}"
                                   << "'a' is undefined (line 2 of the chat template)";
        QTest::newRow("in a macro")
            << "{% macro m() %}\n{{ 1 + 'a' }}\n{% endmacro %}\n\n{{ m() }}"
            << "unsupported operand type(s) for +: 'int' and 'str' (line 2 of the chat template)";
        QTest::newRow("after a call")
            << "{% macro m() %}\n\n{% endmacro %}\n{{ m() - 1 }}"
            << "unsupported operand type(s) for -: 'str' and 'int' (line 4 of the chat template)";
        QTest::newRow("no other files")
            << "{% include 'x' %}"
            << "'include' needs other templates, and a chat template has none (line 1 of the chat template)";
        QTest::newRow("break") << "{% if 1 %}{% break %}{% endif %}"
                               << "'break' outside of a loop (line 1 of the chat template)";
    }

    void errorsNameTheLine()
    {
        QFETCH(QString, source);
        QFETCH(QString, sentence);
        const auto parsed = ChatTemplate::parse(source.toStdString());
        const auto rendered = parsed ? parsed->render(ordered_json::object()) : tl::unexpected(parsed.error());
        QVERIFY(!rendered);
        QCOMPARE(QString::fromStdString(rendered.error().what), sentence);
    }

    /// As generators of schemas write it for the largest number of a u64.
    void aNumberBeyond64BitsIsAReal()
    {
        const auto parsed = ChatTemplate::parse("{{ tools | tojson }}");
        const auto rendered = parsed->render({{"tools", {{{"maximum", UINT64_MAX}}}}});
        QVERIFY2(rendered, rendered ? "" : rendered.error().what.c_str());
        QCOMPARE(*rendered, std::string("[{\"maximum\": 1.8446744073709552e+19}]"));
    }

    void variablesMustBeAnObject()
    {
        const auto rendered = ChatTemplate::parse("x")->render(ordered_json::array());
        QVERIFY(!rendered);
        QCOMPARE(int(rendered.error().code), int(Error::Code::BadRequest));
    }

    void rendersTwiceAlike()
    {
        const auto parsed = ChatTemplate::parse("{% set l = messages %}{% set _ = l.append(1) %}{{ l | length }}");
        const ordered_json variables = {{"messages", {1, 2}}};
        const std::vector<ChatTemplate> copies(2, *parsed);
        QCOMPARE(*parsed->render(variables), std::string("3"));
        for (const ChatTemplate& copy : copies)
            QCOMPARE(*copy.render(variables), std::string("3"));
    }

    void tellsTheTime()
    {
        engine::RenderOptions options;
        options.now = std::tm{};
        options.now->tm_year = 124;  // 29 February 2024
        options.now->tm_mon = 1;
        options.now->tm_mday = 29;
        const auto parsed = ChatTemplate::parse("{{ strftime_now('%a %d %b %Y %j %U %W %V %G') }}");
        QCOMPARE(*parsed->render(ordered_json::object(), options), std::string("Thu 29 Feb 2024 060 08 09 09 2024"));
    }

    void withoutATimeTheClockIsAsked()
    {
        const auto rendered = ChatTemplate::parse("{{ strftime_now('%Y') }}")->render(ordered_json::object());
        QVERIFY(rendered);
        QVERIFY2(std::stoi(*rendered) >= 2024, rendered->c_str());
    }

    void chatMlRenders()
    {
        const ordered_json variables = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                                        {"add_generation_prompt", true}};
        const auto rendered = ChatTemplate::parse(std::string(engine::kChatMlTemplate))->render(variables);
        QCOMPARE(*rendered, std::string("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"));
    }

    // Reference: jinja2.meta.find_undeclared_variables, less the functions every chat template has.
    void knowsItsVariables_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("names");
        QTest::newRow("plain") << "{{ a }}{{ b.c }}{{ a }}"
                               << "a b";
        QTest::newRow("set first") << "{% set a = 1 %}{{ a }}"
                                   << "";
        QTest::newRow("default idiom") << "{% if a is not defined %}{% set a = true %}{% endif %}{{ a }}"
                                       << "a";
        QTest::newRow("set in one branch") << "{% if b %}{% set a = 1 %}{% endif %}{{ a }}"
                                           << "b a";
        QTest::newRow("set in all branches") << "{% if b %}{% set a = 1 %}{% else %}{% set a = 2 %}{% endif %}{{ a }}"
                                             << "b";
        QTest::newRow("loop") << "{% for m in messages %}{{ m }}{{ loop.index }}{% endfor %}{{ m }}"
                              << "messages m";
        QTest::newRow("loop else and if") << "{% for k, v in d if v > t %}{{ k }}{% else %}{{ e }}{% endfor %}"
                                          << "d t e";
        QTest::newRow("macro")
            << "{% macro f(x, y=z) %}{{ x }}{{ y }}{{ w }}{{ caller() }}{{ f }}{% endmacro %}{{ f(1) }}"
            << "z w";
        QTest::newRow("macro before its sister")
            << "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{% endmacro %}"
            << "";
        QTest::newRow("functions")
            << "{{ range(3) }}{{ raise_exception('x') }}{% set ns = namespace() %}{% set ns.a = q %}"
            << "q";
        QTest::newRow("set block") << "{% set a | replace(b, c) %}{{ d }}{% endset %}{{ a }}"
                                   << "d b c";
        QTest::newRow("with") << "{% with a = b %}{{ a }}{{ c }}{% endwith %}{{ a }}"
                              << "b c a";
        QTest::newRow("call") << "{% macro f() %}{% endmacro %}{% call(x) f(y) %}{{ x }}{{ z }}{% endcall %}"
                              << "y z";
        QTest::newRow("arguments") << "{{ a(b, c=d, *e, **f) | g(h) is i(j) }}"
                                   << "a b d e f h j";
        QTest::newRow("slices") << "{{ a[b:c] }}{{ {'x': d} }}{{ e if f else g }}"
                                << "a b c d f e g";
    }

    void knowsItsVariables()
    {
        QFETCH(QString, source);
        QFETCH(QString, names);
        QCOMPARE(variablesOf(source.toStdString()), names);
    }

    void whatATemplateSetsIsNoVariable()
    {
        const auto parsed = ChatTemplate::parse("{% if enable_thinking is defined %}{% set x = 1 %}{{ x }}{% endif %}");
        QCOMPARE(parsed->variables(), std::vector<std::string>{"enable_thinking"});
    }

    void argumentsAreWhatTheEngineDoesNotGive()
    {
        const auto parsed =
            ChatTemplate::parse("{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"
                                "{% if enable_thinking is defined and not enable_thinking %}x{% endif %}"
                                "{{ date_string }}{{ tools }}{{ add_generation_prompt }}{{ eos_token }}");
        QVERIFY(parsed);
        QVERIFY((parsed->arguments() == std::vector<std::string>{"enable_thinking", "date_string"}));
    }
};

SPILLWAY_TEST(QCoreApplication, TemplateApi)
#include "tst_template_api.moc"
