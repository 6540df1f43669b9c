// ModelChoiceList lists the models of one repository by their quantisation, and says which of them fit here.
#pragma once

#include "app/catalogue/model_fit.h"
#include "app/fetching/fetch_item.h"
#include "app/fetching/model_source.h"
#include "engine/engine.h"

#include <QAbstractListModel>
#include <QHash>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// Lists the models, the smallest first. They differ only in the size of their weights, so the header of one is enough
/// to compute which of all fit. Lives on the UI thread; owned by ModelPage.
class ModelChoiceList : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")

public:
    enum Role {
        QuantRole = Qt::UserRole,
        NameRole,
        BytesRole,
        PartsRole,
        FitRole,
        RecommendedRole,
        ReasonRole,
        HereRole,
        FetchStateRole,
        UsableRole
    };

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    void set(const std::vector<net::ModelChoice>& choices, const std::optional<net::Chosen>& recommended);
    void clear() { set({}, {}); }
    const net::ModelChoice& choice(int row) const { return m_choices[std::size_t(row)]; }
    /// Returns the recommended row; -1: none.
    int recommended() const { return m_recommended; }

    /// Sets where the first file of each row lies, if all of its files are here; else empty.
    void setPlaces(const QStringList& places);
    QString place(int row) const { return m_places.value(row); }
    /// Sets the states of the models that are being fetched, by the paths of their first files.
    void setFetchStates(const QHash<QString, Fetch::State>& states);

    /// Marks a row that this version of the program cannot run: it has no fit and is not recommended.
    void setUnusable(int row);
    /// Computes which rows fit, from the header of one row, for this request and this memory.
    void setFits(int row, const engine::ModelInfo& info, const engine::LoadRequest& request,
                 const engine::MachineMemory& memory);

private:
    QString reason() const;
    void tell(const QList<int>& roles);

    std::vector<net::ModelChoice> m_choices;
    std::vector<ModelFit> m_fits;  // one for each row, once the header of one has been read
    std::vector<bool> m_unusable;  // one for each row
    QStringList m_places;          // one for each row, once the disk has been looked at
    QHash<QString, Fetch::State> m_fetchStates;
    int m_recommended = -1;
    net::Chosen::Why m_why = net::Chosen::Why::Named;
};
