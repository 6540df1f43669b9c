// ModelListModel lists the models of this computer, in no order.
#pragma once

#include "app/catalogue/model_entry.h"
#include "app/catalogue/model_fit.h"

#include <QAbstractListModel>
#include <QHash>
#include <QList>

#include <functional>

/// The rows that a scan finds, with what this program knows besides: whether they fit, when they were used, which one
/// is open, and what tells it from another of its name. In no order; ShownModels sorts. Lives on the UI thread; owned
/// by CatalogueController.
class ModelListModel : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role { EntryRole = Qt::UserRole, FitRole, LastUsedRole, OpenRole, MarkRole };

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    const ModelEntry& entry(int row) const { return m_rows[row].entry; }
    qint64 lastUsed(int row) const { return m_rows[row].lastUsedMs; }
    int rowOf(const QString& id) const { return m_rowOf.value(id, -1); }

    /// Begins a scan: finishScan() removes the rows that were not added again until then.
    void beginScan();
    void add(const QList<ModelEntry>& entries);
    void finishScan();
    void remove(const QString& id);
    /// Sets the models of servers, which no scan finds. Rows of those given before and not now are removed.
    void setElsewhere(const QList<ModelEntry>& entries);

    /// Sets the request and the memory for which the rows' fit is computed, and computes it again.
    void setMemory(const engine::LoadRequest& request, const engine::MachineMemory& memory);
    /// Finds the draft model that guesses for a model and needs memory beside it; null: none does.
    using DraftOf = std::function<const engine::ModelInfo*(const ModelEntry& entry)>;
    void setDraftOf(DraftOf draftOf) { m_draftOf = std::move(draftOf); }
    /// See ModelFit::expertsOnDevice.
    void setExpertsOnDevice(const QString& id, const QVariant& share);
    void setLastUsed(const QHash<QString, qint64>& msById);
    void setOpen(const QString& id);  // empty: none
    const QString& open() const { return m_open; }

private:
    struct Row {
        ModelEntry entry;
        ModelFit fit;
        qint64 lastUsedMs = 0;  // since 1970; 0: never
        int scan = 0;           // that found it last
        QString mark = {};      // see tellApart()
    };
    ModelFit fitOf(const ModelEntry& entry) const;
    void removeRows(const std::function<bool(const Row&)>& gone);
    void mark();
    void changed(int row, Role role);

    QList<Row> m_rows;
    QHash<QString, int> m_rowOf;
    QHash<QString, qint64> m_lastUsedMs;
    QHash<QString, QVariant> m_expertsOnDevice;
    QString m_open;
    engine::LoadRequest m_request;
    engine::MachineMemory m_memory;
    DraftOf m_draftOf = [](const ModelEntry&) { return nullptr; };
    int m_scan = 0;
};
