// ProgramModel has the programs that are connected to the local server as rows, in the order in which they came.
#pragma once

#include "app/server/request_log.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <vector>

/// The names that clients send have been made safe to show. Lives on the UI thread; owned by ServerController.
class ProgramModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ServerController has one")
    Q_PROPERTY(int count READ rowCount NOTIFY countChanged)

public:
    enum Role { ClientRole = Qt::UserRole + 1, SinceRole, RequestsRole, AnsweredRole };
    Q_ENUM(Role)

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Shows the programs that are connected now, in that order; programs that are shown already keep their rows.
    void show(std::vector<server::ConnectedClient> clients);
    bool anyAnswered() const;  // a request of one of them is being answered now

Q_SIGNALS:
    void countChanged();

private:
    std::vector<server::ConnectedClient> m_clients;
};
