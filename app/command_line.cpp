#include "app/command_line.h"

#include "app/settings/kv_type_names.h"
#include "engine/placement_text.h"

#include <QCommandLineParser>
#include <QCoreApplication>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace {

/// Translates the texts of functions that belong to no class.
struct Text {
    Q_DECLARE_TR_FUNCTIONS(CommandLine)
};

/// Reads numbers from options; the first one that is no number or too small makes the usage error.
class Numbers
{
public:
    Numbers(const QCommandLineParser& parser, QString& error)
        : m_parser(parser)
        , m_error(error)
    {
    }

    template <class Value>
    void read(const QString& option, int lowest, Value& value) const
    {
        bool ok = true;
        const int number = m_parser.value(option).toInt(&ok);
        if (m_parser.isSet(option))
            take(option, ok && number >= lowest, number, value);
    }

    void readReal(const QString& option, float lowest, float& value) const
    {
        bool ok = true;
        const float number = m_parser.value(option).toFloat(&ok);
        if (m_parser.isSet(option))
            take(option, ok && number >= lowest, number, value);
    }

    void read(const QString& option, std::optional<std::uint64_t>& value) const
    {
        bool ok = true;
        const std::uint64_t number = m_parser.value(option).toULongLong(&ok);
        if (m_parser.isSet(option))
            take(option, ok, number, value);
    }

private:
    template <class Number, class Value>
    void take(const QString& option, bool good, Number number, Value& value) const
    {
        if (good)
            value = number;
        else if (m_error.isEmpty())
            m_error = Text::tr("--%1 cannot be “%2”.").arg(option, m_parser.value(option));
    }

    const QCommandLineParser& m_parser;
    QString& m_error;
};

/// Reads the place of an option's value among `names`; a value that is none of them makes the usage error.
template <class Value>
void readChoice(const QCommandLineParser& parser, const QString& option, const QStringList& names,
                std::optional<Value>& value, QString& error)
{
    if (!parser.isSet(option))
        return;
    const auto place = names.indexOf(parser.value(option));
    if (place >= 0)
        value = Value(place);
    else if (error.isEmpty())
        error = Text::tr("--%1 is one of: %2.").arg(option, names.join(QStringLiteral(", ")));
}

void readPlacement(const QCommandLineParser& parser, CommandLine& line)
{
    engine::PlacementText text;
    const auto read = [&](const char* option, std::string& value) {
        if (parser.isSet(QLatin1String(option)))
            value = parser.value(QLatin1String(option)).toStdString();
    };
    read("device", text.device);
    read("ngl", text.layers);
    read("n-cpu-moe", text.host_experts);
    if (parser.isSet(QStringLiteral("cpu-moe")))
        text.host_experts = "all";
    text.override_tensor = parser.values(QStringLiteral("override-tensor")).join(QLatin1Char(',')).toStdString();
    text.expert_cache = "auto";
    read("expert-cache", text.expert_cache);
    read("vram", text.vram);
    read("link", text.link);
    read("kv-policy", text.kv_policy);
    const auto options = engine::parse_placement(text);
    if (options) {
        using Kind = engine::PlacementOptions::Device;
        constexpr int kMostGpus = 8;  // the settings offer no more
        line.placement = *options;
        if (parser.isSet(QStringLiteral("device")))
            line.device = options->device == Kind::Cpu        ? 0
                          : options->device == Kind::Emulated ? 1
                                                              : 2 + std::min(options->cuda_ordinal, kMostGpus - 1);
    } else if (line.usageError.isEmpty())
        line.usageError = QString::fromStdString(options.error().what) + QLatin1Char('.');
}

}  // namespace

bool CommandLine::asksAboutProgram(std::span<char* const> words)
{
    constexpr std::string_view kAsking[] = {"-h", "--help", "--help-all", "-v", "--version"};
    return std::ranges::any_of(words, [&](const char* word) {
        return std::ranges::find(kAsking, std::string_view(word)) != std::end(kAsking);
    });
}

CommandLine CommandLine::parse(const QStringList& arguments)
{
    QCommandLineParser parser;
    // "-ngl" is one option, as llama.cpp's users know it, not the three options n, g and l.
    parser.setSingleDashWordOptionMode(QCommandLineParser::ParseAsLongOptions);
    parser.setApplicationDescription(
        Text::tr("Talk to a language model on this computer, and see where its memory lives.\n"
                 "spillway-cli does the same without a window."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("FILE.gguf"), Text::tr("The model to open."),
                                 QStringLiteral("[FILE.gguf]"));
    parser.addOptions({
        {{"m", "model"}, Text::tr("The model to open."), "FILE.gguf"},
        {{"c", "ctx-size"}, Text::tr("Tokens the context holds; 0: the model's own."), "CTX"},
        {{"n", "n-predict"}, Text::tr("Longest answer in tokens; -1: no limit."), "N"},
        {{"t", "threads"}, Text::tr("Threads that compute; 0: one per core."), "THREADS"},
        {{"s", "seed"}, Text::tr("Seed of the random numbers."), "SEED"},
        {"temp", Text::tr("Temperature; 0: always the likeliest token."), "T"},
        {{"ctk", "cache-type"}, Text::tr("What the KV cache holds for this run: f16, q8_0 or f32."), "TYPE"},
        {"device", Text::tr("Where to compute: cpu, cuda, or emulated, a device in this computer's RAM."), "DEVICE"},
        {{"ngl", "n-gpu-layers"}, Text::tr("Layers on the device, the first ones; auto: as many as fit."), "N"},
        {{"cmoe", "cpu-moe"}, Text::tr("Experts of a mixture in RAM, the rest of their layers on the device.")},
        {{"ncmoe", "n-cpu-moe"},
         Text::tr("The same for the first layers; auto: experts are on the device as long as they find room."),
         "N"},
        {{"ot", "override-tensor"},
         Text::tr("Where routed experts lie whose tensors have such names: REGEX=cpu, REGEX=cuda:0 or REGEX=emulated."),
         "REGEX=DEVICE"},
        {"expert-cache",
         Text::tr("Memory of the device for copies of the experts that tokens choose most: 2GiB, or auto."), "SIZE"},
        {"vram", Text::tr("Memory of an emulated device: 64MiB, or fit:1024 for room for so many tokens."), "SIZE"},
        {"link", Text::tr("Speed of an emulated device's link: 16GB/s."), "RATE"},
        {"kv-policy", Text::tr("KV beyond the device's memory: resident, stream, merge, auto or cpu-decode."),
         "POLICY"},
        {"theme", Text::tr("system, light or dark, for this run."), "THEME"},
        {"language", Text::tr("system, en or de, for this run."), "LANGUAGE"},
        {"measure-start", Text::tr("Print the milliseconds until the window and the model are there.")},
        {"profile", Text::tr("Keep settings, conversations and logs in this folder."), "FOLDER"},
    });
    CommandLine line;
    if (!parser.parse(arguments)) {  // process() would end the program as if the window could not be opened
        line.usageError = parser.errorText();
        return line;
    }
    parser.process(arguments);
    const Numbers numbers(parser, line.usageError);
    numbers.read(QStringLiteral("ctx-size"), 0, line.contextTokens);
    numbers.read(QStringLiteral("threads"), 0, line.threads);
    numbers.read(QStringLiteral("n-predict"), -1, line.options.max_tokens);
    numbers.readReal(QStringLiteral("temp"), 0.0f, line.options.sampling.temperature);
    numbers.read(QStringLiteral("seed"), line.options.sampling.seed);
    const auto readNamed = [&](const char* option, const QStringList& names, auto& value) {
        readChoice(parser, QLatin1String(option), names, value, line.usageError);
    };
    readNamed("cache-type", kvTypeNames(), line.kvType);
    readNamed("theme", {"system", "light", "dark"}, line.theme);
    readNamed("language", {"system", "en", "de"}, line.language);
    readPlacement(parser, line);
    line.measuresStart = parser.isSet(QStringLiteral("measure-start"));
    line.profile = parser.value(QStringLiteral("profile"));
    if (parser.isSet(QStringLiteral("profile")) && line.profile.isEmpty())
        line.usageError = Text::tr("--profile needs a folder.");

    QStringList files = parser.positionalArguments();
    if (parser.isSet(QStringLiteral("model")))
        files.prepend(parser.value(QStringLiteral("model")));
    if (files.size() > 1)
        line.usageError = Text::tr("Spillway opens one model at a time.");
    else if (!files.isEmpty())
        line.modelFile = files.first();
    return line;
}
