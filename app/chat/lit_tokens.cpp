#include "app/chat/lit_tokens.h"

LitTokens::LitTokens(QObject* parent)
    : QObject(parent)
{
}

void LitTokens::pointAtMessage(const QString& message)
{
    light(m_places.contains(message) ? message : QString());
}

void LitTokens::pointAtToken(int token)
{
    light(messageAt(token));
}

QString LitTokens::messageAt(int token) const
{
    for (auto place = m_places.begin(); place != m_places.end(); ++place)
        if (token >= place->first && token < place->last)
            return place.key();
    return {};
}

void LitTokens::setPlaces(const Places& places)
{
    m_places = places;
    light(m_places.contains(m_message) ? m_message : QString());
}

void LitTokens::light(const QString& message)
{
    const engine::TokenRange tokens = m_places.value(message);
    if (message == m_message && tokens.first == m_tokens.first && tokens.last == m_tokens.last)
        return;
    m_message = message;
    m_tokens = tokens;
    Q_EMIT changed();
}

#include "moc_lit_tokens.cpp"
