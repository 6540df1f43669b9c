// Offers what the readers of other programs' files share. No schema of these files is documented: what is not as
// expected is left out.
#pragma once

#include "app/exchange/imported.h"

#include <QJsonValue>

namespace foreign {

constexpr qsizetype kMostConversations = 100'000;
constexpr qsizetype kMostMessages = 1'000'000;          // of a file
const inline QString kLeftOut = QStringLiteral("[…]");  // where a picture was

QJsonValue member(const QJsonValue& value, const char* name);
QString line(const QJsonValue& value);         // a title or a name: one line of bounded length
qint64 milliseconds(const QJsonValue& value);  // of a time in milliseconds or seconds since 1970; 0: it is no time
std::optional<StoredMessage::Role> roleOf(const QJsonValue& value);

/// Gathers the text and the thoughts of one message while its parts are read.
class Words
{
public:
    void say(const QString& part) { add(m_text, part); }
    void think(const QString& part) { add(m_thoughts, part); }
    void leaveOut() { say(kLeftOut); }
    void add(const Words& more);
    bool isEmpty() const { return m_text.isEmpty() && m_thoughts.isEmpty(); }
    /// Returns the whole text: the thoughts first, in the marks in which models write them.
    QString text() const;

private:
    static void add(QString& text, const QString& part);

    QString m_text;
    QString m_thoughts;
};

/// Returns those of the conversations that have messages, with all that a conversation needs: title, times, leaf, id.
Imported finished(const QString& program, QList<StoredConversation> conversations, int leftOut);
Imported tooMany();

}  // namespace foreign
