#include "app/catalogue/model_remover.h"

#include "app/system/background.h"
#include "app/system/log_lines.h"

#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace {

/// Bounds the search for links to a model, since the user waits for the question.
constexpr WalkLimits kLookForLinks{.depth = 6, .entries = 50'000, .files = 5'000, .time = std::chrono::seconds(2)};

/// Says whether one of these paths leads to a file that would be deleted. It asks the disk.
bool leadsToOneOf(const ModelRemoval& removal, const QStringList& paths)
{
    return std::ranges::any_of(paths, [&](const QString& path) { return removal.files.contains(whereItLies(path)); });
}

QString openSentence(const ModelRemoval& removal)
{
    return ModelRemover::tr("“%1” is open. Open another model first.").arg(removal.title);
}

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
    struct Planned {
        ModelRemoval removal;
        bool open = false;
    };
    const auto work = [entry = m_entry, folders = m_folders(), paths = m_opener.pathsInUse()] {
        const ModelRemoval removal = planRemoval(entry, folders, kLookForLinks);
        return Planned{removal, leadsToOneOf(removal, paths)};
    };
    inBackground(
        this, work, [this](const Planned& planned) { onPlanned(planned.removal, planned.open); },
        [this] { setBusy(false); });
}

void ModelRemover::onPlanned(const ModelRemoval& removal, bool open)
{
    setBusy(false);
    const QString obstacle = whyNot(removal);
    if (const QString why = obstacle.isEmpty() && open ? openSentence(removal) : obstacle; !why.isEmpty()) {
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
    // The user has confirmed what was there at the question: if anything has changed since, nothing is deleted.
    struct Done {
        QString trouble;
        bool gone = false;
    };
    const auto remove = [entry = m_entry, removal, paths = m_opener.pathsInUse()]() -> QString {
        if (leadsToOneOf(removal, paths))
            return openSentence(removal);
        const ModelRemoval now = planRemoval(entry, {}, {});
        if (now.files != removal.files || now.names != removal.names || now.bytes != removal.bytes)
            return tr("The files of “%1” have changed meanwhile; nothing was deleted.").arg(removal.title);
        return removeModel(removal);
    };
    const auto work = [remove, path = removal.path] {
        const QString trouble = remove();
        return Done{trouble, !QFileInfo(path).isFile()};
    };
    inBackground(
        this, work, [this, removal](const Done& done) { onRemoved(removal, done.trouble, done.gone); },
        [this] { setBusy(false); });
}

void ModelRemover::onRemoved(const ModelRemoval& removal, const QString& trouble, bool gone)
{
    setBusy(false);
    if (trouble.isEmpty())
        logInfo(QStringLiteral("deleted ") + removal.path);
    else
        Q_EMIT refused(trouble);
    Q_EMIT removed(removal, gone);
}

/// Returns why the model cannot be deleted, as far as is known without asking the disk: the open model may lie on a
/// share that does not answer. Empty: it can.
QString ModelRemover::whyNot(const ModelRemoval& removal) const
{
    if (!removal.obstacle.isEmpty())
        return removal.obstacle;
    for (const QString& path : m_opener.pathsInUse())
        if (removal.names.contains(path) || removal.files.contains(path))
            return openSentence(removal);
    return m_inUse ? m_inUse(removal.files + removal.names) : QString();
}

void ModelRemover::setBusy(bool busy)
{
    if (std::exchange(m_busy, busy) != busy)
        Q_EMIT busyChanged();
}

#include "moc_model_remover.cpp"
