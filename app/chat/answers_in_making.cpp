#include "app/chat/answers_in_making.h"

std::stop_token AnswersInMaking::begin(quint64 number, const StoredMessage& answer)
{
    Making& making = m_all[number];
    making.message = answer.id;
    making.savedSize = answer.text.size();
    making.clock.start(answer.text, answer.reasoningMs);
    return making.stop.get_token();
}

void AnswersInMaking::stop()
{
    for (auto& [number, making] : m_all)
        making.stop.request_stop();
}

void AnswersInMaking::stop(const QString& message)
{
    for (auto& [number, making] : m_all)
        if (making.message == message)
            making.stop.request_stop();
}

bool AnswersInMaking::add(quint64 number, const QString& text, StoredMessage& answer)
{
    Making& making = m_all.at(number);
    answer.text += text;
    if (!making.clock.add(text))
        return false;
    answer.reasoningMs = making.clock.ms();
    making.savedSize = answer.text.size();
    return true;
}

bool AnswersInMaking::end(quint64 number, StoredMessage& answer)
{
    auto node = m_all.extract(number);
    if (node.empty() || !node.mapped().clock.end())
        return false;
    answer.reasoningMs = node.mapped().clock.ms();
    return true;
}

QList<const StoredMessage*> AnswersInMaking::endAll(ConversationTree& tree)
{
    QList<const StoredMessage*> cut;
    while (!m_all.empty()) {
        const quint64 number = m_all.begin()->first;  // a copy: end() takes the entry away
        StoredMessage* const answer = tree.find(message(number));
        if (answer && end(number, *answer))
            cut.append(answer);
        else
            m_all.erase(number);
    }
    return cut;
}

QList<const StoredMessage*> AnswersInMaking::grown(const ConversationTree& tree)
{
    QList<const StoredMessage*> grown;
    for (auto& [number, making] : m_all)
        if (const StoredMessage* const answer = tree.find(making.message);
            answer && answer->text.size() != making.savedSize) {
            making.savedSize = answer->text.size();
            grown.append(answer);
        }
    return grown;
}
