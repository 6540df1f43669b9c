#include "app/tuning/request_settings.h"

#include "app/tuning/sampling_control.h"

#include <QJsonDocument>

void applySettings(const ConversationSettings& settings, engine::Request& request)
{
    for (const SamplingControl& control : samplingControls())
        if (const auto value = samplingValue(settings.sampling, control))
            control.give(request, *value);
    if (!settings.templateArguments.isEmpty())
        request.template_arguments_json =
            QJsonDocument(settings.templateArguments).toJson(QJsonDocument::Compact).toStdString();
    if (!settings.systemPrompt.trimmed().isEmpty() && request.raw_prompt.empty())
        request.messages.insert(request.messages.begin(),
                                {.role = "system", .text = settings.systemPrompt.toStdString()});
}
