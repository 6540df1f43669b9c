// Opens the window on the fake engine, for work on its looks: it needs no model, any FILE.gguf will do.
// SPILLWAY_FAKE: a comma-separated list of full, error, slow-load, base, failing-load, warning, slow, fast, long,
// device. SPILLWAY_FAKE_TEXT: a file whose text is the answer; tests/data/markdown/rich.md has all that an answer may
// hold.
#include "app/command_line.h"
#include "app/log/log.h"
#include "app/program.h"
#include "app/system/plain_numbers.h"
#include "app/system/profile_folders.h"
#include "tests/support/fake_engine.h"

#include <QApplication>
#include <QFile>

#include <sstream>

namespace {

std::vector<std::string> longText(int paragraphs)
{
    const char* const sentences[] = {
        "A spillway lets the water that a reservoir cannot hold run off in a controlled way, so that the dam stands.",
        "The oldest blocks of the cache leave first; the newest stay where attention over them is fastest.",
        "Nothing is cut away silently, and every byte that moves is counted and shown.",
        "What follows costs bandwidth rather than memory, and that trade is yours to steer.",
    };
    std::vector<std::string> words;
    for (int paragraph = 0; paragraph < paragraphs; ++paragraph) {
        for (int i = 0; i < 4; ++i) {
            std::istringstream stream(sentences[(paragraph + i) % 4]);
            for (std::string word; stream >> word;)
                words.push_back(word + " ");
        }
        words.back() += "\n\n";
    }
    return words;
}

/// The text of a file in pieces about as long as tokens are.
std::vector<std::string> wordsOf(const QString& file)
{
    QFile text(file);
    std::vector<std::string> words;
    if (!text.open(QIODevice::ReadOnly))
        return words;
    const QString all = QString::fromUtf8(text.readAll());
    constexpr qsizetype kToken = 4;
    for (qsizetype at = 0; at < all.size(); at += kToken)
        words.push_back(all.mid(at, kToken).toStdString());
    return words;
}

/// A card of 8 GB that a conversation of 32K tokens has filled: the oldest half of its blocks lies on the host.
void addDevice(FakeScript::Settings& settings)
{
    engine::DeviceTelemetry device;
    device.id = "emulated";
    device.layers = device.layers_wanted = 16;
    device.total_bytes = device.budget_bytes = 8'000'000'000;
    device.watermark_bytes = 7'600'000'000;
    device.weight_bytes = 4'400'000'000;
    device.kv_bytes = 2'100'000'000;
    device.scratch_bytes = 500'000'000;
    settings.device = device;
    auto map = std::make_shared<engine::KvMap>();
    map->block_tokens = 256;
    map->layers = 16;
    map->columns = 128;
    for (int column = 0; column < map->columns; ++column)
        map->cells.insert(
            map->cells.end(), 16,
            std::uint8_t(column > 0 && column < 64 ? engine::KvMap::Place::Host : engine::KvMap::Place::Device));
    settings.kv_map = map;
}

void apply(const QStringList& wishes, FakeScript& script)
{
    using namespace std::chrono_literals;
    script.change([&](FakeScript::Settings& settings) {
        settings.words = longText(wishes.contains("long") ? 250 : 3);
        if (const QString file = qEnvironmentVariable("SPILLWAY_FAKE_TEXT"); !file.isEmpty())
            settings.words = wordsOf(file);
        settings.per_token = wishes.contains("slow") ? 120ms : wishes.contains("fast") ? 1ms : 12ms;
        if (wishes.contains("device"))
            addDevice(settings);
        settings.prefill = 600ms;
        settings.load = wishes.contains("slow-load") ? 30s : 1s;
        settings.template_arguments = {"enable_thinking", "reasoning_effort"};
        settings.has_chat_template = !wishes.contains("base");
        settings.context_tokens = wishes.contains("full") ? 100 : 131072;
        if (wishes.contains("failing-load"))
            settings.load_error = {engine::Error::Code::NoMemory,
                                   "the model needs 4.1 GB of memory and 2.3 GB are free"};
        if (wishes.contains("error")) {
            settings.generate_error = {engine::Error::Code::CannotRead,
                                       "the model file was cut off while it was in use"};
            settings.tokens_before_error = 20;
        }
        if (wishes.contains("warning"))
            settings.warning = "this file names the unknown tokenizer pattern 'x'; the default is used";
    });
}

}  // namespace

int main(int argc, char* argv[])
{
    QApplication application(argc, argv);
    usePlainNumbers();
    QApplication::setApplicationName(QStringLiteral("spillway-offline"));
    const CommandLine commandLine = CommandLine::parse(QApplication::arguments());
    const ProfileFolders folders = ProfileFolders::of(commandLine.profile);
    const auto logFeed = startLog(folders.state);
    Program::prepare();

    auto script = std::make_shared<FakeScript>();
    apply(qEnvironmentVariable("SPILLWAY_FAKE").split(','), *script);
    Program program(
        commandLine, folders, logFeed, [script] { return std::make_unique<FakeEngine>(script); },
        [script](const std::filesystem::path& path, const auto&) { return inspect_fake(*script, path); });
    return program.open() ? QApplication::exec() : 1;
}
