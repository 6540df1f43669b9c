// Templates of real models, rendered as Jinja2 renders them. The goldens come from outside the project.
#include "engine/template/chat_template.h"

#include <QDir>
#include <QTest>
#include <fstream>
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
};

QTEST_GUILESS_MAIN(ChatTemplates)
#include "tst_chat_templates.moc"
