// Tests that a template, which comes out of a downloaded file, ends soon, in bounded memory and stack, with a sentence,
// whatever it says.
#include "engine/template/chat_template.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>
#include <QThread>
#include <ctime>
#include <nlohmann/json.hpp>

using engine::ChatTemplate;
using engine::Error;
using nlohmann::ordered_json;

#ifdef SPILLWAY_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Threads of Windows have 1 MiB of stack by default, the smallest of the systems we run on.
constexpr uint kSmallStack = 1u << 20;

static ordered_json variables()
{
    return {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}, {"n", 7}};
}

static std::string repeated(const std::string& text, int times)
{
    std::string out;
    for (int i = 0; i < times; ++i)
        out += text;
    return out;
}

// The sentence of the error; empty where there was none.
static std::string sentence(const std::string& source)
{
    const auto parsed = ChatTemplate::parse(source);
    if (!parsed)
        return parsed.error().what;
    engine::RenderOptions options;
    options.max_time = std::chrono::hours(1);  // on a busy machine, too, steps and memory are to end it
    const auto rendered = parsed->render(variables(), options);
    return rendered ? std::string() : rendered.error().what;
}

// The same, on a thread with little stack.
static std::string sentenceOnSmallStack(const std::string& source)
{
    std::string result;
    const std::unique_ptr<QThread> thread(QThread::create([&] { result = sentence(source); }));
    if (!kSanitized)  // whose frames are several times as large
        thread->setStackSize(kSmallStack);
    thread->start();
    thread->wait();
    return result;
}

static qint64 peakKilobytes()
{
    QFile status(QStringLiteral("/proc/self/status"));
    if (!status.open(QIODevice::ReadOnly))
        return -1;
    for (const QByteArray& line : status.readAll().split('\n'))
        if (line.startsWith("VmHWM:"))
            return line.mid(6).trimmed().split(' ').first().toLongLong();
    return -1;
}

class TemplateLimits : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hostileTemplatesGetAnError_data()
    {
        QTest::addColumn<std::string>("source");
        QTest::addColumn<QString>("mention");
        test_support::PartOfAll part(5);
        const auto row = [&](const char* name, const std::string& source, const char* mention) {
            if (part.takes_next())
                QTest::newRow(name) << source << QString::fromLatin1(mention);
        };
        const std::string grow =
            "{% set ns = namespace(v=SEED) %}{% for i in range(100) %}{% set ns.v = STEP %}{% endfor %}";
        const auto growing = [&](const std::string& seed, const std::string& step) {
            std::string source = grow;
            source.replace(source.find("SEED"), 4, seed);
            source.replace(source.find("STEP"), 4, step);
            return source;
        };
        row("loops in loops", "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "steps");
        row("loop without end", "{% set l = [1] %}{% for i in l %}{% set _ = l.append(i) %}{% endfor %}", "steps");
        row("long text", "{{ 'a' * 1000000000 }}", "text");
        row("absurd text", "{{ 'ab' * 9223372036854775807 }}", "text");
        row("long list", "{{ [1] * 1000000000 }}", "memory");
        row("absurd list", "{{ [1] * 9223372036854775807 }}", "memory");
        row("long range", "{{ range(1000000000000) | list }}", "MAX_RANGE");
        row("absurd range", "{{ range(-9223372036854775807, 9223372036854775807) }}", "MAX_RANGE");
        row("doubling text", growing("'a'", "ns.v + ns.v"), "text");
        row("doubling by ~", growing("'a'", "ns.v ~ ns.v"), "text");
        row("doubling a list", growing("[1]", "ns.v + ns.v"), "memory");
        row("doubling by join", growing("'ab'", "ns.v | join(ns.v)"), "text");
        row("doubling by replace", growing("'ab'", "ns.v | replace('a', ns.v)"), "text");
        row("doubling by format", growing("'a'", "'%s%s' % (ns.v, ns.v)"), "text");
        row("doubling by repr", growing("['a']", "[ns.v | string, ns.v | string]"), "text");
        row("growing by tojson", growing("'\\\\'", "ns.v | tojson"), "text");
        row("exponential repr", growing("[]", "[ns.v, ns.v]") + "{{ ns.v }}", "");
        row("exponential tojson", growing("[]", "[ns.v, ns.v]") + "{{ ns.v | tojson }}", "");
        row("exponential comparison",
            growing("[]", "[ns.v, ns.v]") + growing("[]", "[ns.v, ns.v]") +
                "{% set a = ns.v %}{{ a == [a[0], a[1]] }}{{ (a | string) == '' }}",
            "");
        row("huge power", "{{ 2 ** 100000000 }}", "64 bits");
        row("huge product", "{{ 9223372036854775807 * 2 }}", "64 bits");
        row("smallest divided", "{{ (-9223372036854775807 - 1) // -1 }}", "64 bits");
        row("smallest rounded", "{{ (-9223372036854775807 - 1) | round(-1) }}", "64 bits");
        row("smallest negated", "{{ -(-9223372036854775807 - 1) }}", "64 bits");
        row("literal", "{{ 99999999999999999999 }}", "64 bits");
        row("int filter", "{{ '99999999999999999999' | int }}", "64 bits");
        row("width of %", "{{ '%99999999999d' % 1 }}", "text");
        row("width of % from outside", "{{ '%*d' % (99999999999, 1) }}", "text");
        row("precision of %", "{{ '%.99999999f' % 1.5 }}", "precision");
        row("digits of %", "{{ '%.99999999d' % 1 }}", "text");
        row("width of format", "{{ '{:99999999999}'.format(1) }}", "text");
        row("nested formats", "{{ ('{:' * 50000 + '}' * 50000).format(1) }}", "");
        row("center", "{{ 'a' | center(99999999999) }}", "text");
        row("ljust", "{{ 'a'.ljust(99999999999) }}", "text");
        row("ljust by more bytes than 64 bits count", "{{ 'a'.ljust(4611686018427387904, '😀') }}", "text");
        row("rjust by a little more than 64 bits count", "{{ 'a'.rjust(4611686018427387905, '😀') }}", "text");
        row("zfill", "{{ 'a'.zfill(99999999999) }}", "text");
        row("expandtabs", "{{ '\\t'.expandtabs(99999999999) }}", "text");
        row("indent", "{{ 'a' | indent(99999999999, true) }}", "text");
        row("tojson indent", "{{ [1] | tojson(indent=99999999999) }}", "text");
        row("batch", "{{ [1] | batch(99999999999, 'x') | list }}", "");
        row("slice", "{{ [1] | slice(99999999999) | list }}", "");
        row("replace nothing", "{{ ('a' * 1000000) | replace('', 'b' * 1000) }}", "text");
        row("many prints", "{% for i in range(99999) %}{{ 'a' * 10000 }}{% endfor %}", "");
        row("many splits", "{% for i in range(99999) %}{% set _ = ('a ' * 100000).split() %}{% endfor %}", "");
        row("many searches", "{% set s = 'a' * 1000000 %}{% for i in range(99999) %}{{ s.find('b') }}{% endfor %}",
            "steps");
        row("many indices", "{% set s = 'é' * 1000000 %}{% for i in range(99999) %}{% set _ = s[-1] %}{% endfor %}",
            "steps");
        row("many sorts",
            "{% set l = range(99999) | list %}{% for i in range(99999) %}{% set _ = l | sort %}{% endfor %}", "steps");
        row("much at the front",
            "{% set l = [] %}{% for i in range(99999) %}{% set _ = l.insert(0, l | length) %}{% endfor %}", "steps");
        row("unique of everything", "{{ (range(99999) | list * 1) | unique | list * 99999 }}", "");
        row("tuples as keys",
            "{% set ns = namespace(t=(1,)) %}{% for i in range(99999) %}{% set ns.t = (ns.t,) %}{% endfor %}{{ {ns.t: "
            "1} }}",
            "deeply");
        row("strftime", "{{ strftime_now('%A' * 9999999) }}", "");
        row("map over map",
            "{% set ns = namespace(g=[1]) %}{% for i in range(9999) %}{% set ns.g = ns.g | map('string') %}{% endfor "
            "%}{{ ns.g | list }}",
            "deeply");
        const std::string own_loop =
            "{% set ns = namespace(l=none, b=none) %}{% for x in [1, 2, 3] if ns.l is none or ";
        row("a loop's condition counts its own loop",
            own_loop + "ns.l.length > 100 %}{% set ns.l = loop %}{% endfor %}", "already executing");
        row("a loop's condition walks its own loop",
            own_loop + "ns.l | list | length > 9 %}{% set ns.l = loop %}{% endfor %}", "already executing");
        row("a loop's condition walks what batches its own loop",
            own_loop + "ns.b | list | length > 9 %}{% set ns.l = loop %}{% set ns.b = loop | batch(2) %}{% endfor %}",
            "already executing");
        row("attribute path", "{{ [[]] | map(attribute='0.' * 1000000 ~ '0') | list }}", "");
        row("strip set", "{{ ('ab' * 5000000).strip('cdefghijklmnopqrstuvwxyzab' * 10000) }}", "");
    }

    void hostileTemplatesGetAnError()
    {
        QFETCH(std::string, source);
        QFETCH(QString, mention);
        const std::clock_t start = std::clock();
        const std::string what = sentence(source);
        const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
        QVERIFY2(!what.empty(), "no error");
        QVERIFY2(what.find(mention.toStdString()) != std::string::npos, what.c_str());
        QVERIFY2(seconds < (kSanitized ? 60.0 : 5.0), qPrintable(QString::number(seconds)));
    }

    // Deep nesting, in the source and in values: an error or the right answer, on a small stack.
    void depthIsLimited_data()
    {
        QTest::addColumn<std::string>("source");
        QTest::addColumn<bool>("fails");
        const int many = 50'000;
        const auto row = [](const char* name, const std::string& source, bool fails = true) {
            QTest::newRow(name) << source << fails;
        };
        row("parentheses", "{{ " + repeated("(", many) + "1" + repeated(")", many) + " }}");
        row("lists", "{{ " + repeated("[", many) + repeated("]", many) + " }}");
        row("dicts", "{{ " + repeated("{1:", many) + "1" + repeated("}", many) + " }}");
        row("not", "{{ " + repeated("not ", many) + "1 }}");
        row("minus", "{{ " + repeated("- ", many) + "1 }}");
        row("additions", "{{ 1" + repeated(" + 1", many) + " }}");
        row("ands", "{{ 1" + repeated(" and 1", many) + " }}");
        row("attributes", "{{ n" + repeated(".a", many) + " }}");
        row("items", "{{ n" + repeated("[0]", many) + " }}");
        row("calls", "{{ n" + repeated("()", many) + " }}");
        row("filters", "{{ n" + repeated("|abs", many) + " }}");
        row("conditions", "{{ 1" + repeated(" if 1 else 1", many) + " }}");
        row("tests", "{{ 1" + repeated(" is odd", many) + " }}");
        row("ifs", repeated("{% if 1 %}", 20'000) + repeated("{% endif %}", 20'000));
        row("fors", repeated("{% for i in [1] %}", 10'000) + repeated("{% endfor %}", 10'000));
        row("macros", repeated("{% macro m() %}", 10'000) + repeated("{% endmacro %}", 10'000));
        row("targets", "{% set " + repeated("(", many) + "a" + repeated(")", many) + " = 1 %}");
        row("filter block", "{% filter " + repeated("abs|", many) + "abs %}{% endfilter %}");
        row("concatenations are flat", "{{ 1" + repeated(" ~ 1", many) + " }}", false);
        row("comparisons are flat", "{{ 1" + repeated(" == 1", many) + " }}", false);
        row("elifs are flat", "{% if 0 %}" + repeated("{% elif 0 %}", 20'000) + "{% endif %}", false);
        row("as deep as it goes", "{{ " + repeated("(", 70) + "1" + repeated(")", 70) + repeated(" + 1", 390) + " }}",
            false);
        row("recursive macro", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
        row("recursive macros", "{% macro f() %}{% if n %}{% for i in [1] %}{{ (g() ~ 'x') | upper }}{% endfor %}{% "
                                "endif %}{% endmacro %}{% macro g() %}{{ [f()] | join }}{% endmacro %}{{ f() }}");
        row("recursive loop", "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}");
        row("recursive call block", "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}");
        row("recursive default", "{% macro f(a=f()) %}{% endmacro %}{{ f() }}");
        const std::string deep =
            "{% set ns = namespace(l=[]) %}{% for i in range(50000) %}{% set ns.l = [ns.l] %}{% endfor %}";
        const std::string deepDict =
            "{% set ns = namespace(l={}) %}{% for i in range(50000) %}{% set ns.l = {'a': ns.l} %}{% endfor %}";
        row("a deep value dies quietly", deep, false);
        row("a deep dict dies quietly", deepDict, false);
        const std::string deepLoops =
            "{% set ns = namespace(l=[1] * 9999) %}{% for i in range(9999) %}{% for x in ns.l %}"
            "{% set ns.l = loop %}{% break %}{% endfor %}{% endfor %}";
        row("loops over loops", deepLoops + "{{ ns.l.nextitem }}");
        row("the length of loops over loops", deepLoops + "{{ ns.l.length }}");
        row("deep repr", deep + "{{ ns.l }}");
        row("deep tojson", deep + "{{ ns.l | tojson }}");
        row("deep dict repr", deepDict + "{{ ns.l }}");
        row("deep comparison", deep + "{% set a = ns.l %}{% set ns.l = [] %}{% for i in range(50000) %}{% set ns.l = "
                                      "[ns.l] %}{% endfor %}{{ a == ns.l }}");
        row("deep order", deep + "{% set a = ns.l %}{% set ns.l = [] %}{% for i in range(50000) %}{% set ns.l = [ns.l] "
                                 "%}{% endfor %}{{ a < ns.l }}");
        row("tojson of a cycle", "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}");
        row("comparison of cycles",
            "{% set a = [] %}{% set _ = a.append(a) %}{% set b = [] %}{% set _ = b.append(b) %}{{ a == b }}");
        row("many lambdas",
            "{% set ns = namespace(g=[1]) %}{% for i in range(20000) %}{% set ns.g = ns.g | select %}{% endfor %}",
            false);
    }

    void depthIsLimited()
    {
        QFETCH(std::string, source);
        QFETCH(bool, fails);
        const std::string what = sentenceOnSmallStack(source);
        QVERIFY2(what.empty() != fails, what.c_str());
    }

    void memoryStaysBounded()
    {
        if (kSanitized || peakKilobytes() < 0)
            QSKIP("needs Linux and no sanitizer");
        const qint64 kilobytes = peakKilobytes();  // of all the hostile templates above
        QVERIFY2(kilobytes < 256 * 1024, qPrintable(QString::number(kilobytes)));
    }

    void cyclesEndWithTheRendering()
    {
        const std::string source =
            "{% set l = [] %}{% set _ = l.append(l) %}{% set d = {} %}{% set _ = d.update(d=d, l=l) %}"
            "{% set ns = namespace(a=1) %}{% set ns.me = ns %}{% macro m() %}{{ l }}{% endmacro %}{{ m() }}|{{ d }}";
        const auto rendered = ChatTemplate::parse(source)->render(variables());
        QVERIFY(rendered);
        QCOMPARE(QString::fromStdString(*rendered), QStringLiteral("[[...]]|{'d': {...}, 'l': [[...]]}"));
    }

    void theOutputIsLimited()
    {
        engine::RenderOptions options;
        options.max_text_bytes = 1000;
        const auto parsed = ChatTemplate::parse("{% for i in range(n) %}0123456789{% endfor %}");
        QVERIFY(parsed->render({{"n", 100}}, options));
        const auto rendered = parsed->render({{"n", 101}}, options);
        QVERIFY(!rendered);
        QCOMPARE(int(rendered.error().code), int(Error::Code::Template));
    }

    void aLongConversationFits()
    {
        ordered_json json = variables();
        for (int i = 0; i < 4000; ++i)
            json["messages"].push_back(
                {{"role", i % 2 ? "user" : "assistant"}, {"content", std::string(1000, 'a' + i % 26)}});
        const auto parsed = ChatTemplate::parse(std::string(engine::kChatMlTemplate));
        QVERIFY(parsed);
        const auto rendered = parsed->render(json);
        QVERIFY2(rendered, rendered ? "" : rendered.error().what.c_str());
        QVERIFY(rendered->size() > 4'000'000);
    }

    void aHugeTemplateIsRefused()
    {
        const auto parsed = ChatTemplate::parse(std::string(600 * 1024, 'x'));
        QVERIFY(!parsed);
        QCOMPARE(int(parsed.error().code), int(Error::Code::Template));
    }

    // As many names as a template of the largest size can have, set and read in as many places.
    void manyNamesAreReadInOneGo_data()
    {
        QTest::addColumn<std::string>("source");
        QTest::addColumn<int>("variables");
        constexpr int kMany = 16'000;
        const auto each = [](int times, const std::string& before, const std::string& after) {
            std::string out;
            for (int i = 0; i < times; ++i)
                out.append(before).append("n").append(std::to_string(i)).append(after);
            return out;
        };
        const std::string set = each(kMany, "{%set ", "=1%}");
        QTest::newRow("read") << "{{[" + each(64'000, "", ",") + "]}}" << 64'000;
        QTest::newRow("read after blocks") << set + each(9'000, "{%if ", "%}{%endif%}") << 0;
        QTest::newRow("read after loops") << set + each(8'000, "{%for i in ", "%}{%endfor%}") << 0;
        QTest::newRow("read after with") << set + each(8'000, "{%with i=", "%}{%endwith%}") << 0;
        QTest::newRow("set in many ways")
            << "{%if a%}{%set b=1%}" + each(kMany, "{%elif b%}{%set ", "=1%}") + "{%endif%}{{n0}}" << 3;
        QTest::newRow("macros") << each(12'000, "{%macro ", "()%}{%endmacro%}") + "{{n0()}}" << 0;
    }

    void manyNamesAreReadInOneGo()
    {
        QFETCH(std::string, source);
        QFETCH(int, variables);
        const std::clock_t start = std::clock();
        const auto parsed = ChatTemplate::parse(source);
        const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
        QVERIFY2(parsed, parsed ? "" : parsed.error().what.c_str());
        QCOMPARE(int(parsed->variables().size()), variables);
        QVERIFY2(seconds < (kSanitized ? 60.0 : 5.0), qPrintable(QString::number(seconds)));
    }

    void deepVariablesAreRefused()
    {
        ordered_json deep = 1;
        for (int i = 0; i < 5000; ++i)
            deep = ordered_json::array({std::move(deep)});
        const auto parsed = ChatTemplate::parse("{{ deep }}");
        QVERIFY(!parsed->render({{"deep", deep}}));
    }
};

SPILLWAY_TEST(QCoreApplication, TemplateLimits)
#include "tst_template_limits.moc"
