#include "app/tuning/template_argument.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>
#include <array>

namespace {

constexpr qsizetype kMostUnknown = 8;  // more than these are not meant to be set by people

// Arguments for tools, documents, pictures or training, and names that templates set for themselves.
constexpr std::array kNotForPeople = {
    "add_tokens",
    "add_vision_id",
    "arguments",
    "auto_disable_thinking_with_tools",
    "available_tools",
    "builtin_tools",
    "continue_final_message",
    "controls",
    "convert_first_system_msg",
    "custom_tools",
    "developer_instruction",
    "developer_preamble",
    "documents",
    "enable_citations",
    "first_user_message",
    "functions",
    "grounding",
    "has_tool_sep",
    "image_prompts",
    "initial_instruction_message",
    "max_tool_arg_chars",
    "max_tool_response_chars",
    "pad_token",
    "platform_instruction_override",
    "reasoning_content",
    "regen_tool_call_ids",
    "render_assistant_messages_raw",
    "response_format",
    "response_schema",
    "skip_think",
    "system_message",
    "tool_call_format",
    "tool_choice",
    "tool_output_instructions",
    "tools_in_user_message",
    "training_prompt",
    "unk_token",
    "use_json_tooldef",
};

/// Describes the arguments that real templates take.
class Known
{
    Q_DECLARE_TR_FUNCTIONS(TemplateArguments)

public:
    static QList<TemplateArgument> all()
    {
        const QList<TemplateArgument::Choice> onOff = {{tr("On"), true}, {tr("Off"), false}};
        const QString think = tr("Whether the model thinks before it answers.");
        const QString keep = tr("Whether the model reads its earlier thoughts again.");
        const QString effort = tr("How long the model thinks before it answers.");
        return {
            {"thinking", tr("Thinking"), think, onOff},
            {"enable_thinking", tr("Thinking"), think, onOff},
            {"reasoning", tr("Thinking"), think, onOff},
            {"thinking_mode",
             tr("Thinking"),
             think,
             {{tr("On"), "enabled"}, {tr("When needed"), "adaptive"}, {tr("Off"), "disabled"}}},
            {"reasoning_effort",
             tr("Thinking effort"),
             effort,
             {{tr("Low"), "low"}, {tr("Medium"), "medium"}, {tr("High"), "high"}}},
            {"reasoning_strength",
             tr("Thinking effort"),
             effort,
             {{tr("Low"), "low"}, {tr("Medium"), "medium"}, {tr("High"), "high"}}},
            {"thinking_effort",
             tr("Thinking effort"),
             effort,
             {{tr("Low"), "low"}, {tr("High"), "high"}, {tr("Most"), "max"}}},
            {"low_effort", tr("Thinking effort"), effort, {{tr("Low"), true}, {tr("High"), false}}},
            {"medium_effort", tr("Thinking effort"), effort, {{tr("Medium"), true}, {tr("High"), false}}},
            {"thinking_budget", tr("Thinking budget"), tr("Tokens the model may think. 0: it does not think."), {}},
            {"preserve_thinking", tr("Keep thoughts"), keep, onOff},
            {"preserve_reasoning", tr("Keep thoughts"), keep, onOff},
            {"truncate_history_thinking", tr("Keep thoughts"), keep, {{tr("On"), false}, {tr("Off"), true}}},
            {"keep_past_thinking", tr("Keep thoughts"), keep, onOff},
            {"add_thoughts", tr("Keep thoughts"), keep, onOff},
            {"skip_thinking", tr("Skip thinking"), tr("Whether the model leaves its thoughts out."), onOff},
            {"model_identity", tr("Identity"), tr("Who the model says it is."), {}},
            {"date_string", tr("Date"), tr("The day the model takes for today."), {}},
            {"datetime", tr("Date"), tr("The day and time the model takes for now."), {}},
        };
    }
    static QString ofTheTemplate() { return tr("An argument of this model's chat template."); }
};

bool sane(const QString& name)
{
    static const QRegularExpression word(QStringLiteral("^[A-Za-z][A-Za-z0-9_]{0,39}$"));
    return word.match(name).hasMatch();
}

}  // namespace

QList<TemplateArgument> templateArguments(std::span<const std::string> names)
{
    QList<TemplateArgument> arguments;
    const auto reads = [&](const QString& name) {
        return std::find(names.begin(), names.end(), name.toStdString()) != names.end();
    };
    const QList<TemplateArgument> known = Known::all();
    for (const TemplateArgument& argument : known) {
        // Some templates take two names for one thing.
        const bool twice =
            (argument.key == QLatin1String("enable_thinking") && reads(QStringLiteral("thinking"))) ||
            (argument.key == QLatin1String("preserve_reasoning") && reads(QStringLiteral("preserve_thinking")));
        if (reads(argument.key) && !twice)
            arguments.append(argument);
    }
    qsizetype unknown = 0;
    for (const std::string& text : names) {
        const QString name = QString::fromStdString(text);
        const auto is = [&](const auto& other) { return name == QLatin1String(other); };
        const bool isKnown = std::any_of(known.begin(), known.end(), [&](const auto& k) { return k.key == name; });
        if (isKnown || !sane(name) || std::any_of(kNotForPeople.begin(), kNotForPeople.end(), is))
            continue;
        if (++unknown > kMostUnknown)
            break;
        arguments.append({name, name, Known::ofTheTemplate(), {}});
    }
    return arguments;
}

QJsonValue argumentValue(const QString& text)
{
    if (text == QLatin1String("true") || text == QLatin1String("false"))
        return text == QLatin1String("true");
    bool isWhole = false;
    const qint64 whole = text.toLongLong(&isWhole);
    if (isWhole && std::abs(whole) <= (qint64(1) << 53))
        return whole;
    return text;
}
