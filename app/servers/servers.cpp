#include "app/servers/servers.h"

#include "app/catalogue/model_facts.h"
#include "app/fetching/failure_sentence.h"
#include "app/system/remote_path.h"
#include "app/text/visible_text.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace {

constexpr qsizetype kLongestServerName = 40;  // it stands on a badge beside the model

/// vLLM and TGI's usual one, llama-server's and ours, llama-server's newer one, Ollama's, LM Studio's, SGLang's, TGI's
/// in a container, Lemonade's.
constexpr int kUsualPorts[] = {8000, 8080, 9931, 11434, 1234, 30000, 3000, 13305};

/// What one port of this machine answered.
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

bool hasModel(const KnownServer& known, const std::string& model)
{
    return std::ranges::find(known.facts.models, model, &remote::ServedModel::id) != known.facts.models.end();
}

/// What no header may hold would be another header.
bool isKey(const QString& key)
{
    return std::ranges::all_of(key, [](QChar c) { return c > u' ' && c <= u'~'; });
}

}  // namespace

Servers::Servers(std::shared_ptr<RemoteDoor> door, const QString& file, QObject* parent)
    : QObject(parent)
    , m_door(std::move(door))
    , m_file(file)
{
    if (!m_door)
        return;
    m_servers = m_file.read();
    tellDoor();
}

QList<ServerEntry> Servers::all() const
{
    QList<ServerEntry> entries;
    for (const KnownServer& known : m_servers)
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
    entry.hasKey = !known.server.key.empty();
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
    if (!find(url) && m_servers.size() >= kMost) {
        setTrouble(tr("There are %1 servers already; remove one first.").arg(kMost));
        return;
    }
    const KnownServer asked{nameFor(name, ::hostOf(url)), {*address, key.trimmed().toStdString()}, {}};
    setAdding(true);
    m_addThread.ask(
        [door = m_door, server = asked.server](const std::stop_token& stop) { return door->probe(server, stop); },
        [this, asked](const net::Result<remote::ServerFacts>& facts) { onProbed(asked, facts); });
}

void Servers::stopAdding()
{
    m_addThread.stop();
    setAdding(false);
}

void Servers::onProbed(KnownServer asked, const net::Result<remote::ServerFacts>& facts)
{
    setAdding(false);
    if (!facts) {
        setTrouble(failureSentence(facts.error()));
        return;
    }
    asked.facts = *facts;
    const QString url = urlOf(asked);
    const auto before = std::ranges::find_if(m_servers, [&](const KnownServer& known) { return urlOf(known) == url; });
    if (before == m_servers.end())
        m_servers.append(asked);
    else
        *before = asked;
    m_troubles.remove(url);
    m_found.removeIf([&](const ServerEntry& entry) { return entry.url == url; });
    keep();
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
            const auto facts = door->probe(server.server, stop);
            if (facts)
                server.facts = *facts;
            else if (facts.error().kind != net::Failure::Kind::NeedsToken)
                continue;  // nobody is there, or something else
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
            if (!find(entry.url))
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
    if (m_servers.removeIf([&](const KnownServer& known) { return urlOf(known) == url; }) == 0)
        return;
    m_troubles.remove(url);
    keep();
    Q_EMIT changed();
    Q_EMIT modelsChanged();
}

void Servers::refresh()
{
    if (!m_door || !m_toAsk.isEmpty())
        return;
    for (const KnownServer& known : std::as_const(m_servers))
        m_toAsk.append(urlOf(known));
    askNext();
    Q_EMIT changed();
}

void Servers::askNext()
{
    while (!m_toAsk.isEmpty() && !find(m_toAsk.first()))
        m_toAsk.removeFirst();  // it was taken out meanwhile
    if (m_toAsk.isEmpty())
        return;
    const QString url = m_toAsk.first();
    m_refreshThread.ask(
        [door = m_door, server = find(url)->server](const std::stop_token& stop) { return door->probe(server, stop); },
        [this, url](const net::Result<remote::ServerFacts>& facts) { onRefreshed(url, facts); });
}

void Servers::onRefreshed(const QString& url, const net::Result<remote::ServerFacts>& facts)
{
    m_toAsk.removeAll(url);
    const auto known = std::ranges::find_if(m_servers, [&](const KnownServer& one) { return urlOf(one) == url; });
    if (known != m_servers.end() && facts) {
        known->facts = *facts;
        m_troubles.remove(url);
        keep();
    } else if (known != m_servers.end()) {
        m_troubles.insert(url, failureSentence(facts.error()));  // its models stay in the list: it may be back soon
    }
    askNext();
    Q_EMIT changed();
    Q_EMIT modelsChanged();
}

/// Those that may answer for a model of one of them.
QList<const KnownServer*> Servers::answeringFor(const KnownServer& known, const std::string& model) const
{
    QList<const KnownServer*> all;
    for (const KnownServer& other : m_servers)
        if (&other == &known || (other.name == known.name && hasModel(other, model)))
            all.append(&other);
    return all;
}

ModelEntry Servers::modelEntry(const KnownServer& known, const remote::ServedModel& model) const
{
    ModelEntry entry;
    entry.info.path = m_door->pathOf(known.server.url, model.id);
    entry.info.name = model.id;
    entry.info.context_tokens = entry.info.context_in_use = model.context_tokens;
    entry.info.has_chat_template = true;
    entry.facts = ModelFacts(entry.info);
    entry.path = entry.id = entry.facts.path;
    entry.title = entry.facts.name;
    entry.store = Store::Server;
    entry.origin = VisibleText::of(known.name);
    entry.kind = ModelKind::Chat;
    const QList<const KnownServer*> servers = answeringFor(known, model.id);
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
    for (const KnownServer& known : m_servers)
        for (const remote::ServedModel& model : known.facts.models)
            if (answeringFor(known, model.id).constFirst() == &known)  // one row, however many have it
                entries.append(modelEntry(known, model));
    return entries;
}

QStringList Servers::unknown(const QString& path, const QStringList& sampling) const
{
    QStringList names;
    for (const KnownServer& known : m_servers) {
        if (!isElsewhere(path) || !path.startsWith(urlOf(known) + QLatin1String("/#")))
            continue;
        // One of the same name may answer.
        for (const KnownServer& other : m_servers)
            for (const QString& name : sampling)
                if (other.name == known.name && !names.contains(name) &&
                    !m_door->knows(other.facts.kind, name.toStdString()))
                    names.append(name);
    }
    return names;
}

bool Servers::hasNamed(const QString& name, const QString& typed) const
{
    const auto address = m_door ? m_door->address(typed.toStdString()) : net::Result<std::string>();
    return address && std::ranges::any_of(m_servers, [&](const KnownServer& known) {
               return known.name == nameFor(name, ::hostOf(QString::fromStdString(*address))) &&
                      known.server.url != *address;
           });
}

std::vector<net::Connection> Servers::connections() const
{
    return m_door ? m_door->connections() : std::vector<net::Connection>();
}

const KnownServer* Servers::find(const QString& url) const
{
    const auto known = std::ranges::find_if(m_servers, [&](const KnownServer& one) { return urlOf(one) == url; });
    return known == m_servers.end() ? nullptr : &*known;
}

void Servers::tellDoor()
{
    std::vector<remote::ListedServer> servers;
    for (const KnownServer& known : std::as_const(m_servers))
        servers.push_back({known.server, known.name.toStdString(), known.facts});
    m_door->setServers(std::move(servers));
}

void Servers::keep()
{
    tellDoor();
    if (!m_file.write(m_servers))
        setTrouble(tr("The list of servers could not be written; it holds for this run."));
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
