// What the conversation's page may ask for.
#pragma once

#include "app/models/message_model.h"
#include "app/monitor/latest_telemetry.h"
#include "app/worker/engine_thread.h"

#include <QObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <stop_token>

/// One conversation with the model that is open: sends, stops, tries again, and keeps the messages and numbers. Turns
/// are numbered; what belongs to an older one is dropped. Lives on the UI thread; owned by Program.
class ChatController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(MessageModel* messages READ messages CONSTANT)
    Q_PROPERTY(LatestTelemetry* telemetry READ telemetry CONSTANT)
    Q_PROPERTY(State state READ state NOTIFY stateChanged)
    Q_PROPERTY(bool busy READ busy NOTIFY stateChanged)
    Q_PROPERTY(bool canSend READ canSend NOTIFY canSendChanged)
    Q_PROPERTY(QString obstacle READ obstacle NOTIFY canSendChanged)
    Q_PROPERTY(bool contextFull READ contextFull NOTIFY contextFullChanged)
    Q_PROPERTY(bool continuesText READ continuesText NOTIFY continuesTextChanged)
    Q_PROPERTY(QString warnings READ warnings NOTIFY warningsChanged)

public:
    enum State {
        Ready,
        Reading,    // the prompt goes through the model
        Answering,  // text arrives
        Stopping,   // the engine has been told
    };
    Q_ENUM(State)

    /// `options` is what every request starts from: sampling, length. Its messages are replaced.
    ChatController(EngineThread& engine, engine::Request options, QObject* parent = nullptr);
    ~ChatController() override;

    MessageModel* messages() { return &m_messages; }
    LatestTelemetry* telemetry() { return &m_telemetry; }
    State state() const { return m_state; }
    bool busy() const { return m_state != Ready; }
    bool canSend() const { return obstacle().isEmpty(); }
    QString obstacle() const;  // why nothing can be sent now; empty when it can
    bool contextFull() const { return m_contextFull; }
    bool continuesText() const { return m_model && !m_model->has_chat_template; }
    QString warnings() const { return m_warnings.join(QLatin1Char('\n')); }  // a sentence a line

    /// False when it cannot be sent now; `obstacle` says why, and the text stays where it was typed.
    Q_INVOKABLE bool send(const QString& text);
    Q_INVOKABLE void stop();
    /// Asks for the last answer again, in place of one that failed or was stopped.
    Q_INVOKABLE void retry();
    Q_INVOKABLE void newConversation();
    Q_INVOKABLE void copy(const QString& text);
    Q_INVOKABLE void dismissWarnings();

    // What becomes of the model.
    void onLoadStarted();
    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();

Q_SIGNALS:
    void stateChanged();
    void canSendChanged();
    void contextFullChanged();
    void continuesTextChanged();
    void warningsChanged();

    void modelLost();  // the engine had to close it; the message that was being answered says why

private:
    void ask();
    engine::Request request() const;
    void onText(quint64 turn, const QString& text);
    void onTelemetry(quint64 turn, const engine::Telemetry& frame);
    void onFinished(quint64 turn, const engine::Turn& result);
    void onFailed(quint64 turn, const engine::Error& error);
    void onEvent(const engine::Event& event);
    void setState(State state);
    void setContextFull(bool full);
    void setModel(std::optional<engine::ModelInfo> model);

    EngineThread& m_engine;
    engine::Request m_options;
    MessageModel m_messages;
    LatestTelemetry m_telemetry;
    State m_state = Ready;
    quint64 m_turn = 0;
    std::stop_source m_stop{std::nostopstate};
    std::optional<engine::ModelInfo> m_model;
    bool m_loading = false;
    bool m_contextFull = false;
    QStringList m_warnings;
};
