#include "app/store/unwritten.h"

#include <algorithm>
#include <utility>

void Unwritten::add(quint64 number, const QString& conversation, Change change)
{
    const auto place = std::lower_bound(m_changes.begin(), m_changes.end(), number,
                                        [](const Entry& entry, quint64 wanted) { return entry.number < wanted; });
    Entry entry{number, conversation, std::move(change)};
    if (place != m_changes.end() && place->number == number)
        *place = std::move(entry);
    else
        m_changes.insert(place, std::move(entry));
}

void Unwritten::forget(quint64 written)
{
    while (!m_changes.empty() && m_changes.front().number <= written)
        m_changes.pop_front();
}

bool Unwritten::concerns(const QString& conversation) const
{
    return std::any_of(m_changes.begin(), m_changes.end(), [&](const Entry& entry) {
        return entry.conversation == conversation || entry.conversation == any();
    });
}

QStringList Unwritten::conversations() const
{
    QStringList all;
    for (const Entry& entry : m_changes)
        if (entry.conversation != any() && !all.contains(entry.conversation))
            all << entry.conversation;
    return all;
}

void Unwritten::apply(const QString& conversation, State& state) const
{
    for (const Entry& entry : m_changes)
        if (entry.conversation == conversation || entry.conversation == any())
            entry.change(state);
}

namespace changes {

namespace {

void put(QList<StoredMessage>& messages, const StoredMessage& message)
{
    const auto found =
        std::find_if(messages.begin(), messages.end(), [&](const StoredMessage& m) { return m.id == message.id; });
    if (found == messages.end())
        messages.append(message);
    else
        *found = message;
}

}  // namespace

Unwritten::Change header(const ConversationHeader& header)
{
    return [header](Unwritten::State& state) {
        if (!state.conversation)
            state.conversation.emplace();
        state.conversation->header = header;
    };
}

Unwritten::Change message(const StoredMessage& message)
{
    return [message](Unwritten::State& state) {
        if (state.conversation)
            put(state.conversation->messages, message);
    };
}

Unwritten::Change text(const QString& message, const QString& text)
{
    return [message, text](Unwritten::State& state) {
        if (!state.conversation)
            return;
        for (StoredMessage& known : state.conversation->messages)
            if (known.id == message)
                known.text = text;
    };
}

Unwritten::Change all(const StoredConversation& conversation)
{
    return [conversation](Unwritten::State& state) {
        if (!state.conversation || state.conversation->messages.isEmpty()) {
            state.conversation = conversation;
            return;
        }
        state.conversation->header = conversation.header;
        for (const StoredMessage& message : conversation.messages)
            put(state.conversation->messages, message);
        if (!conversation.recording.isEmpty())
            state.conversation->recording = conversation.recording;
    };
}

Unwritten::Change recording(std::function<QByteArray()> json)
{
    return [json = std::move(json)](Unwritten::State& state) {
        if (state.conversation)
            state.conversation->recording = json();
    };
}

Unwritten::Change trashed(bool trashed)
{
    return [trashed](Unwritten::State& state) { state.trashed = trashed; };
}

Unwritten::Change gone()
{
    return [](Unwritten::State& state) {
        if (state.trashed)
            state = {};
    };
}

}  // namespace changes
