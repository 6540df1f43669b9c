#include "app/catalogue/model_remover.h"

#include "app/system/background.h"
#include "app/system/log_lines.h"

#include <utility>

namespace {

/// A search for links that takes longer is not worth it: the user waits for the question.
constexpr WalkLimits kLookForLinks{.depth = 6, .entries = 50'000, .files = 5'000, .time = std::chrono::seconds(2)};

}  // namespace

ModelRemover::ModelRemover(const ModelListModel& models, const ModelController& opener,
                           std::function<QStringList()> folders, QObject* parent)
    : QObject(parent)
    , m_models(models)
    , m_opener(opener)
    , m_folders(std::move(folders))
{
}

void ModelRemover::ask(const QString& id)
{
    const int row = m_models.rowOf(id);
    if (row < 0 || m_busy || m_models.entry(row).store == Store::Server)
        return;
    m_entry = m_models.entry(row);
    m_asked = {};
    setBusy(true);
    inBackground(
        this, [entry = m_entry, folders = m_folders()] { return planRemoval(entry, folders, kLookForLinks); },
        [this](const ModelRemoval& removal) { onPlanned(removal); }, [this] { setBusy(false); });
}

void ModelRemover::onPlanned(const ModelRemoval& removal)
{
    setBusy(false);
    if (const QString why = whyNot(removal); !why.isEmpty()) {
        Q_EMIT refused(why);
        return;
    }
    m_asked = removal;
    Q_EMIT question(removal);
}

void ModelRemover::confirm()
{
    const ModelRemoval removal = std::exchange(m_asked, {});
    if (removal.id.isEmpty() || m_busy)
        return;
    if (const QString why = whyNot(removal); !why.isEmpty()) {
        Q_EMIT refused(why);
        return;
    }
    setBusy(true);
    // The user confirmed what was there then, and nothing else.
    const auto work = [entry = m_entry, removal]() -> QString {
        const ModelRemoval now = planRemoval(entry, {}, {});
        if (now.files != removal.files || now.names != removal.names || now.bytes != removal.bytes)
            return tr("The files of “%1” have changed meanwhile; nothing was deleted.").arg(removal.title);
        return removeModel(removal);
    };
    inBackground(
        this, work, [this, removal](const QString& trouble) { onRemoved(removal, trouble); },
        [this] { setBusy(false); });
}

void ModelRemover::onRemoved(const ModelRemoval& removal, const QString& trouble)
{
    setBusy(false);
    if (trouble.isEmpty())
        logInfo(QStringLiteral("deleted ") + removal.path);
    else
        Q_EMIT refused(trouble);
    Q_EMIT removed(removal);
}

QString ModelRemover::whyNot(const ModelRemoval& removal) const
{
    if (!removal.obstacle.isEmpty())
        return removal.obstacle;
    for (const QString& path : m_opener.pathsInUse())
        if (removal.names.contains(path) || removal.files.contains(whereItLies(path)))
            return tr("“%1” is open. Open another model first.").arg(removal.title);
    return m_inUse ? m_inUse(removal.files + removal.names) : QString();
}

void ModelRemover::setBusy(bool busy)
{
    if (std::exchange(m_busy, busy) != busy)
        Q_EMIT busyChanged();
}
