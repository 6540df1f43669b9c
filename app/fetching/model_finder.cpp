#include "app/fetching/model_finder.h"

#include "app/fetching/failure_sentence.h"
#include "app/system/log_lines.h"

ModelFinder::ModelFinder(ModelSource* source, const FetchingWorld& world, QObject* parent)
    : QObject(parent)
    , m_source(source)
    , m_world(world)
{
    measure();
}

void ModelFinder::search(const QString& words)
{
    if (!m_source || !m_world.allowed())
        return;
    m_thread.stop();
    m_results.clear();
    m_words = words.simplified();
    m_next.clear();
    m_error.clear();
    m_wantsToken = false;
    m_searched = false;
    m_searching = false;
    if (!m_words.isEmpty())
        ask();
    Q_EMIT changed();
}

void ModelFinder::more()
{
    if (m_searching || m_next.empty() || !m_world.allowed())
        return;
    ask();
    Q_EMIT changed();
}

void ModelFinder::retry()
{
    if (m_results.rowCount() > 0)
        more();
    else
        search(m_words);
}

void ModelFinder::ask()
{
    m_error.clear();
    m_wantsToken = false;
    m_searching = true;
    m_thread.ask([source = m_source, words = m_words.toStdString(),
                  next = m_next](const std::stop_token& stop) { return source->search(words, next, stop); },
                 [this](const net::Result<net::FoundModels>& found) { onFound(found); });
}

void ModelFinder::onFound(const net::Result<net::FoundModels>& found)
{
    m_searching = false;
    if (found) {
        m_searched = true;
        m_next = found->next;
        m_results.add(found->models);
    } else {
        m_error = failureSentence(found.error());
        m_wantsToken = found.error().token_helps;
        logWarning(QStringLiteral("finding models: ") + QString::fromStdString(found.error().what));
    }
    Q_EMIT changed();
}

void ModelFinder::stop()
{
    m_thread.stop();
    if (!m_searching)
        return;
    m_searching = false;
    Q_EMIT changed();
}

void ModelFinder::measure()
{
    const auto free = m_world.memory().for_next_model_bytes();
    m_first = firstModels(free ? double(*free) : -1);
    Q_EMIT firstChanged();
}

#include "moc_model_finder.cpp"
