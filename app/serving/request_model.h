// RequestModel has the requests of other programs as rows, the newest first.
#pragma once

#include "app/server/request_log.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <vector>

/// Texts that come from clients have been made safe to show. Lives on the UI thread; owned by ServerController.
class RequestModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ServerController has one")
    Q_PROPERTY(int count READ rowCount NOTIFY countChanged)

public:
    enum Role { TimeRole = Qt::UserRole + 1, RouteRole, ModelRole, PromptRole, AnswerRole, DurationRole, StatusRole };
    Q_ENUM(Role)

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Shows the server's log of requests; requests that are shown already keep their rows.
    void show(std::vector<server::LoggedRequest> requests);

Q_SIGNALS:
    void countChanged();

private:
    std::vector<server::LoggedRequest> m_requests;
};
