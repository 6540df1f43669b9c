// Tests every feature of the template language on small templates, as python3-jinja2 renders them
// (tests/support/make_template_goldens.py), and what only this interpreter has: limits, and names for the window.
#include "engine/template/chat_template.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QFile>
#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>

using engine::ChatTemplate;
using engine::Error;
using nlohmann::ordered_json;

static const ordered_json& goldens()
{
    static const ordered_json json = [] {
        std::ifstream file(SPILLWAY_SOURCE_DIR "/tests/data/templates.json", std::ios::binary);
        return ordered_json::parse(file);
    }();
    return json;
}

static engine::RenderOptions at_the_goldens_time()
{
    engine::RenderOptions options;
    options.now = std::tm{};
    options.now->tm_year = 126;
    options.now->tm_mon = 6;
    options.now->tm_mday = 26;
    options.now->tm_hour = 12;
    options.now->tm_min = 5;
    options.now->tm_sec = 9;
    return options;
}

// The text, or "error: " and the sentence.
static QString outcome(const std::string& source, const ordered_json& variables)
{
    const auto parsed = ChatTemplate::parse(source);
    if (!parsed)
        return QStringLiteral("error: ") + QString::fromStdString(parsed.error().what);
    const auto rendered = parsed->render(variables, at_the_goldens_time());
    if (!rendered)
        return QStringLiteral("error: ") + QString::fromStdString(rendered.error().what);
    return QString::fromStdString(*rendered);
}

class TemplateLanguage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rendersAsJinja2_data()
    {
        QTest::addColumn<int>("number");
        const auto& cases = goldens()["cases"];
        for (int i = 0; i < int(cases.size()); ++i)
            QTest::newRow(cases[std::size_t(i)]["name"].get<std::string>().c_str()) << i;
    }

    void rendersAsJinja2()
    {
        QFETCH(int, number);
        const auto& golden = goldens()["cases"][std::size_t(number)];
        const QString actual = outcome(golden["template"].get<std::string>(), goldens()["variables"]);
        if (golden.contains("any_error")) {
            QVERIFY2(actual.startsWith(QStringLiteral("error: ")), qPrintable(actual));
        } else if (golden.contains("error")) {
            const QString expected =
                QStringLiteral("error: ") + QString::fromStdString(golden["error"].get<std::string>());
            const bool same = actual == expected || actual.startsWith(expected + QStringLiteral(" (line "));
            QVERIFY2(same, qPrintable(actual + QStringLiteral("\n   expected ") + expected));
        } else {
            QCOMPARE(actual, QString::fromStdString(golden["expected"].get<std::string>()));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TemplateLanguage)
#include "tst_template_language.moc"
