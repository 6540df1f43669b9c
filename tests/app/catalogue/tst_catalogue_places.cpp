// Tests that the folders in which other programs keep models follow their environment variables.
#include "app/catalogue/places.h"
#include "tests/support/test_program.h"

#include <QHash>
#include <QSet>
#include <QTest>

class TestCataloguePlaces : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void placesFollowTheEnvironment_data()
    {
        QTest::addColumn<int>("system");
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("place");
        const int l = int(Surroundings::System::Linux), w = int(Surroundings::System::Windows);
        const auto row = [](const char* name, int system, const char* variable, const char* value, const char* place) {
            QTest::newRow(name) << system << QString(variable) << QString(value) << QString(place);
        };
        row("Ollama", l, "", "", "/home/u/.ollama/models");
        row("Ollama's service", l, "", "", "/usr/share/ollama/.ollama/models");
        row("Ollama by variable", l, "OLLAMA_MODELS", "/big/ollama", "/big/ollama");
        row("a relative variable", l, "OLLAMA_MODELS", "models", "/home/u/.ollama/models");
        row("Hugging Face", l, "", "", "/home/u/.cache/huggingface/hub");
        row("Hugging Face's cache", l, "HF_HUB_CACHE", "/hf", "/hf");
        row("Hugging Face's home", l, "HF_HOME", "~/hf", "/home/u/hf/hub");
        row("the desktop's cache", l, "XDG_CACHE_HOME", "/c", "/c/huggingface/hub");
        row("LM Studio", l, "", "", "/home/u/.lmstudio/models");
        row("LM Studio before", l, "", "", "/home/u/.cache/lm-studio/models");
        row("LM Studio moved", l, "", "", "/moved/models");
        row("LM Studio's chosen folder", l, "", "", "/chosen");
        row("LM Studio's chosen folder before", l, "", "", "/chosen before");
        row("Jan", l, "", "", "/home/u/.local/share/Jan/data/llamacpp/models");
        row("GPT4All", l, "XDG_DATA_HOME", "/d", "/d/nomic.ai/GPT4All");
        row("llama.cpp", l, "", "", "/home/u/.cache/llama.cpp");
        row("llama.cpp by variable", l, "LLAMA_CACHE", "/l", "/l");
        row("Ollama on Windows", w, "", "", "C:/Users/u/.ollama/models");
        row("Ollama on Windows by variable", w, "OLLAMA_MODELS", "D:\\ollama", "D:/ollama");
        row("Jan on Windows", w, "APPDATA", "C:\\Users\\u\\R", "C:/Users/u/R/Jan/data/llamacpp/models");
        row("LM Studio's chosen folder on Windows", w, "", "", "D:/chosen");
        row("LM Studio's chosen folder on Windows before", w, "APPDATA", "C:\\R", "D:/chosen before");
        row("GPT4All on Windows", w, "", "", "C:/Users/u/AppData/Local/nomic.ai/GPT4All");
        row("llama.cpp on Windows", w, "LOCALAPPDATA", "E:\\L", "E:/L/llama.cpp");
        row("Hugging Face on Windows", w, "", "", "C:/Users/u/.cache/huggingface/hub");
    }

    void placesFollowTheEnvironment()
    {
        QFETCH(int, system);
        QFETCH(QString, variable);
        QFETCH(QString, value);
        QFETCH(QString, place);
        Surroundings here;
        here.system = Surroundings::System(system);
        here.home = here.system == Surroundings::System::Windows ? "C:/Users/u" : "/home/u";
        here.variable = [&](const char* name) { return variable == name ? value : QString(); };
        const bool windows = here.system == Surroundings::System::Windows;
        const QHash<QString, QString> files = {
            {here.home + "/.lmstudio-home-pointer", windows ? "C:\\moved\n" : "/moved\n"},
            {"/moved/settings.json", R"({"language": "en", "downloadsFolder": "/chosen"})"},
            {"/home/u/.config/LM Studio/settings.json", R"({"downloadsFolder": "/chosen before"})"},
            {"C:/moved/settings.json", R"({"downloadsFolder": "D:\\chosen"})"},
            {"C:/R/LM Studio/settings.json", R"({"downloadsFolder": "D:\\chosen before"})"},
            {"C:/Users/u/AppData/Roaming/LM Studio/settings.json", R"({"downloadsFolder": ["no text"]})"}};
        here.shortFileText = [&](const QString& file) { return files.value(file); };
        QStringList paths;
        for (const StoreFolder& known : placesOfOtherPrograms(here))
            paths.append(known.path);
        QVERIFY2(paths.contains(place), qPrintable(paths.join(' ')));
        QCOMPARE(QSet<QString>(paths.begin(), paths.end()).size(), paths.size());
    }
};

SPILLWAY_TEST(QCoreApplication, TestCataloguePlaces)
#include "tst_catalogue_places.moc"
