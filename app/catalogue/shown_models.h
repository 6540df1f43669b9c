// ShownModels sorts and filters the list of models for the page.
#pragma once

#include "app/catalogue/model_list_model.h"

#include <QSortFilterProxyModel>
#include <QtQml/qqmlregistration.h>

/// Sorts and filters a ModelListModel. What can be opened comes first, whatever the order. Lives on the UI thread;
/// owned by CatalogueController.
class ShownModels : public QSortFilterProxyModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the catalogue")
    Q_PROPERTY(Order order READ order WRITE setOrder NOTIFY orderChanged)
    Q_PROPERTY(QString text READ text WRITE setText NOTIFY textChanged)
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Order { ByLastUse, ByName, BySize };
    Q_ENUM(Order)

    explicit ShownModels(ModelListModel& models, QObject* parent = nullptr);

    Order order() const { return m_order; }
    void setOrder(Order order);
    QString text() const { return m_text; }
    void setText(const QString& text);  // all its words must be somewhere in the row
    int count() const { return rowCount(); }

Q_SIGNALS:
    void orderChanged();
    void textChanged();
    void countChanged();

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    ModelListModel& m_models;
    Order m_order = ByLastUse;
    QString m_text;
    QStringList m_words;
};
