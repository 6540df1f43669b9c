// FoundModelList lists the repositories that a search has found so far.
#pragma once

#include "app/net/hub.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

/// Lists what a search has found, in the order of the hub, nothing twice. Names are the hub's, made safe to show. Lives
/// on the UI thread; owned by ModelFinder.
class FoundModelList : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")

public:
    enum Role { IdRole = Qt::UserRole, DownloadsRole, LikesRole, GatedRole };

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    void clear();
    void add(const std::vector<net::FoundModel>& models);

private:
    QList<net::FoundModel> m_rows;
};
