#include "app/worker/token_counter.h"

#include <utility>

TokenCounter::TokenCounter(EngineThread& engine, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
{
    connect(engine.worker(), &EngineWorker::tokensCounted, this, &TokenCounter::onCounted);
}

void TokenCounter::count(const QString& text, QObject* asker, Answer answer, const std::stop_token& stop)
{
    static quint64 lastJob = 0;  // shared by all counters, since each gets the others' answers, too
    m_asked.insert(++lastJob, {asker, std::move(answer)});
    m_engine.countTokens(lastJob, text, stop);
}

void TokenCounter::onCounted(quint64 job, std::optional<int> tokens)
{
    const Asked asked = m_asked.take(job);
    if (asked.asker && asked.answer)
        asked.answer(tokens);
}

#include "moc_token_counter.cpp"
