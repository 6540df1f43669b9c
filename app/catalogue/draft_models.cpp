#include "app/catalogue/draft_models.h"

#include "app/catalogue/model_controller.h"
#include "app/system/background.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

// The small model computes each token that it guesses, so one of more than half the size can hardly save time.
constexpr int kTimesSmaller = 2;
// How far the sizes of two vocabularies of one family may differ, in tokens; see engine/tokenizer/same_vocabulary.h.
constexpr int kMostOtherTokens = 128;

QString bothIds(const ModelEntry& model, const ModelEntry& draft)
{
    return model.id + QLatin1Char('\n') + draft.id;
}

}  // namespace

DraftModels::DraftModels(ModelListModel& models, ModelController& opener, MayDraft mayDraft, const QString& choicesFile,
                         QObject* parent)
    : QObject(parent)
    , m_models(models)
    , m_opener(opener)
    , m_mayDraft(std::move(mayDraft))
    , m_choices(choicesFile)
{
    m_models.setDraftOf([this](const ModelEntry& entry) -> const engine::ModelInfo* {
        const QString draft = m_choices.of(entry.path);
        const ModelEntry* const found = draft.isEmpty() ? nullptr : entryOf(draft);
        return found ? &found->info : nullptr;
    });
    m_opener.setDraftOf([this](const QString& path) { return draftOf(path); });
    for (const auto listed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(&m_models, listed, this, &DraftModels::noteChange);
    connect(&m_opener, &ModelController::currentChanged, this, &DraftModels::noteChange);
}

DraftModels::~DraftModels()
{
    m_opener.setDraftOf([](const QString&) { return QString(); });
}

/// Returns the listed models that may guess for this one as far as their headers tell, the smallest first.
QList<ModelEntry> DraftModels::candidates(const ModelEntry& entry) const
{
    QList<ModelEntry> found;
    if (!entry.openable() || entry.store == Store::Server)
        return found;
    for (int row = 0; row < m_models.rowCount(); ++row) {
        const ModelEntry& other = m_models.entry(row);
        const bool writes = other.kind == ModelKind::Chat || other.kind == ModelKind::Base;
        if (writes && other.openable() && other.store != Store::Server &&
            other.info.weight_bytes <= entry.info.weight_bytes / kTimesSmaller &&
            other.info.tokenizer == entry.info.tokenizer &&
            std::abs(other.info.vocabulary - entry.info.vocabulary) <= kMostOtherTokens)
            found.append(other);
    }
    std::ranges::sort(found, {}, [](const ModelEntry& e) { return e.info.weight_bytes; });
    return found;
}

void DraftModels::look(const QString& id)
{
    const int row = m_models.rowOf(id);
    if (row < 0)
        return;
    const ModelEntry entry = m_models.entry(row);
    QList<ModelEntry> unknown;
    for (const ModelEntry& other : candidates(entry))
        if (!m_may.contains(bothIds(entry, other)))
            unknown.append(other);
    if (unknown.isEmpty())
        return;
    for (const ModelEntry& other : unknown)
        m_may.insert(bothIds(entry, other), false);  // until it is known, so that it is asked only once
    const auto compare = [entry, unknown, mayDraft = m_mayDraft] {
        std::vector<bool> may;
        for (const ModelEntry& other : unknown)
            may.push_back(mayDraft(std::filesystem::path(entry.path.toStdU16String()),
                                   std::filesystem::path(other.path.toStdU16String())));
        return may;
    };
    inBackground(this, compare, [this, entry, unknown](const std::vector<bool>& may) {
        for (qsizetype i = 0; i < unknown.size(); ++i)
            m_may.insert(bothIds(entry, unknown[i]), may[std::size_t(i)]);
        noteChange();
    });
}

QList<ModelEntry> DraftModels::offered(const ModelEntry& entry) const
{
    QList<ModelEntry> may;
    const QString draft = m_choices.of(entry.path);
    for (const ModelEntry& other : candidates(entry))
        if (m_may.value(bothIds(entry, other)) || other.path == draft)
            may.append(other);
    return may;
}

std::optional<ModelEntry> DraftModels::suggested(const engine::LoadRequest& request,
                                                 const engine::MachineMemory& memory)
{
    const QString path = QString::fromStdU16String(request.model.u16string());
    const ModelEntry* const entry = entryOf(path);
    if (!entry || !draftOf(path).isEmpty())
        return {};
    look(entry->id);
    const auto fits = [&](const ModelEntry& other) {
        return m_may.value(bothIds(*entry, other)) &&
               engine::fit_in_memory(entry->info, request, memory, &other.info).fit == engine::Fit::Fits;
    };
    const QList<ModelEntry> all = candidates(*entry);
    const auto found = std::ranges::find_if(all, fits);
    return found == all.end() ? std::nullopt : std::optional(*found);
}

QStringList DraftModels::offers(const QString& id) const
{
    QStringList titles;
    if (const int row = m_models.rowOf(id); row >= 0)
        for (const ModelEntry& other : offered(m_models.entry(row)))
            titles.append(other.titleWithQuantisation());
    return titles;
}

int DraftModels::chosen(const QString& id) const
{
    const int row = m_models.rowOf(id);
    if (row < 0)
        return -1;
    const ModelEntry& entry = m_models.entry(row);
    const QList<ModelEntry> may = offered(entry);
    const auto found = std::ranges::find(may, m_choices.of(entry.path), &ModelEntry::path);
    return found == may.end() ? -1 : int(found - may.begin());
}

void DraftModels::choose(const QString& id, int offer)
{
    const int row = m_models.rowOf(id);
    if (row < 0)
        return;
    const ModelEntry& entry = m_models.entry(row);
    const QList<ModelEntry> may = offered(entry);
    chooseFile(entry.path, offer >= 0 && offer < may.size() ? may[offer].path : QString());
}

void DraftModels::chooseFile(const QString& path, const QString& draft)
{
    m_choices.choose(path, draft);
    noteChange();
    Q_EMIT chose();
}

bool DraftModels::opensOtherwise() const
{
    return m_opener.current().known() && m_opener.draftChanged();
}

const ModelEntry* DraftModels::entryOf(const QString& path) const
{
    for (int row = 0; row < m_models.rowCount(); ++row)
        if (m_models.entry(row).path == path)
            return &m_models.entry(row);
    return nullptr;
}

void DraftModels::noteChange()
{
    ++m_changes;
    Q_EMIT changed();
}

#include "moc_draft_models.cpp"
