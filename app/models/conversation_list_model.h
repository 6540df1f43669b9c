// The conversations as a list.
#pragma once

#include "app/chat/activity.h"
#include "app/store/conversation.h"

#include <QAbstractListModel>
#include <QDateTime>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <functional>

class ConversationStore;

/// All conversations but those in the trash: pinned ones first, then the newest, under the day or month of their last
/// turn. Follows the store and what each is doing; one change is one row's. Lives on the UI thread; owned by
/// ConversationsController.
class ConversationListModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ConversationsController has one")
    Q_PROPERTY(int count READ count NOTIFY countChanged)
    Q_PROPERTY(int currentRow READ currentRow NOTIFY currentRowChanged)

public:
    enum Role {
        ConversationIdRole = Qt::UserRole + 1,
        TitleRole,  // safe to show, on one line; empty: it has none
        SectionRole,
        PinnedRole,
        CurrentRole,  // it is the one that is shown
        ActivityRole,
    };
    Q_ENUM(Role)

    using Clock = std::function<QDateTime()>;

    explicit ConversationListModel(ConversationStore& store, Clock now = &QDateTime::currentDateTime,
                                   QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    int count() const { return int(m_rows.size()); }

    Q_INVOKABLE int rowOf(const QString& conversation) const;  // -1: it is not in the list
    Q_INVOKABLE QString idAt(int row) const;                   // empty: there is no such row
    const ConversationHeader* header(const QString& conversation) const;

    int currentRow() const { return rowOf(m_current); }
    QString current() const { return m_current; }
    void setCurrent(const QString& conversation);
    void regroup();  // it is another day, or another language
    void setActivity(const QString& conversation, ConversationActivity::Value activity);

Q_SIGNALS:
    void countChanged();
    void currentRowChanged();

private:
    struct Row {
        ConversationHeader header;
        QString title = {};  // as it is shown
        QString section = {};
    };

    void put(const ConversationHeader& header);
    void remove(const QString& conversation);
    void change(int row, const ConversationHeader& header);
    void changed(int row, const QList<int>& roles);
    void waitForMidnight();
    Row made(const ConversationHeader& header) const;
    QString section(const ConversationHeader& header) const;

    const Clock m_now;
    QList<Row> m_rows;
    QHash<QString, ConversationActivity::Value> m_activities;  // of those that do something
    QSet<QString> m_trashed;                                   // whatever is still saved of them
    QString m_current;
    QTimer m_midnight;
};
