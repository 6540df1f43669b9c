// LicenceModel lists the works that the program is made with, each with its licence.
#pragma once

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

/// Lists what is shipped or linked, with the licence it comes under; the program's own first. Lives on the UI thread;
/// made by the page that shows it.
class LicenceModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT

public:
    enum Role { NameRole = Qt::UserRole + 1, PurposeRole, LicenceRole };
    Q_ENUM(Role)

    explicit LicenceModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Returns the whole text of a row's licences.
    Q_INVOKABLE QString text(int row) const;
};
