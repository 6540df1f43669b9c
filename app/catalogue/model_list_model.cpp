#include "app/catalogue/model_list_model.h"

#include "app/catalogue/tell_apart.h"

#include <QSet>

int ModelListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant ModelListModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[index.row()];
    switch (role) {
    case Qt::DisplayRole:
        return row.entry.title;
    case EntryRole:
        return QVariant::fromValue(row.entry);
    case FitRole:
        return QVariant::fromValue(row.fit);
    case LastUsedRole:
        return double(row.lastUsedMs);
    case OpenRole:
        return !m_open.isEmpty() && row.entry.id == m_open;
    case MarkRole:
        return row.mark;
    default:
        return {};
    }
}

QHash<int, QByteArray> ModelListModel::roleNames() const
{
    return {
        {EntryRole, "entry"}, {FitRole, "fit"}, {LastUsedRole, "lastUsed"}, {OpenRole, "isOpen"}, {MarkRole, "mark"}};
}

void ModelListModel::beginScan()
{
    ++m_scan;
}

void ModelListModel::add(const QList<ModelEntry>& entries)
{
    QList<Row> fresh;
    for (const ModelEntry& entry : entries) {
        const Row row = {entry, fitOf(entry), m_lastUsedMs.value(entry.id), m_scan};
        const int known = rowOf(entry.id);
        if (known < 0) {
            m_rowOf.insert(entry.id, int(m_rows.size() + fresh.size()));
            fresh.append(row);
        } else if (known >= m_rows.size()) {
            fresh[known - m_rows.size()] = row;
        } else {
            QString mark = std::move(m_rows[known].mark);
            m_rows[known] = row;
            m_rows[known].mark = std::move(mark);
            Q_EMIT dataChanged(index(known), index(known));
        }
    }
    if (!fresh.isEmpty()) {
        beginInsertRows({}, int(m_rows.size()), int(m_rows.size() + fresh.size()) - 1);
        m_rows.append(fresh);
        endInsertRows();
    }
    mark();
}

void ModelListModel::finishScan()
{
    removeRows([this](const Row& row) { return row.scan != m_scan && row.entry.store != Store::Server; });
}

void ModelListModel::remove(const QString& id)
{
    removeRows([&](const Row& row) { return row.entry.id == id; });
}

void ModelListModel::setElsewhere(const QList<ModelEntry>& entries)
{
    QSet<QString> there;
    for (const ModelEntry& entry : entries)
        there.insert(entry.id);
    removeRows([&](const Row& row) { return row.entry.store == Store::Server && !there.contains(row.entry.id); });
    add(entries);
}

void ModelListModel::removeRows(const std::function<bool(const Row&)>& gone)
{
    for (int row = int(m_rows.size()) - 1; row >= 0; --row) {
        if (!gone(m_rows[row]))
            continue;
        beginRemoveRows({}, row, row);
        m_rowOf.remove(m_rows[row].entry.id);
        m_rows.removeAt(row);
        for (int later = row; later < m_rows.size(); ++later)  // before the signal, whose receivers may ask for a row
            m_rowOf[m_rows[later].entry.id] = later;
        endRemoveRows();
    }
    mark();
}

/// Computes anew how rows of the same name are told apart, after rows have come or gone.
void ModelListModel::mark()
{
    QList<NamedFile> files;
    for (const Row& row : std::as_const(m_rows))
        files.append({row.entry.title, row.entry.path, row.entry.facts.server});
    const QStringList marks = tellApart(files);
    for (int row = 0; row < m_rows.size(); ++row) {
        if (m_rows[row].mark == marks[row])
            continue;
        m_rows[row].mark = marks[row];
        changed(row, MarkRole);
    }
}

void ModelListModel::setMemory(const engine::LoadRequest& request, const engine::MachineMemory& memory)
{
    m_request = request;
    m_memory = memory;
    for (int row = 0; row < m_rows.size(); ++row) {
        const ModelFit fit = fitOf(m_rows[row].entry);
        if (fit == m_rows[row].fit)
            continue;
        m_rows[row].fit = fit;
        changed(row, FitRole);
    }
}

void ModelListModel::setExpertsOnDevice(const QString& id, const QVariant& share)
{
    m_expertsOnDevice.insert(id, share);
    const int row = rowOf(id);
    if (row < 0 || m_rows[row].fit.expertsOnDevice == share)
        return;
    m_rows[row].fit.expertsOnDevice = share;
    changed(row, FitRole);
}

void ModelListModel::setLastUsed(const QHash<QString, qint64>& msById)
{
    m_lastUsedMs = msById;
    for (int row = 0; row < m_rows.size(); ++row) {
        const qint64 ms = msById.value(m_rows[row].entry.id);
        if (ms == m_rows[row].lastUsedMs)
            continue;
        m_rows[row].lastUsedMs = ms;
        changed(row, LastUsedRole);
    }
}

void ModelListModel::setOpen(const QString& id)
{
    if (id == m_open)
        return;
    const int before = rowOf(m_open), after = rowOf(id);
    m_open = id;
    for (const int row : {before, after})
        if (row >= 0)
            changed(row, OpenRole);
}

ModelFit ModelListModel::fitOf(const ModelEntry& entry) const
{
    if (!entry.openable() || entry.store == Store::Server)  // a server's model takes no memory here
        return {};
    ModelFit fit(engine::fit_in_memory(entry.info, m_request, m_memory, m_draftOf(entry)),
                 FixedState(entry.info, m_request));
    fit.expertsOnDevice = m_expertsOnDevice.value(entry.id);
    return fit;
}

void ModelListModel::changed(int row, Role role)
{
    Q_EMIT dataChanged(index(row), index(row), {role});
}

#include "moc_model_fit.cpp"
#include "moc_model_list_model.cpp"
