// Tests that a template ends soon whatever it does with the largest texts and lists it may have, and at once when
// somebody asks it to stop: work that grows faster than its input is counted while it grows.
#include "engine/template/chat_template.h"
#include "engine/template/interpreter.h"
#include "engine/template/lexer.h"
#include "engine/template/parser.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>
#include <atomic>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

using engine::ChatTemplate;
using engine::Error;
using engine::RenderOptions;
using namespace std::chrono_literals;

#ifdef SPILLWAY_SANITIZED
constexpr double kSlower = 15;
#else
constexpr double kSlower = 1;
#endif

namespace {

struct Outcome {
    std::string error;  // empty: it rendered
    std::int64_t steps = 0;
    double seconds = 0;  // of the processor, so that a busy machine changes nothing
};

const std::int64_t kSteps = RenderOptions{}.max_steps / 4;  // time enough to see what a step costs

/// Without the deadline, so that the steps alone have to end it.
Outcome work(const std::string& source)
{
    const auto syntax = engine::jinja::Parser(engine::jinja::tokenize(source)).run();
    const auto variables = nlohmann::ordered_json::object();
    RenderOptions options;
    options.max_steps = kSteps;
    options.max_time = 1h;
    Outcome outcome;
    const std::clock_t start = std::clock();
    {
        engine::jinja::Interpreter interpreter(*syntax, variables, options);
        try {
            interpreter.run();
        } catch (const engine::jinja::TemplateError& error) {
            outcome.error = error.what;
        }
        outcome.steps = options.max_steps - interpreter.heap.budget.steps_left();
    }
    outcome.seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    return outcome;
}

/// Statements before `{% for %}`, and an expression that is evaluated for as long as there are steps.
std::string again_and_again(const std::string& before, const std::string& expression)
{
    return before + "{% for i in range(99999) %}{% for j in range(99999) %}{% set _ = " + expression +
           " %}{% endfor %}{% endfor %}";
}

constexpr const char* kNeverEnding = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}";

}  // namespace

class TemplateWork : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void squaresArePaidFor_data()
    {
        QTest::addColumn<std::string>("source");
        test_support::PartOfAll part(5);
        const auto row = [&](const char* name, const std::string& before, const std::string& expression) {
            if (part.takes_next())
                QTest::newRow(name) << again_and_again(before, expression);
        };
        // x: all letters are alike. y: nearly a part of it, so that each place takes long to refuse.
        const std::string texts = "{% set x = 'a' * 12000000 %}{% set y = 'a' * 6000000 + 'b' %}"
                                  "{% set z = 'b' + 'a' * 6000000 %}";
        row("in", texts, "y in x");
        row("not in", texts, "z not in x");
        row("is in", texts, "y is in(x)");
        row("find", texts, "x.find(y)");
        row("find from", texts, "x.find(y, 5)");
        row("find the end first", texts, "x.find(z)");
        row("rfind", texts, "x.rfind(z)");
        row("rfind from", texts, "x.rfind(y, 1, -1)");
        row("index", texts + "{% set x = x[:6000000] + y %}", "x.index(y)");
        row("rindex", texts + "{% set x = z + x[6000000:] %}", "x.rindex(z)");
        row("count", texts, "x.count(y)");
        row("count of short ones", texts, "x.count('ab')");
        row("count of nothing", texts, "x.count('')");
        row("replace", texts, "x.replace(y, '')");
        row("replace filter", texts, "x | replace(y, '')");
        row("replace one by one", texts, "x.replace('a', '')");
        row("split", texts, "x.split(y)");
        row("split of nearly", texts, "x.split('ab')");
        row("rsplit", texts, "x.rsplit(z)");
        row("split at space", texts, "x.split()");
        row("rsplit at space", texts, "x.rsplit()");
        row("splitlines", texts, "x.splitlines()");
        row("partition", texts, "x.partition(y)");
        row("rpartition", texts, "x.rpartition(z)");
        row("strip of a large set", "{% set s = 'bcde' * 3000000 %}", "''.strip(s)");
        row("strip with a large set", "{% set s = 'bcde' * 1000000 + 'a' %}{% set x = 'a' * 4000000 %}", "x.strip(s)");
        row("rstrip with a large set", "{% set s = 'bcde' * 1000000 + 'a' %}{% set x = 'a' * 4000000 %}",
            "x.rstrip(s)");
        row("startswith", texts, "x.startswith(y)");
        row("startswith any", texts, "x.startswith((y, y, y, y, y, y, y, y))");
        row("endswith any", texts, "x.endswith((z, z, z, z, z, z, z, z))");
        row("removeprefix", texts, "x.removeprefix(y)");
        row("removesuffix", texts, "x.removesuffix(z)");
        row("equality", texts + "{% set w = 'a' * 12000000 %}", "x == w");
        row("order", texts, "x < y");
        row("length", texts, "(x ~ 'é') | length");
        row("one character", "{% set x = 'é' * 6000000 %}", "x[-1]");
        row("slice", "{% set x = 'é' * 6000000 %}", "x[-2:]");
        row("slice by steps", "{% set x = 'é' * 1000000 %}", "x[::1000000]");
        row("join with a long separator", texts, "[] | join(x)");
        row("str.join of nothing", texts, "x.join([])");
        row("center with a long fill", texts, "'a'.center(2, 'b') ~ (x | center(12000001))");
        row("indent", "", "'' | indent(12000000)");
        row("indent by a long text", texts, "'' | indent(x)");
        row("truncate", texts, "'a' | truncate(12000001, end=x)");
        row("tojson with a wide indent", "", "1 | tojson(indent=12000000)");
        row("tojson with long separators", texts, "1 | tojson(separators=(x, x))");
        row("escape", texts, "x | escape");
        row("upper", texts, "x | upper");
        row("title", texts, "x | title");
        row("repr", texts, "[x] | string");
        row("words", texts, "x | wordcount");
        row("int", "{% set x = '0' * 12000000 %}", "x | int");
        row("isalpha", "{% set x = 'é' * 6000000 %}", "x.isalpha()");
        row("format with many names",
            "{% set d = dict() %}{% for i in range(30000) %}{% set _ = d.update([['k' ~ i, 1]]) %}{% endfor %}",
            "('{k1}{k2}{k29999}' * 1000).format(**d)");
        const std::string items = "{% set l = [1] * 3000000 %}";
        row("list.remove", items + "{% set _ = l.insert(0, 2) %}", "l.insert(0, 2) or l.remove(2)");
        row("list.index", items, "2 in l");
        row("list.count", items, "l.count(1)");
        row("list.insert", "{% set l = [1] * 1000000 %}", "l.insert(0, 1)");
        row("list.pop", items, "l.insert(0, l.pop(0))");
        row("list equality", items + "{% set k = [1] * 3000000 %}", "k == l");
        row("list order", items + "{% set k = [1] * 3000000 %}", "k < l");
        row("list sum", "{% set l = [[1]] * 100000 %}", "l | sum(start=[])");
        row("list reverse", items, "l.reverse()");
        row("sort", "{% set l = range(100000) | list %}", "l | sort");
        row("sort of long texts",
            "{% set x = 'a' * 100000 %}{% set l = [] %}{% for i in range(100) %}"
            "{% set _ = l.append(x ~ i) %}{% endfor %}",
            "l | sort");
        row("unique", "{% set x = 'a' * 100000 %}{% set l = [x] * 1000 %}", "l | unique | list");
        row("groupby", "{% set l = [{'a': 1}] * 1000 %}", "l | groupby('a')");
        row("min of long texts", "{% set x = 'a' * 1000000 %}{% set l = [x ~ 1, x ~ 2] * 100 %}", "l | min");
        const std::string dict = "{% set d = dict() %}{% for i in range(100000) %}{% set _ = d.update([[i, i]]) %}"
                                 "{% endfor %}";
        row("dict.copy", dict, "d.copy()");
        row("dict of a dict", dict, "dict(d)");
        row("dict.update", dict, "d.update(d)");
        row("dict.pop", dict, "d.update([[i, i]]) or d.pop(i)");
        row("keys that collide",
            "{% set d = dict() %}{% for i in range(1500) %}{% set _ = d.update([[i * 68719476736, i]]) %}{% endfor %}",
            "d.update([[5, 5]]) or d.pop(5)");
        std::string parameters, names;
        for (int i = 0; i < 20'000; ++i) {
            parameters += (i ? ",p" : "p") + std::to_string(i);
            names += "{% set n" + std::to_string(i) + "=1 %}";
        }
        row("a macro with many parameters", "{% macro m(" + parameters + ") %}{% endmacro %}", "m()");
        row("many names", names, "n19999");
    }

    void squaresArePaidFor()
    {
        QFETCH(std::string, source);
        const Outcome outcome = work(source);
        QVERIFY2(outcome.error == "the template takes too many steps", outcome.error.c_str());
        QVERIFY(outcome.steps > kSteps);
        const QByteArray seconds = QByteArray::number(outcome.seconds);
        // Work that grows as a square and is not counted takes hours. The counted steps take less than half a second
        // where nothing else runs; the same work takes several times as long where others use the caches.
        QVERIFY2(outcome.seconds < 4 * kSlower, seconds.constData());
        if (qEnvironmentVariableIsSet("SPILLWAY_SHOW_TIMES"))
            qInfo("%s s", seconds.constData());
    }

    void whatGoesOnIsStopped_data()
    {
        QTest::addColumn<std::string>("source");
        QTest::addColumn<int>("after_ms");
        const std::pair<const char*, std::string> kinds[] = {
            {"steps", kNeverEnding},
            {"searches", again_and_again("{% set x = 'a' * 12000000 %}{% set y = x[:6000000] + 'b' %}", "y in x")},
            {"upper case", again_and_again("{% set x = 'é' * 6000000 %}", "x | upper")},
            {"sorting", again_and_again("{% set l = range(100000) | list %}", "l | sort")},
        };
        for (const auto& [kind, source] : kinds)
            for (const int after_ms : {0, 1, 40, 150})
                QTest::addRow("%s after %d ms", kind, after_ms) << source << after_ms;
    }

    void whatGoesOnIsStopped()
    {
        QFETCH(std::string, source);
        QFETCH(int, after_ms);
        const auto parsed = ChatTemplate::parse(source);
        QVERIFY(parsed);
        std::stop_source stop;
        std::atomic<std::clock_t> asked{0};
        RenderOptions options;
        options.max_steps = INT64_MAX;
        options.max_time = 1h;
        options.stop = stop.get_token();
        std::thread user([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
            asked = std::clock();
            stop.request_stop();
        });
        const auto rendered = parsed->render(nlohmann::ordered_json::object(), options);
        const std::clock_t ended = std::clock();
        user.join();
        QVERIFY(!rendered);
        QCOMPARE(int(rendered.error().code), int(Error::Code::Cancelled));
        const double seconds = double(ended - asked) / CLOCKS_PER_SEC;
        QVERIFY2(seconds < 1 * kSlower, qPrintable(QString::number(seconds)));  // the slowest take 0.012 s
        if (qEnvironmentVariableIsSet("SPILLWAY_SHOW_TIMES"))
            qInfo("%f s", seconds);
    }

    void theClockEndsIt()
    {
        const auto parsed = ChatTemplate::parse(kNeverEnding);
        QVERIFY(parsed);
        RenderOptions options;
        options.max_steps = INT64_MAX;
        options.max_time = 100ms;
        QElapsedTimer timer;
        timer.start();
        const auto rendered = parsed->render(nlohmann::ordered_json::object(), options);
        QVERIFY(timer.elapsed() >= 100);
        QVERIFY(!rendered);
        QCOMPARE(QString::fromStdString(rendered.error().what),
                 QStringLiteral("the template takes too long (line 1 of the chat template)"));
        QVERIFY(RenderOptions{}.max_time <= 2s);
    }
};

SPILLWAY_TEST(QCoreApplication, TemplateWork)
#include "tst_template_work.moc"
