// ConversationSettingsController shows and changes the settings of the conversation that is shown.
#pragma once

#include "app/chat/chat_controller.h"
#include "app/tuning/preset_model.h"
#include "app/tuning/sampling_model.h"
#include "app/tuning/template_argument_model.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <string>
#include <vector>

/// Shows the conversation's settings as rows and writes each change into the conversation at once; applies, saves and
/// removes presets. Lives on the UI thread; owned by Program.
class ConversationSettingsController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QString systemPrompt READ systemPrompt WRITE setSystemPrompt NOTIFY changed)
    Q_PROPERTY(SamplingModel* sampling READ sampling CONSTANT)
    Q_PROPERTY(TemplateArgumentModel* templateArguments READ templateArguments CONSTANT)
    Q_PROPERTY(PresetModel* presets READ presets CONSTANT)
    Q_PROPERTY(int preset READ preset NOTIFY changed)
    Q_PROPERTY(bool presetChanged READ presetChanged NOTIFY changed)
    Q_PROPERTY(int changedCount READ changedCount NOTIFY changed)

public:
    /// `defaults`: the settings that count where a conversation sets none.
    ConversationSettingsController(ChatController& chat, ConversationStore& store, const engine::Request& defaults,
                                   QObject* parent = nullptr);

    QString systemPrompt() const { return m_settings.systemPrompt; }
    void setSystemPrompt(const QString& text);
    SamplingModel* sampling() { return &m_sampling; }
    TemplateArgumentModel* templateArguments() { return &m_arguments; }
    PresetModel* presets() { return &m_presets; }
    int preset() const;          // row of the preset that was applied last; -1: none, or it is gone
    bool presetChanged() const;  // settings were changed after it was applied
    int changedCount() const;    // settings that differ from the program's own

    Q_INVOKABLE void applyPreset(int row);
    // Return one sentence where that is not possible, else an empty text.
    Q_INVOKABLE QString savePreset(const QString& name);
    Q_INVOKABLE QString renamePreset(int row, const QString& name);
    Q_INVOKABLE void removePreset(int row);
    Q_INVOKABLE void resetAll();

    // Called when the model was loaded, or is gone.
    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();
    /// Call it when the language has changed.
    void retranslate();

Q_SIGNALS:
    void changed();

private:
    ConversationSettings afterPreset(const Preset& preset, bool builtIn) const;
    void show();
    void keep();

    ChatController& m_chat;
    ConversationSettings m_settings;
    SamplingModel m_sampling;
    TemplateArgumentModel m_arguments;
    std::vector<std::string> m_argumentNames;  // as the open model's template has them
    PresetModel m_presets;
};
