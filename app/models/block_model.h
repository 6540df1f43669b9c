// One message as the page draws it.
#pragma once

#include <QAbstractListModel>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// The blocks of one message, top to bottom. While text streams in, only the last block changes, so the cost of a piece
/// of text does not grow with the length of the answer. Lives on the UI thread; owned by its MessageModel.
class BlockModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("a message has one")

public:
    enum Role { ContentRole = Qt::UserRole + 1 };

    explicit BlockModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Adds text that is fit to be shown. A block that has grown long ends at its next line break.
    void append(const QString& text);
    /// No more text comes: blank lines at the end are not worth showing.
    void finish();

private:
    void closeLastBlockIfLong();

    QStringList m_blocks;
};
