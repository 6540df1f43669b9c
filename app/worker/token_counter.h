// TokenCounter counts the tokens of texts that are not sent yet.
#pragma once

#include "app/worker/engine_thread.h"

#include <QHash>
#include <QObject>
#include <QPointer>

#include <functional>

/// Asks the engine's thread and passes each answer to the object that asked. While a step runs there, an answer waits.
/// Lives on the UI thread; owned by the object that counts.
class TokenCounter : public QObject
{
    Q_OBJECT

public:
    /// Empty: there is no model, it cannot tell, or it was stopped.
    using Answer = std::function<void(std::optional<int> tokens)>;

    explicit TokenCounter(EngineThread& engine, QObject* parent = nullptr);

    /// `answer` comes later, unless `asker` is gone by then.
    void count(const QString& text, QObject* asker, Answer answer, const std::stop_token& stop = {});

private:
    struct Asked {
        QPointer<QObject> asker;
        Answer answer;
    };
    void onCounted(quint64 job, std::optional<int> tokens);

    EngineThread& m_engine;
    QHash<quint64, Asked> m_asked;
};
