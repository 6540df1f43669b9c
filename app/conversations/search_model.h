// SearchModel lists the places where a search found its words.
#pragma once

#include "app/store/conversation.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

/// Lists the places where words were found, those of a conversation next to each other, the best conversation first.
/// Lives on the UI thread; owned by ConversationsController.
class SearchModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ConversationsController has one")
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role {
        ConversationIdRole = Qt::UserRole + 1,
        MessageIdRole,  // empty: the words are in the title
        TitleRole,      // safe to show, with <b> around what was found and &lt; for <; empty: it has none
        PlainTitleRole,
        ExcerptRole,  // the same of the message's text
        PlainExcerptRole,
        FirstRole,  // it is the first of its conversation's places
    };
    Q_ENUM(Role)

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    int count() const { return int(m_rows.size()); }

    Q_INVOKABLE QString conversationAt(int row) const;
    Q_INVOKABLE QString messageAt(int row) const;
    Q_INVOKABLE QString excerptAt(int row) const;  // with what was found between U+0002 and U+0003

    void show(const QList<SearchHit>& hits);
    void forget(const QString& conversation);  // removes the places of a conversation that is gone

Q_SIGNALS:
    void countChanged();

private:
    struct Row {
        SearchHit hit;
        bool first = false;
    };
    QList<Row> m_rows;
};
