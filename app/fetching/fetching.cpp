#include "app/fetching/fetching.h"

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
    if (world.megabytesPerS) {
        const auto limit = [this, setting = world.megabytesPerS] {
            m_queue.setMostBytesPerS(setting->value() * 1'000'000LL);
        };
        connect(world.megabytesPerS, &Setting::changed, &m_queue, limit);
        limit();
    }
    connect(m_permission, &Setting::changed, this, &Fetching::onPermission);
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

void Fetching::onPermission()
{
    if (!allowed()) {
        m_finder.stop();
        m_page.close();
    }
    m_queue.onAllowedChanged();
    Q_EMIT allowedChanged();
}
