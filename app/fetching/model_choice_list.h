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

/// The smallest first. What a header says of one holds for the others but for their weights, so that one that has been
/// looked at tells which of all fit. Lives on the UI thread; owned by ModelPage.
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
    /// -1: none.
    int recommended() const { return m_recommended; }

    /// Takes where the first file of each row is, if all of it is here; else empty.
    void setPlaces(const QStringList& places);
    QString place(int row) const { return m_places.value(row); }
    /// Takes the states of those that are being fetched, by their first files.
    void setFetchStates(const QHash<QString, Fetch::State>& states);

    /// Marks a row that this version cannot run: it neither fits nor is recommended.
    void setUnusable(int row);
    /// Takes what the header of a row said, and by what fit is judged.
    void setFits(int row, const engine::ModelInfo& info, const engine::LoadRequest& request,
                 const engine::MachineMemory& memory);

private:
    QString reason() const;
    void tell(const QList<int>& roles);

    std::vector<net::ModelChoice> m_choices;
    std::vector<ModelFit> m_fits;  // as many, once one has been looked at
    std::vector<bool> m_unusable;  // as many
    QStringList m_places;          // as many, once the disk has been looked at
    QHash<QString, Fetch::State> m_fetchStates;
    int m_recommended = -1;
    net::Chosen::Why m_why = net::Chosen::Why::Named;
};
