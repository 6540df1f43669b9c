// Tests that templates of real models are rendered as Jinja2 renders them. The goldens come from outside the project.
#include "engine/template/chat_template.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTest>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using nlohmann::ordered_json;

static std::string read_file(const QString& path)
{
    std::ifstream file(path.toStdString(), std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

static std::tm time_of(const std::string& iso)
{
    std::tm time{};
    std::sscanf(iso.c_str(), "%d-%d-%dT%d:%d:%d", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour,
                &time.tm_min, &time.tm_sec);
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    return time;
}

class ChatTemplates : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rendersAsJinja2_data()
    {
        QTest::addColumn<QString>("templatePath");
        QTest::addColumn<QString>("casesPath");
        QTest::addColumn<int>("number");
        const QDir folder(qEnvironmentVariable("SPILLWAY_GOLDEN") + QStringLiteral("/chat-templates"));
        if (!qEnvironmentVariableIsSet("SPILLWAY_GOLDEN") || !folder.exists())
            QSKIP("SPILLWAY_GOLDEN is not set: the templates of real models are not tested");
        for (const QString& name : folder.entryList({QStringLiteral("*.json")}, QDir::Files)) {
            const auto cases = ordered_json::parse(read_file(folder.filePath(name)));
            for (int i = 0; i < int(cases.size()); ++i) {
                const auto label = cases[std::size_t(i)]["case"].get<std::string>();
                QTest::addRow("%s %s", qPrintable(name.chopped(5)), label.c_str())
                    << folder.filePath(name.chopped(5) + QStringLiteral(".jinja")) << folder.filePath(name) << i;
            }
        }
    }

    void rendersAsJinja2()
    {
        QFETCH(QString, templatePath);
        QFETCH(QString, casesPath);
        QFETCH(int, number);
        ordered_json variables = ordered_json::parse(read_file(casesPath))[std::size_t(number)];
        const ordered_json given = variables;
        engine::RenderOptions options;
        options.now = time_of(given["now"].get<std::string>());
        for (const char* key : {"case", "now", "expected", "error"})
            variables.erase(key);

        const auto parsed = engine::ChatTemplate::parse(read_file(templatePath));
        QVERIFY2(parsed, parsed ? "" : parsed.error().what.c_str());
        const auto rendered = parsed->render(variables, options);

        if (given.contains("error")) {
            QVERIFY(!rendered);
            const auto expected = given["error"].get<std::string>();
            const std::string& actual = rendered.error().what;
            const bool same = actual == expected || actual.rfind(expected + " (line ", 0) == 0;
            QVERIFY2(same, actual.c_str());
            return;
        }
        QVERIFY2(rendered, rendered ? "" : rendered.error().what.c_str());
        QCOMPARE(QString::fromStdString(*rendered), QString::fromStdString(given["expected"].get<std::string>()));
    }

    // Read off the templates by eye; those of the conversation, tools and tokens are not among them.
    void knowsWhatTheyTake_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("arguments");
        if (!qEnvironmentVariableIsSet("SPILLWAY_GOLDEN"))
            QSKIP("SPILLWAY_GOLDEN is not set: the templates of real models are not tested");
        const auto row = [](const char* name, const char* arguments) {
            QTest::newRow(name) << QString::fromLatin1(name) << QString::fromLatin1(arguments);
        };
        row("Qwen3.5-4B", "add_vision_id enable_thinking");
        row("Qwen-Qwen2.5-7B-Instruct", "");
        row("google-gemma-4-31B-it", "enable_thinking");
        row("google-gemma-2-2b-it", "");
        row("deepseek-ai-DeepSeek-V3.1", "thinking enable_thinking");
        row("ByteDance-Seed-OSS", "thinking_budget system_message use_json_tooldef");
        row("MiniMax-M3", "thinking_mode model_identity");
        row("LFM2.5-8B-A1B", "preserve_thinking");
    }

    void knowsWhatTheyTake()
    {
        QFETCH(QString, name);
        QFETCH(QString, arguments);
        const QString path = qEnvironmentVariable("SPILLWAY_GOLDEN") + QStringLiteral("/chat-templates/") + name;
        const auto parsed = engine::ChatTemplate::parse(read_file(path + QStringLiteral(".jinja")));
        QVERIFY2(parsed, parsed ? "" : parsed.error().what.c_str());
        QStringList found;
        for (const std::string& argument : parsed->arguments())
            found << QString::fromStdString(argument);
        QCOMPARE(found.join(QLatin1Char(' ')), arguments);
    }
};

SPILLWAY_TEST(QCoreApplication, ChatTemplates)
#include "tst_chat_templates.moc"
