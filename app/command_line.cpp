#include "app/command_line.h"

#include <QCommandLineParser>
#include <QCoreApplication>

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("CommandLine", text);
}

/// Reads numbers from options; the first one that is not what it should be is the usage error.
class Numbers
{
public:
    Numbers(const QCommandLineParser& parser, QString& error)
        : m_parser(parser)
        , m_error(error)
    {
    }

    void read(const QString& option, int lowest, int& value) const
    {
        bool ok = true;
        const int number = m_parser.value(option).toInt(&ok);
        if (m_parser.isSet(option))
            take(option, ok && number >= lowest, number, value);
    }

    void read(const QString& option, float lowest, float& value) const
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
            m_error = tr("--%1 cannot be “%2”.").arg(option, m_parser.value(option));
    }

    const QCommandLineParser& m_parser;
    QString& m_error;
};

std::optional<SettingsController::Theme> themeNamed(const QString& name)
{
    if (name == QLatin1String("system"))
        return SettingsController::System;
    if (name == QLatin1String("light"))
        return SettingsController::Light;
    if (name == QLatin1String("dark"))
        return SettingsController::Dark;
    return {};
}

}  // namespace

CommandLine CommandLine::parse(const QStringList& arguments)
{
    QCommandLineParser parser;
    // "-ngl" is one option, as llama.cpp's users know it, not three.
    parser.setSingleDashWordOptionMode(QCommandLineParser::ParseAsLongOptions);
    parser.setApplicationDescription(tr("Talk to a language model on this computer, and see where its memory lives.\n"
                                        "spillway-cli does the same without a window."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("FILE.gguf"), tr("The model to open."), QStringLiteral("[FILE.gguf]"));
    parser.addOptions({
        {{"m", "model"}, tr("The model to open."), "FILE.gguf"},
        {{"c", "ctx-size"}, tr("Tokens the context holds; 0: the model's own."), "CTX"},
        {{"n", "n-predict"}, tr("Longest answer in tokens; -1: no limit."), "N"},
        {{"t", "threads"}, tr("Threads that compute; 0: one per core."), "THREADS"},
        {{"s", "seed"}, tr("Seed of the random numbers."), "SEED"},
        {"temp", tr("Temperature; 0: always the likeliest token."), "T"},
        {"theme", tr("system, light or dark, for this run."), "THEME"},
    });
    parser.process(arguments);

    CommandLine line;
    const Numbers numbers(parser, line.usageError);
    numbers.read(QStringLiteral("ctx-size"), 0, line.load.context_tokens);
    numbers.read(QStringLiteral("threads"), 0, line.load.threads);
    numbers.read(QStringLiteral("n-predict"), -1, line.options.max_tokens);
    numbers.read(QStringLiteral("temp"), 0.0f, line.options.sampling.temperature);
    numbers.read(QStringLiteral("seed"), line.options.sampling.seed);
    if (parser.isSet(QStringLiteral("theme"))) {
        line.theme = themeNamed(parser.value(QStringLiteral("theme")));
        if (!line.theme)
            line.usageError = tr("--theme is system, light or dark.");
    }

    QStringList files = parser.positionalArguments();
    if (parser.isSet(QStringLiteral("model")))
        files.prepend(parser.value(QStringLiteral("model")));
    if (files.size() > 1)
        line.usageError = tr("Spillway opens one model at a time.");
    else if (!files.isEmpty())
        line.modelFile = files.first();
    return line;
}
