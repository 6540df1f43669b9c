#include "app/exchange/same_conversation.h"

#include "app/exchange/imported.h"

#include <QCryptographicHash>
#include <QHash>
#include <QSet>

#include <algorithm>
#include <utility>

namespace {

using Role = StoredMessage::Role;
using Saying = std::pair<int, QString>;  // role first
using Moment = std::pair<int, qint64>;

Saying sayingOf(const StoredMessage& message)
{
    return {int(message.role), message.text};
}

}  // namespace

bool hasAllOf(const StoredConversation& ours, const StoredConversation& theirs)
{
    QSet<Saying> sayings;
    QHash<Moment, const StoredMessage*> moments;  // null: several at that moment
    for (const StoredMessage& message : ours.messages) {
        sayings.insert(sayingOf(message));
        const Moment moment{int(message.role), message.createdMs};
        moments.insert(moment, moments.contains(moment) ? nullptr : &message);
    }
    return std::all_of(theirs.messages.begin(), theirs.messages.end(), [&](const StoredMessage& message) {
        if (sayings.contains(sayingOf(message)))
            return true;
        const StoredMessage* then = moments.value({int(message.role), message.createdMs});
        return message.createdMs > 0 && then && then->text.startsWith(message.text);
    });
}

QString idOfOtherCopy(const StoredConversation& conversation)
{
    QCryptographicHash all(QCryptographicHash::Sha256);
    all.addData(conversation.header.id.toUtf8());
    for (const StoredMessage& message : conversation.messages) {
        all.addData(QByteArray(1, message.role == Role::User ? 'u' : 'a'));
        all.addData(QByteArray::number(message.text.size()) + ' ');
        all.addData(message.text.toUtf8());
    }
    return idHere(QStringLiteral("copy"), QString::fromLatin1(all.result().toHex()));
}
