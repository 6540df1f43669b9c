#include "app/servers/server_list.h"

#include <algorithm>

namespace {

bool hasModel(const KnownServer& known, const std::string& model)
{
    return std::ranges::find(known.facts.models, model, &remote::ServedModel::id) != known.facts.models.end();
}

}  // namespace

const KnownServer* ServerList::find(const QString& url) const
{
    const auto known = std::ranges::find_if(
        all(), [&](const KnownServer& one) { return QString::fromStdString(one.server.url) == url; });
    return known == all().end() ? nullptr : &*known;
}

KnownServer* ServerList::own(const QString& url)
{
    const KnownServer* const known = find(url);
    return known ? &m_content.servers[known - all().constData()] : nullptr;
}

QList<const KnownServer*> ServerList::answeringFor(const KnownServer& known, const std::string& model) const
{
    QList<const KnownServer*> servers;
    for (const KnownServer& other : all())
        if (&other == &known || (other.name == known.name && hasModel(other, model)))
            servers.append(&other);
    return servers;
}

bool ServerList::announce(const QStringList& ids)
{
    m_announced += ids;
    m_content.unneededKeys += ids;
    if (write())
        return true;
    for (const QString& id : ids)
        withdraw(id, secrets::Kept::No);
    return false;
}

void ServerList::withdraw(const QString& id, secrets::Kept kept)
{
    if (kept == secrets::Kept::Perhaps)
        return;  // the store may still take it: the next start removes it
    m_announced.removeAll(id);
    m_content.unneededKeys.removeAll(id);
}

bool ServerList::put(const KnownServer& server, const std::string& keyId)
{
    KnownServer put = server;
    if (!keyId.empty()) {
        put.server.key.clear();
        put.server.key_id = keyId;
        withdraw(QString::fromStdString(keyId), secrets::Kept::Yes);
    }
    const QString url = QString::fromStdString(put.server.url);
    if (KnownServer* const before = own(url)) {
        doWithoutKey(*before);
        *before = put;
    } else {
        m_content.servers.append(put);
    }
    if (write())
        return true;
    takeBackKey(url, server.server.key);
    return false;
}

bool ServerList::remove(const QString& url)
{
    const KnownServer* const known = find(url);
    if (!known)
        return true;
    doWithoutKey(*known);
    m_content.servers.removeAt(known - all().constData());
    return write();
}

bool ServerList::learn(const QString& url, const remote::ServerFacts& facts)
{
    KnownServer* const known = own(url);
    if (!known)
        return true;
    known->facts = facts;
    return write();
}

QList<KnownServer> ServerList::withKeysToMove() const
{
    QList<KnownServer> servers;
    for (const KnownServer& known : all())
        if (m_written && !known.server.key.empty())
            servers.append(known);
    return servers;
}

QStringList ServerList::unneededKeys() const
{
    QStringList ids = m_content.unneededKeys;
    ids.removeIf([this](const QString& id) { return m_idsOnDisk.contains(id) || m_announced.contains(id); });
    return ids;
}

bool ServerList::take(const KeyMover::Outcome& outcome)
{
    m_content.unneededKeys.removeIf([&](const QString& id) { return outcome.forgotten.contains(id); });
    for (const KeyMover::Moved& moved : outcome.moved) {
        KnownServer* const known = own(QString::fromStdString(moved.url));
        if (moved.kept == secrets::Kept::Yes && known && known->server.key == moved.key) {
            known->server.key.clear();
            known->server.key_id = moved.id;
            withdraw(QString::fromStdString(moved.id), moved.kept);
        } else if (moved.kept == secrets::Kept::Yes) {  // the server was taken out meanwhile, or has another key
            m_announced.removeAll(QString::fromStdString(moved.id));
        } else {
            withdraw(QString::fromStdString(moved.id), moved.kept);
        }
    }
    if (write())
        return true;
    for (const KeyMover::Moved& moved : outcome.moved)
        takeBackKey(QString::fromStdString(moved.url), moved.key);
    return false;
}

/// Notes that the server's key is to leave the password store.
void ServerList::doWithoutKey(const KnownServer& known)
{
    if (!known.server.key_id.empty())
        m_content.unneededKeys.append(QString::fromStdString(known.server.key_id));
}

void ServerList::takeBackKey(const QString& url, const std::string& key)
{
    KnownServer* const known = own(url);
    if (!known || known->server.key_id.empty())
        return;
    doWithoutKey(*known);
    known->server.key_id.clear();
    known->server.key = key;
}

bool ServerList::write()
{
    m_written = !lost() && m_file.write(m_content);
    if (m_written)
        m_idsOnDisk = idsOf(m_content);
    return m_written;
}

QStringList ServerList::idsOf(const ServersFile::Content& content)
{
    QStringList ids;
    for (const KnownServer& known : content.servers)
        ids.append(QString::fromStdString(known.server.key_id));
    return ids;
}
