// LatestTelemetry shows the newest numbers in the line below the conversation.
#pragma once

#include "engine/telemetry.h"

#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

/// The last telemetry frame as properties; undefined means "not known", never zero. Lives on the UI thread; owned by
/// ChatController, which drops the frames of older turns.
class LatestTelemetry : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(QVariant ttftMs READ ttftMs NOTIFY changed)
    Q_PROPERTY(QVariant tokensPerSecond READ tokensPerSecond NOTIFY changed)
    Q_PROPERTY(int contextTokens READ contextTokens NOTIFY changed)
    Q_PROPERTY(int contextLimit READ contextLimit NOTIFY changed)
    Q_PROPERTY(int promptTokens READ promptTokens NOTIFY changed)
    Q_PROPERTY(int readTokens READ readTokens NOTIFY changed)
    Q_PROPERTY(double kvBytes READ kvBytes NOTIFY changed)

public:
    explicit LatestTelemetry(QObject* parent = nullptr);

    QVariant ttftMs() const;
    QVariant tokensPerSecond() const;
    int contextTokens() const { return m_frame.context_tokens; }
    int contextLimit() const { return m_frame.context_limit; }  // 0: no model
    int promptTokens() const { return m_frame.prompt_tokens; }
    int readTokens() const { return m_frame.reused_tokens + m_frame.prefilled_tokens; }  // of the prompt
    double kvBytes() const { return double(m_frame.kv_bytes_host + m_frame.kv_bytes_device); }

    void show(const engine::Telemetry& frame);
    /// Shows a conversation without tokens in a context of this size; 0: there is no model.
    void reset(int contextLimit);

Q_SIGNALS:
    void changed();

private:
    engine::Telemetry m_frame;
};
