#include "app/tuning/conversation_settings_controller.h"

#include <array>

ConversationSettingsController::ConversationSettingsController(ChatController& chat, ConversationStore& store,
                                                               const engine::Request& defaults, QObject* parent)
    : QObject(parent)
    , m_chat(chat)
    , m_sampling(defaults)
    , m_presets(store)
{
    connect(&chat, &ChatController::settingsChanged, this, &ConversationSettingsController::show);
    connect(&chat, &ChatController::opened, this, &ConversationSettingsController::show);
    connect(&m_sampling, &SamplingModel::edited, this, [this] {
        m_settings.sampling = m_sampling.sampling();
        keep();
    });
    connect(&m_arguments, &TemplateArgumentModel::edited, this, [this] {
        m_settings.templateArguments = m_arguments.values();
        keep();
    });
    show();
}

void ConversationSettingsController::setSystemPrompt(const QString& text)
{
    if (m_settings.systemPrompt == text)
        return;
    m_settings.systemPrompt = text;
    keep();
}

int ConversationSettingsController::preset() const
{
    return m_presets.indexOf(m_settings.preset);
}

bool ConversationSettingsController::presetChanged() const
{
    const int row = preset();
    return row >= 0 && !(afterPreset(*m_presets.at(row), m_presets.isBuiltIn(row)) == m_settings);
}

int ConversationSettingsController::changedCount() const
{
    return m_sampling.changedCount() + m_arguments.changedCount() +
           (m_settings.systemPrompt.trimmed().isEmpty() ? 0 : 1);
}

void ConversationSettingsController::applyPreset(int row)
{
    const Preset* preset = m_presets.at(row);
    if (!preset)
        return;
    m_settings = afterPreset(*preset, m_presets.isBuiltIn(row));
    keep();
}

QString ConversationSettingsController::savePreset(const QString& name)
{
    if (QString why = m_presets.save(name, m_settings); !why.isEmpty())
        return why;
    m_settings.preset = name.simplified();
    keep();
    return {};
}

QString ConversationSettingsController::renamePreset(int row, const QString& name)
{
    const bool isOurs = row == preset();
    if (QString why = m_presets.rename(row, name); !why.isEmpty())
        return why;
    if (isOurs && row >= 0)
        m_settings.preset = name.simplified();
    keep();
    return {};
}

void ConversationSettingsController::removePreset(int row)
{
    m_presets.remove(row);
    Q_EMIT changed();
}

void ConversationSettingsController::resetAll()
{
    m_settings = {};
    keep();
}

void ConversationSettingsController::onModelReady(const engine::ModelInfo& model)
{
    m_argumentNames = model.template_arguments;
    retranslate();
}

void ConversationSettingsController::retranslate()
{
    m_arguments.setArguments(::templateArguments(m_argumentNames));
    Q_EMIT changed();
}

void ConversationSettingsController::onModelGone()
{
    m_argumentNames.clear();
    retranslate();
}

/// Returns the settings after a preset is applied. A built-in preset sets how words are chosen and leaves the rest; the
/// user's own sets everything.
ConversationSettings ConversationSettingsController::afterPreset(const Preset& preset, bool builtIn) const
{
    ConversationSettings after = builtIn ? m_settings : preset.settings;
    after.preset = preset.name;
    if (builtIn) {
        after.sampling = preset.settings.sampling;
        for (const auto key : std::array{QLatin1String("max_tokens"), QLatin1String("seed")})
            if (const QJsonValue value = m_settings.sampling.value(key); !value.isUndefined())
                after.sampling.insert(key, value);
    }
    return after;
}

void ConversationSettingsController::show()
{
    m_settings = m_chat.settings();
    m_sampling.show(m_settings.sampling);
    m_arguments.show(m_settings.templateArguments);
    Q_EMIT changed();
}

void ConversationSettingsController::keep()
{
    m_sampling.show(m_settings.sampling);
    m_arguments.show(m_settings.templateArguments);
    m_chat.setSettings(m_settings);
    Q_EMIT changed();
}

#include "moc_conversation_settings_controller.cpp"
