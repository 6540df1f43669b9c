#include "app/chat/request_settings.h"

#include "app/chat/sampling_control.h"

#include <QJsonDocument>
#include <QJsonObject>

void applySettings(const ConversationSettings& settings, engine::Request& request)
{
    for (const SamplingControl& control : samplingControls())
        if (const auto value = samplingValue(settings.sampling, control))
            control.give(request, *value);
    QJsonObject arguments = settings.templateArguments;
    for (const char* given : {"messages", "tools", "add_generation_prompt", "bos_token", "eos_token"})
        arguments.remove(QLatin1String(given));  // the engine gives these itself
    if (!arguments.isEmpty())
        request.template_arguments_json = QJsonDocument(arguments).toJson(QJsonDocument::Compact).toStdString();
    if (!settings.systemPrompt.trimmed().isEmpty() && request.raw_prompt.empty())
        request.messages.insert(request.messages.begin(),
                                {.role = "system", .text = settings.systemPrompt.toStdString()});
}
