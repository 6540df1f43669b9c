// LitTokens lights up the message or the tokens that the pointer is on, in the conversation and in the KV map.
#pragma once

#include "engine/telemetry.h"

#include <QHash>
#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// Holds the message that is lit, and its tokens: pointing at a message lights its cells in the KV map, pointing at a
/// cell lights the message. Lives on the UI thread; owned by ChatController.
class LitTokens : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(int first READ first NOTIFY changed)
    Q_PROPERTY(int last READ last NOTIFY changed)
    Q_PROPERTY(QString message READ message NOTIFY changed)

public:
    using Places = QHash<QString, engine::TokenRange>;  // by message

    explicit LitTokens(QObject* parent = nullptr);

    int first() const { return m_tokens.count() > 0 ? m_tokens.first : -1; }
    int last() const { return m_tokens.count() > 0 ? m_tokens.last - 1 : -1; }
    QString message() const { return m_message; }  // empty: none is lit

    /// Lights this message; empty, or one whose tokens are not known: none.
    Q_INVOKABLE void pointAtMessage(const QString& message);
    /// Lights the message that holds this token; -1, or a token of the template between the messages: none.
    Q_INVOKABLE void pointAtToken(int token);
    /// Returns the message that holds a token; empty: none does.
    Q_INVOKABLE QString messageAt(int token) const;

    /// Takes where the messages of the shown conversation lie.
    void setPlaces(const Places& places);

Q_SIGNALS:
    void changed();

private:
    void light(const QString& message);

    Places m_places;
    QString m_message;
    engine::TokenRange m_tokens;
};
