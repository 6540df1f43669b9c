#include "app/fetching/fetching.h"

#include "app/fetching/failure_sentence.h"
#include "app/worker/error_sentence.h"

#include <algorithm>
#include <utility>

Fetching::Fetching(World world, QObject* parent)
    : QObject(parent)
    , m_source(std::move(world.source))
    , m_permission(world.permission)
    , m_world{[this] { return allowed(); }, std::move(world.request), std::move(world.memory), std::move(world.machine),
              std::move(world.folder)}
    , m_finder(m_source.get(), m_world)
    , m_page(m_source.get(), m_world)
    , m_queue(m_source.get(), m_world, world.listFile)
    , m_contacts(m_source.get())
{
    connect(&m_page, &ModelPage::fetchRequested, &m_queue, &FetchQueue::add);
    connect(&m_page, &ModelPage::openRequested, this, &Fetching::openRequested);
    connect(&m_queue, &FetchQueue::openRequested, this, &Fetching::openRequested);
    for (const auto signal : {&FetchQueue::fetched, &FetchQueue::removed})
        connect(&m_queue, signal, &m_page, &ModelPage::lookAtDisk);
    for (const auto signal : {&ModelPage::changed, &ModelPage::companionsChanged})
        connect(&m_page, signal, this, &Fetching::showFetches);
    connect(&m_queue, &FetchQueue::statesChanged, this, &Fetching::showFetches);
    if (world.megabytesPerS) {
        const auto limit = [this, setting = world.megabytesPerS] {
            m_queue.setMostBytesPerS(setting->value() * 1'000'000LL);
        };
        connect(world.megabytesPerS, &Setting::changed, &m_queue, limit);
        limit();
    }
    connect(m_permission, &Setting::changed, this, &Fetching::onPermission);
    settleToken();
}

bool Fetching::openNamed(const QString& text)
{
    const auto id = m_source ? m_source->named(text.trimmed().toStdString()) : std::nullopt;
    if (id)
        m_page.open(QString::fromStdString(*id));
    return id.has_value();
}

QString Fetching::host() const
{
    return m_source ? QString::fromStdString(m_source->host()) : QString();
}

QString Fetching::tokenNote() const
{
    switch (tokenPlace()) {
    case TokenPlace::None:
        break;
    case TokenPlace::Environment:
        return tr("It is found in the environment, or where Hugging Face’s own tools keep it.");
    case TokenPlace::Store:
        return tr("It is kept in this system’s password store.");
    case TokenPlace::File:
        return tr("It is kept in a file that only you can read, until this system’s password store takes it.");
    case TokenPlace::Leaving:
        return tr(
            "The token that you removed is still in the password store, which is locked. It is deleted as soon as "
            "the store is unlocked.");
    }
    return tr("Models whose terms you have accepted there ask for it. It goes to %1 and to nobody else, and is kept in "
              "this system’s password store, or, where none takes it, in a file that only you can read.")
        .arg(host());
}

void Fetching::keepToken(const QString& token)
{
    if (!m_source || m_keepingToken)
        return;
    const QString word = token.trimmed();
    if (!std::ranges::all_of(word, [](QChar c) { return c > u' ' && c <= u'~'; })) {
        m_tokenTrouble = tr("A token is one word of letters, digits and signs, without spaces.");
        Q_EMIT tokenChanged();
        return;
    }
    m_keepingToken = true;
    m_tokenTrouble.clear();
    Q_EMIT tokenChanged();
    const auto keep = [source = m_source.get(), word](const std::stop_token& stop) -> net::Result<engine::Status> {
        return source->keep_token(word.toStdString(), stop);
    };
    m_tokenThread.ask(keep, [this](const net::Result<engine::Status>& kept) {
        m_keepingToken = false;
        if (!kept)
            m_tokenTrouble = failureSentence(kept.error());
        else if (!*kept)
            m_tokenTrouble = errorSentence(kept->error());
        else
            askAgain();
        Q_EMIT tokenChanged();
    });
}

/// Asks again for what was refused with the earlier token.
void Fetching::askAgain()
{
    m_page.onToken();
    if (m_finder.wantsToken())
        m_finder.retry();
}

void Fetching::settleToken()
{
    if (!m_source || m_keepingToken)
        return;
    const auto settle = [source = m_source.get()](const std::stop_token& stop) -> net::Result<TokenPlace> {
        source->settle_token(stop);
        return source->token_place();
    };
    m_tokenThread.ask(settle, [this](const net::Result<TokenPlace>&) { Q_EMIT tokenChanged(); });
}

void Fetching::onDeleted()
{
    m_queue.forgetDeleted();
    m_page.lookAtDisk();
}

void Fetching::showFetches()
{
    m_page.choices()->setFetchStates(m_queue.states(m_page.repository(), m_page.wantedCompanions()));
}

void Fetching::onPermission()
{
    if (!allowed()) {
        m_finder.stop();
        m_page.close();
    }
    m_queue.onAllowedChanged();
    Q_EMIT allowedChanged();
}

#include "moc_fetching.cpp"
