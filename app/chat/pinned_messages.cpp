#include "app/chat/pinned_messages.h"

void PinnedMessages::toggle(const QString& conversation, const QString& message)
{
    QStringList& pinned = m_pinned[conversation];
    if (!pinned.removeOne(message))
        pinned.append(message);
}

std::vector<engine::TokenRange> PinnedMessages::tokens(const QString& conversation,
                                                       const QHash<QString, engine::TokenRange>& places) const
{
    std::vector<engine::TokenRange> tokens;
    for (const QString& message : m_pinned.value(conversation))
        if (const auto place = places.find(message); place != places.end())
            tokens.push_back(*place);
    return tokens;
}
