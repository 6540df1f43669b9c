#include "app/fetching/contacted_hosts.h"

#include "app/text/visible_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace {

/// Returns the purpose of a request in the user's language; `purpose` is as app/net gives it.
QString purposeOf(const std::string& purpose)
{
    constexpr std::pair<std::string_view, const char*> known[] = {
        {"search", QT_TRANSLATE_NOOP("ContactedHosts", "searching for models")},
        {"revisions of a repository", QT_TRANSLATE_NOOP("ContactedHosts", "versions of a model")},
        {"list of files", QT_TRANSLATE_NOOP("ContactedHosts", "a list of files")},
        {"facts of a model", QT_TRANSLATE_NOOP("ContactedHosts", "facts of a model")},
        {"text about a model", QT_TRANSLATE_NOOP("ContactedHosts", "a text about a model")},
        {"header of a model file", QT_TRANSLATE_NOOP("ContactedHosts", "a model's header")},
        {"size of a file", QT_TRANSLATE_NOOP("ContactedHosts", "the size of a file")},
        {"what a server is", QT_TRANSLATE_NOOP("ContactedHosts", "what a server is")},
        {"answers of a model", QT_TRANSLATE_NOOP("ContactedHosts", "answers of a model there")},
        {"numbers of a server", QT_TRANSLATE_NOOP("ContactedHosts", "a server's numbers")},
        {"model file", QT_TRANSLATE_NOOP("ContactedHosts", "a model's file")},
    };
    for (const auto& [name, words] : known)
        if (purpose == name)
            return ContactedHosts::tr(words);
    return VisibleText::of(QString::fromStdString(purpose));
}

double msOf(std::chrono::system_clock::time_point time)
{
    return double(std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

}  // namespace

void ContactedHosts::refresh()
{
    QList<ContactedHost> hosts;
    std::vector<net::Connection> all = m_source ? m_source->connections() : std::vector<net::Connection>();
    for (const Connections& more : std::as_const(m_others))
        std::ranges::move(more(), std::back_inserter(all));
    for (const net::Connection& c : all)
        hosts.append({VisibleText::of(QString::fromStdString(c.host)), purposeOf(c.purpose), msOf(c.first),
                      msOf(c.last), c.requests, double(c.bytes_sent), double(c.bytes_received)});
    std::ranges::stable_sort(hosts, std::greater(), &ContactedHost::lastMs);
    if (hosts == m_hosts)
        return;
    m_hosts = hosts;
    Q_EMIT changed();
}

#include "moc_contacted_hosts.cpp"
