#include "app/catalogue/model_scan.h"

#include "app/catalogue/describe.h"
#include "app/catalogue/header_cache.h"
#include "app/catalogue/split_name.h"
#include "app/text/visible_text.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QSet>

#include <utility>

namespace {

constexpr qint64 kFlushIntervalMs = 60;

/// Returns sizes and times of a model's parts: while these are the same, so is the header.
QString stampOf(const QStringList& parts)
{
    QString stamp;
    for (const QString& part : parts) {
        const QFileInfo file(part);
        stamp += QStringLiteral("%1:%2;").arg(file.size()).arg(file.lastModified().toMSecsSinceEpoch());
    }
    return stamp;
}

/// Runs one scan.
class Scan
{
public:
    Scan(const ScanRequest& request, const std::function<void(const QList<ModelEntry>&)>& onEntries,
         const std::stop_token& stop)
        : m_request(request)
        , m_onEntries(onEntries)
        , m_stop(stop)
        , m_cache(request.cacheFile)
    {
        m_sinceFlush.start();
    }

    ScanReport run()
    {
        for (const StoreFolder& place : m_request.places) {
            if (m_stop.stop_requested())
                break;
            scan(place);
        }
        scanFiles();
        flush();
        m_report.cancelled = m_stop.stop_requested();
        m_cache.save(m_report.cancelled ? HeaderCache::Rest::Keep : HeaderCache::Rest::Drop);
        return std::move(m_report);
    }

private:
    void scan(const StoreFolder& place)
    {
        flush();  // what was found is shown now: the place may be a slow share
        const Findings found = lookInto(place, m_request.limits, m_stop);
        PlaceReport report{.place = place,
                           .there = found.there,
                           .files = int(found.files.size()),
                           .unfinished = found.unfinished,
                           .unreadable = found.unreadable,
                           .strange = found.strange,
                           .cutShort = found.cutShort};
        QList<ModelEntry> models, projectors;
        for (const FoundFile& file : found.files) {
            if (m_stop.stop_requested())
                break;
            if (!isNew(file))
                continue;
            const ModelEntry entry = describe(file);
            if (m_stop.stop_requested())
                break;  // its header may have been read in part only
            if (entry.kind == ModelKind::Projector) {
                projectors.append(entry);  // it may belong to a model of this place
                continue;
            }
            models.append(entry);
            ++report.models;
            give(entry);
        }
        QSet<QString> attached;
        for (ModelEntry& model : models) {
            const ModelEntry* projector = model.openable() ? projectorOf(model, projectors) : nullptr;
            if (!projector || !model.projector.isEmpty())
                continue;
            attached.insert(projector->id);
            model.projector = VisibleText::of(QFileInfo(projector->path).fileName());
            give(model);
        }
        for (const ModelEntry& projector : std::as_const(projectors))
            if (!attached.contains(projector.id))
                give(projector);
        m_report.places.append(report);
    }

    /// Lists the files that the user opened one by one; those that are gone get no row.
    void scanFiles()
    {
        flush();
        for (const QString& path : m_request.files) {
            if (m_stop.stop_requested())
                return;
            FoundFile file;
            file.store = Store::Opened;
            file.path = path;
            if (!QFileInfo(path).isFile() || !isNew(file))
                continue;
            const ModelEntry entry = describe(file);
            if (!m_stop.stop_requested())
                give(entry);
        }
    }

    /// Says whether no row has these bytes yet: a file may be reached in several ways, and a split model by each part.
    bool isNew(const FoundFile& file)
    {
        const auto split = splitName(file.path);
        QString key = file.trouble.isEmpty() ? whereItLies(file.path) : file.path;
        if (split)
            key = whereItLies(QFileInfo(file.path).path()) + QLatin1Char('/') + QFileInfo(split->stem).fileName() +
                  QStringLiteral("|%1").arg(split->count);
        if (key.isEmpty() || m_seen.contains(key))
            return false;
        m_seen.insert(key);
        return true;
    }

    ModelEntry describe(const FoundFile& file)
    {
        if (!file.trouble.isEmpty())
            return describeBroken(file, file.trouble);
        QStringList parts{file.path};
        if (const auto split = splitName(file.path)) {
            parts.clear();
            for (int part = 1; part <= split->count; ++part)
                if (const QString path = partPath(*split, part); QFileInfo(path).isFile())
                    parts.append(path);
            if (parts.size() < split->count)
                return describeIncomplete(file, parts, split->count);
        }
        const QString stamp = stampOf(parts);
        auto header = m_cache.find(parts.first(), stamp);
        if (!header) {
            ++m_report.headersRead;
            header = m_request.inspect(std::filesystem::path(parts.first().toStdU16String()), m_stop);
            m_cache.keep(parts.first(), stamp, *header);
        }
        return *header ? describeModel(file, **header) : describeBroken(file, header->error());
    }

    void give(const ModelEntry& entry)
    {
        m_pending.append(entry);
        if (m_sinceFlush.elapsed() >= kFlushIntervalMs)
            flush();
    }

    void flush()
    {
        m_sinceFlush.start();
        if (!m_pending.isEmpty())
            m_onEntries(std::exchange(m_pending, {}));
    }

    const ScanRequest& m_request;
    const std::function<void(const QList<ModelEntry>&)>& m_onEntries;
    const std::stop_token& m_stop;
    HeaderCache m_cache;
    ScanReport m_report;
    QSet<QString> m_seen;
    QList<ModelEntry> m_pending;
    QElapsedTimer m_sinceFlush;
};

}  // namespace

ScanReport scanForModels(const ScanRequest& request, const std::function<void(const QList<ModelEntry>&)>& onEntries,
                         const std::stop_token& stop)
{
    return Scan(request, onEntries, stop).run();
}
