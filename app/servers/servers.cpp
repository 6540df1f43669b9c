#include "app/servers/servers.h"

#include "app/catalogue/model_facts.h"
#include "app/fetching/failure_sentence.h"
#include "app/system/remote_path.h"
#include "app/text/visible_text.h"

#include <QDir>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace {

constexpr qsizetype kLongestServerName = 40;  // characters: the name stands on a badge beside the model

/// The usual ports of vLLM and TGI, of llama-server and Spillway, of newer llama-servers, of Ollama, LM Studio, SGLang,
/// TGI in a container, and Lemonade.
constexpr int kUsualPorts[] = {8000, 8080, 9931, 11434, 1234, 30000, 3000, 13305};

/// Holds what was found at one port of this machine.
struct AnswerHere {
    KnownServer server;
    QString trouble;
};

QString urlOf(const KnownServer& known)
{
    return QString::fromStdString(known.server.url);
}

QString nameFor(const QString& typed, const QString& host)
{
    const QString name = VisibleText::of(typed.simplified());
    return (name.isEmpty() ? host : name).left(kLongestServerName);
}

/// Says whether a key may go into an HTTP header, where a line break would begin another header.
bool isKey(const QString& key)
{
    return std::ranges::all_of(key, [](QChar c) { return c > u' ' && c <= u'~'; });
}

}  // namespace

Servers::Servers(std::shared_ptr<RemoteDoor> door, const QString& file, QObject* parent)
    : QObject(parent)
    , m_door(std::move(door))
    , m_list(m_door ? file : QString())
    , m_keyMover(m_door)
{
    if (!m_door)
        return;
    if (m_list.lost())
        setTrouble(tr("The list of servers in %1 cannot be read. It stays as it is, and what you change holds for this "
                      "run.")
                       .arg(VisibleText::of(QDir::toNativeSeparators(file))));
    else if (!m_list.aside().isEmpty())
        setTrouble(tr("The list of servers made no sense, and a new one begins. What was there is kept in %1.")
                       .arg(VisibleText::of(QDir::toNativeSeparators(m_list.aside()))));
    tellDoor();
    moveKeys();
}

QList<ServerEntry> Servers::all() const
{
    QList<ServerEntry> entries;
    for (const KnownServer& known : m_list.all())
        entries.append(entryOf(known));
    return entries;
}

ServerEntry Servers::entryOf(const KnownServer& known) const
{
    ServerEntry entry;
    entry.url = urlOf(known);
    entry.name = VisibleText::of(known.name);
    entry.host = ::hostOf(entry.url);
    const QString version = VisibleText::of(QString::fromStdString(known.facts.version)).left(kLongestServerName);
    entry.program = (QString::fromStdString(m_door->kindName(known.facts.kind)) + u' ' + version).trimmed();
    entry.models = int(known.facts.models.size());
    entry.keyInFile = !known.server.key.empty();
    entry.hasKey = entry.keyInFile || !known.server.key_id.empty();
    entry.inClear = m_door->inClear(known.server.url);
    entry.asking = m_toAsk.contains(entry.url);
    entry.trouble = m_troubles.value(entry.url);
    return entry;
}

QString Servers::hostOf(const QString& typed) const
{
    const auto address = m_door ? m_door->address(typed.toStdString()) : net::Result<std::string>();
    return address ? ::hostOf(QString::fromStdString(*address)) : QString();
}

bool Servers::inClear(const QString& typed) const
{
    const auto address = m_door ? m_door->address(typed.toStdString()) : net::Result<std::string>();
    return address && m_door->inClear(*address);
}

void Servers::add(const QString& name, const QString& typed, const QString& key)
{
    if (!m_door || m_adding)
        return;
    setTrouble({});
    const auto address = m_door->address(typed.toStdString());
    if (!address) {
        setTrouble(failureSentence(address.error()));
        return;
    }
    if (!isKey(key.trimmed())) {
        setTrouble(tr("A key is one word of letters, digits and signs, without spaces."));
        return;
    }
    const QString url = QString::fromStdString(*address);
    if (!m_list.find(url) && m_list.all().size() >= kMost) {
        setTrouble(tr("There are %1 servers already; remove one first.").arg(kMost));
        return;
    }
    const KnownServer asked{nameFor(name, ::hostOf(url)), {*address, key.trimmed().toStdString()}, {}};
    setAdding(true);
    m_addThread.ask([door = m_door, server = asked.server](
                        const std::stop_token& stop) { return door->probe(server, secrets::MayAsk::Yes, stop); },
                    [this, asked](const net::Result<remote::ServerFacts>& facts) { onProbed(asked, facts); });
}

void Servers::stopAdding()
{
    m_addThread.stop();
    setAdding(false);
}

void Servers::onProbed(const KnownServer& asked, const net::Result<remote::ServerFacts>& facts)
{
    if (!facts) {
        setAdding(false);
        setTrouble(failureSentence(facts.error()));
        return;
    }
    KnownServer answering = asked;
    answering.facts = *facts;
    const std::string id = secrets::new_id();
    if (asked.server.key.empty() || !m_list.announce({QString::fromStdString(id)})) {
        put(answering, {});
        return;
    }
    const auto keep = [door = m_door, id, host = ::hostOf(urlOf(asked)).toStdString(),
                       key = asked.server.key](const std::stop_token& stop) -> net::Result<secrets::Kept> {
        return door->keys().keep(id, host, key, secrets::MayAsk::Yes, stop);
    };
    m_addThread.ask(keep, [this, answering, id](const net::Result<secrets::Kept>& answer) {
        const secrets::Kept kept = answer.value_or(secrets::Kept::Perhaps);
        if (kept != secrets::Kept::Yes)
            m_list.withdraw(QString::fromStdString(id), kept);
        put(answering, kept == secrets::Kept::Yes ? id : std::string());
    });
}

void Servers::put(const KnownServer& server, const std::string& keyId)
{
    setAdding(false);
    const QString url = urlOf(server);
    kept(m_list.put(server, keyId));
    m_troubles.remove(url);
    m_found.removeIf([&](const ServerEntry& entry) { return entry.url == url; });
    moveKeys();
    Q_EMIT changed();
    Q_EMIT modelsChanged();
    Q_EMIT added(url);
    Q_EMIT foundChanged();
}

void Servers::lookHere()
{
    lookAt(QList<int>(std::begin(kUsualPorts), std::end(kUsualPorts)));
}

void Servers::lookAt(const QList<int>& ports)
{
    if (!m_door || m_looking)
        return;
    m_found.clear();
    m_looked = false;
    m_looking = true;
    const auto look = [door = m_door, ports](const std::stop_token& stop) -> net::Result<std::vector<AnswerHere>> {
        std::vector<AnswerHere> answers;
        for (const int port : ports) {
            if (stop.stop_requested())
                break;
            const QString host = QStringLiteral("127.0.0.1:%1").arg(port);
            KnownServer server{host, {"http://" + host.toStdString(), {}}, {}};
            const auto facts = door->probe(server.server, secrets::MayAsk::No, stop);
            if (facts)
                server.facts = *facts;
            else if (facts.error().kind != net::Failure::Kind::NeedsToken)
                continue;  // nothing is there, or no such server
            answers.push_back({std::move(server), facts ? QString() : failureSentence(facts.error())});
        }
        return answers;
    };
    m_lookThread.ask(look, [this](const net::Result<std::vector<AnswerHere>>& answers) {
        m_looking = false;
        m_looked = true;
        for (const AnswerHere& answer : answers.value_or(std::vector<AnswerHere>())) {
            ServerEntry entry = entryOf(answer.server);
            entry.trouble = answer.trouble;
            if (!m_list.find(entry.url))
                m_found.append(entry);
        }
        Q_EMIT foundChanged();
    });
    Q_EMIT foundChanged();
}

void Servers::stopLooking()
{
    m_lookThread.stop();
    m_looking = false;
    Q_EMIT foundChanged();
}

void Servers::remove(const QString& url)
{
    if (!m_list.find(url))
        return;
    m_troubles.remove(url);
    kept(m_list.remove(url));
    moveKeys();
    Q_EMIT changed();
    Q_EMIT modelsChanged();
}

void Servers::askAll(secrets::MayAsk may)
{
    if (!m_door || (!m_toAsk.isEmpty() && (may == secrets::MayAsk::No || m_mayAsk == secrets::MayAsk::Yes)))
        return;
    m_refreshThread.stop();
    m_toAsk.clear();
    m_mayAsk = may;
    for (const KnownServer& known : m_list.all())
        m_toAsk.append(urlOf(known));
    askNext();
    Q_EMIT changed();
}

void Servers::askNext()
{
    while (!m_toAsk.isEmpty() && !m_list.find(m_toAsk.first()))
        m_toAsk.removeFirst();  // the server was removed meanwhile
    if (m_toAsk.isEmpty())
        return;
    const QString url = m_toAsk.first();
    m_refreshThread.ask([door = m_door, server = m_list.find(url)->server,
                         may = m_mayAsk](const std::stop_token& stop) { return door->probe(server, may, stop); },
                        [this, url](const net::Result<remote::ServerFacts>& facts) { onRefreshed(url, facts); });
}

void Servers::onRefreshed(const QString& url, const net::Result<remote::ServerFacts>& facts)
{
    m_toAsk.removeAll(url);
    if (m_list.find(url) && facts) {
        m_troubles.remove(url);
        kept(m_list.learn(url, *facts));
    } else if (m_list.find(url)) {
        m_troubles.insert(url, failureSentence(facts.error()));  // its models stay in the list: it may be back soon
    }
    askNext();
    Q_EMIT changed();
    Q_EMIT modelsChanged();
}

ModelEntry Servers::modelEntry(const KnownServer& known, const remote::ServedModel& model) const
{
    ModelEntry entry;
    entry.info.path = m_door->pathOf(known.server.url, model.id);
    entry.info.name = model.id;
    entry.info.context_tokens = entry.info.context_in_use = model.context_tokens;
    entry.info.has_chat_template = true;
    entry.facts = ModelFacts(entry.info);
    entry.facts.server = VisibleText::of(known.name);
    entry.path = entry.id = entry.facts.path;
    entry.title = entry.facts.name;
    entry.store = Store::Server;
    entry.origin = VisibleText::of(known.name);
    entry.kind = ModelKind::Chat;
    const QList<const KnownServer*> servers = m_list.answeringFor(known, model.id);
    entry.silent =
        std::ranges::all_of(servers, [this](const KnownServer* one) { return m_troubles.contains(urlOf(*one)); });
    if (entry.silent)
        entry.notes.append(m_troubles.value(urlOf(*servers.constLast())));
    if (servers.size() > 1)
        entry.notes.append(tr("%n servers have this name and this model. The one that has the least to do answers; "
                              "another one, when it cannot.",
                              nullptr, int(servers.size())));
    if (std::ranges::any_of(servers, [this](const KnownServer* one) { return m_door->inClear(one->server.url); }))
        entry.notes.append(
            tr("Nothing is encrypted on the way to this server: others in between can read what is said."));
    return entry;
}

QList<ModelEntry> Servers::models() const
{
    QList<ModelEntry> entries;
    for (const KnownServer& known : m_list.all())
        for (const remote::ServedModel& model : known.facts.models)
            if (m_list.answeringFor(known, model.id).constFirst() == &known)  // one row for all servers that have it
                entries.append(modelEntry(known, model));
    return entries;
}

QString Servers::serverOf(const QString& path) const
{
    for (const KnownServer& known : m_list.all())
        if (path.startsWith(urlOf(known) + QLatin1String("/#")))
            return VisibleText::of(known.name);
    return ::hostOf(path);
}

QStringList Servers::unknown(const QString& path, const QStringList& sampling) const
{
    QStringList names;
    for (const KnownServer& known : m_list.all()) {
        if (!isElsewhere(path) || !path.startsWith(urlOf(known) + QLatin1String("/#")))
            continue;
        // Another server of the same name may answer.
        for (const KnownServer& other : m_list.all())
            for (const QString& name : sampling)
                if (other.name == known.name && !names.contains(name) &&
                    !m_door->knows(other.facts.kind, name.toStdString()))
                    names.append(name);
    }
    return names;
}

QStringList Servers::hostsFor(const QString& path) const
{
    QStringList hosts;
    const auto isIt = [&](const KnownServer& known, const remote::ServedModel& model) {
        return QString::fromStdU16String(m_door->pathOf(known.server.url, model.id).u16string()) == path;
    };
    for (const KnownServer& known : m_list.all())
        for (const remote::ServedModel& model : known.facts.models)
            if (isElsewhere(path) && isIt(known, model))
                for (const KnownServer* const answering : m_list.answeringFor(known, model.id))
                    hosts.append(::hostOf(urlOf(*answering)));
    return hosts;
}

bool Servers::hasNamed(const QString& name, const QString& typed) const
{
    const auto address = m_door ? m_door->address(typed.toStdString()) : net::Result<std::string>();
    return address && std::ranges::any_of(m_list.all(), [&](const KnownServer& known) {
               return known.name == nameFor(name, ::hostOf(QString::fromStdString(*address))) &&
                      known.server.url != *address;
           });
}

std::vector<net::Connection> Servers::connections() const
{
    return m_door ? m_door->connections() : std::vector<net::Connection>();
}

void Servers::tellDoor()
{
    std::vector<remote::ListedServer> servers;
    for (const KnownServer& known : m_list.all())
        servers.push_back({known.server, known.name.toStdString(), known.facts});
    m_door->setServers(std::move(servers));
}

void Servers::kept(bool written)
{
    tellDoor();
    if (!written)
        setTrouble(tr("The list of servers could not be written; it holds for this run."));
}

void Servers::lookForStore()
{
    if (!m_door)
        return;
    m_storeThread.ask(
        [door = m_door](const std::stop_token& stop) -> net::Result<secrets::Access> {
            return door->keys().access(stop);
        },
        [this](const net::Result<secrets::Access>& store) {
            m_store = store.value_or(secrets::Access::None);
            if (m_store == secrets::Access::Open)
                moveKeys();  // the store may not have answered when the program started
            Q_EMIT keyNoteChanged();
        });
}

QString Servers::keyNote() const
{
    if (!m_store)
        return {};
    switch (*m_store) {
    case secrets::Access::Open:
        return tr("The key will be kept in this system’s password store.");
    case secrets::Access::Locked:
        return tr("The key will be kept in this system’s password store, which will ask you to unlock it.");
    case secrets::Access::None:
        break;
    }
    return tr("The key will be kept in a file that only you can read: no password store answers on this system.");
}

/// Moves keys from the file into the password store: an earlier version put them there, or the store was not open.
void Servers::moveKeys()
{
    m_keyMover.start(
        m_list.withKeysToMove(), m_list.unneededKeys(), [this](const QStringList& ids) { return m_list.announce(ids); },
        [this](const KeyMover::Outcome& outcome) {
            kept(m_list.take(outcome));
            moveKeys();
            Q_EMIT changed();
        });
}

void Servers::setAdding(bool adding)
{
    if (m_adding == adding)
        return;
    m_adding = adding;
    Q_EMIT addingChanged();
}

void Servers::setTrouble(const QString& sentence)
{
    if (m_trouble == sentence)
        return;
    m_trouble = sentence;
    Q_EMIT troubleChanged();
}

#include "moc_servers.cpp"
