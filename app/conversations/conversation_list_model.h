// ConversationListModel lists the conversations, in folders and by day.
#pragma once

#include "app/chat/open_conversation.h"
#include "app/store/conversation.h"

#include <QAbstractListModel>
#include <QDateTime>
#include <QHash>
#include <QSet>
#include <QStringList>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <map>

class ConversationStore;

/// Lists all conversations but those in the trash. First come the folders by name, each a row of its own with its
/// conversations below it, unless it is closed; then the others under the day or month of their last turn. In each
/// group pinned ones come first, then the newest. A folder exists as long as anything is in it. The list follows the
/// store; a change of one conversation changes its row alone. Lives on the UI thread; owned by ConversationsController.
class ConversationListModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ConversationsController has one")
    Q_PROPERTY(int count READ count NOTIFY countChanged)
    Q_PROPERTY(QStringList folders READ folders NOTIFY foldersChanged)
    Q_PROPERTY(int currentRow READ currentRow NOTIFY currentRowChanged)
    Q_PROPERTY(QString current READ current NOTIFY currentRowChanged)

public:
    enum Role {
        ConversationIdRole = Qt::UserRole + 1,  // empty: it is a folder
        TitleRole,                              // safe to show, on one line; empty: it has none
        FolderRole,                             // the name of the folder that it is, or lies in
        FolderOpenRole,                         // of a folder: its conversations are below it
        FolderCountRole,                        // of a folder: how many lie in it
        SectionRole,
        PinnedRole,
        CurrentRole,  // the conversation is shown
        ActivityRole,
    };
    Q_ENUM(Role)

    using Clock = std::function<QDateTime()>;

    explicit ConversationListModel(ConversationStore& store, Clock now = &QDateTime::currentDateTime,
                                   QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    int count() const { return int(m_all.size()); }  // of conversations, also those in closed folders

    Q_INVOKABLE int rowOf(const QString& conversation) const;  // -1: it is not in the list, or its folder is closed
    Q_INVOKABLE int rowOfFolder(const QString& name) const;    // -1: there is none
    Q_INVOKABLE QString idAt(int row) const;                   // empty: there is no such row, or it is a folder
    Q_INVOKABLE QString folderAt(int row) const;               // that it is, or lies in
    Q_INVOKABLE bool isFolderOpen(const QString& name) const;
    const ConversationHeader* header(const QString& conversation) const;
    static QString shownTitle(const QString& title);  // safe to show, on one line
    QStringList ids() const;                          // of all, in the order of the list
    QStringList idsIn(const QString& folder) const;   // in the same order

    QStringList folders() const;  // in the order of the list
    QStringList closedFolders() const;
    Q_INVOKABLE void setFolderOpen(const QString& name, bool open);
    Q_INVOKABLE void reveal(const QString& conversation);  // opens its folder

    int currentRow() const { return rowOf(m_current); }
    QString current() const { return m_current; }
    void setCurrent(const QString& conversation);
    void regroup();  // call it when it is another day, or another language
    void setActivity(const QString& conversation, ConversationActivity::Value activity);

Q_SIGNALS:
    void countChanged();
    void currentRowChanged();
    void foldersChanged();
    void closedFoldersChanged();

private:
    struct Row {
        ConversationHeader header;  // without an id: it is the folder of that name
        QString title = {};         // as it is shown
        QString section = {};
    };
    struct Folder {
        int count = 0;  // of its conversations
        bool open = true;
    };
    struct ByName {
        bool operator()(const QString& a, const QString& b) const;
    };

    static bool before(const ConversationHeader& a, const ConversationHeader& b);
    void put(const ConversationHeader& header);
    void forget(const QString& conversation);
    void enter(const QString& folder);
    void leave(const QString& folder);
    void show(const ConversationHeader& header);
    void hide(int row);
    bool isShown(const ConversationHeader& header) const;
    int placeOf(const ConversationHeader& header) const;
    const Folder& folderOf(const Row& row) const;
    QStringList idsWhere(const std::function<bool(const ConversationHeader&)>& wanted) const;
    void change(int row, const ConversationHeader& header);
    void changed(int row, const QList<int>& roles);
    void lookAtTheDay();
    void waitForMidnight();
    Row made(const ConversationHeader& header) const;
    QString section(const ConversationHeader& header) const;

    const Clock m_now;
    QList<Row> m_rows;
    QHash<QString, ConversationHeader> m_all;  // those in closed folders, too
    std::map<QString, Folder, ByName> m_folders;
    QHash<QString, ConversationActivity::Value> m_activities;  // of those that are not idle
    QSet<QString> m_trashed;                                   // not listed, though they may still be saved
    QString m_current;
    QDate m_day;  // by which they are grouped
    QTimer m_midnight;
};
