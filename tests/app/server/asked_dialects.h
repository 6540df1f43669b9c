// asked_by() reads the body of a request as a dialect does; said_to() writes what it asks of the engine in one line.
#pragma once

#include "app/server/anthropic_messages.h"
#include "app/server/dialect.h"

#include <QByteArray>
#include <QJsonArray>
#include <QJsonObject>
#include <QString>

namespace server_test {

inline const QString kCacheQuestion = QStringLiteral("What is a KV cache?");

/// One message of the user's, as most dialects have it.
inline QJsonArray user_says(const QString& text)
{
    return {QJsonObject{{"role", "user"}, {"content", text}}};
}

/// Returns what a dialect asks of the engine; without messages where it refuses the body.
inline server::Ask asked_by(const server::Dialect& dialect, const QByteArray& body)
{
    auto asked = dialect.read(*server::parse_body(body.toStdString()), {"x", {}, nullptr});
    return asked ? std::move(asked->ask) : server::Ask();
}

/// role=text, (thoughts) and what else there is, of each message. + stands for an empty line.
inline QString said_to(const server::Ask& ask)
{
    QString all;
    for (const engine::Message& m : ask.turn.messages)
        all += QString::fromStdString(m.role + "=" + m.text + (m.reasoning.empty() ? "" : "(" + m.reasoning + ")") +
                                      m.more_json + ";");
    return all.replace("\n\n", "+");
}

/// Returns what these messages say to the engine where they are sent to Anthropic's API.
inline QString messages_by_anthropic(const QByteArray& messages)
{
    return said_to(asked_by(server::AnthropicMessages(), R"({"max_tokens": 5, "messages": )" + messages + "}"));
}

}  // namespace server_test
