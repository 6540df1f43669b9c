// LogModel lists the newest lines of the log.
#pragma once

#include "app/log/log_feed.h"

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <QtQml/qqmlregistration.h>

#include <memory>

/// Rows of the log, the oldest first, LogFeed::kMostLines at most; text has been made safe to look at. Lives on the UI
/// thread; owned by Program.
class LogModel : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role { TimeRole = Qt::UserRole + 1, LevelRole, TextRole, SelectedRole };
    Q_ENUM(Role)

    explicit LogModel(std::shared_ptr<LogFeed> feed, QObject* parent = nullptr);
    ~LogModel() override;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;  // SelectedRole
    QHash<int, QByteArray> roleNames() const override;

    /// Returns a line as it is copied: time, level, text.
    QString written(int row) const;

private:
    struct Row {
        LogLine line;
        bool selected = false;
    };
    void takeLines();

    std::shared_ptr<LogFeed> m_feed;
    QList<Row> m_rows;
};

/// Filters the lines of a level and above: those that the page shows, selects and copies. Lives on the UI thread; owned
/// by Program.
class ShownLog : public QSortFilterProxyModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int lowestLevel READ lowestLevel WRITE setLowestLevel NOTIFY lowestLevelChanged)
    Q_PROPERTY(int count READ count NOTIFY countChanged)
    Q_PROPERTY(int selectedCount READ selectedCount NOTIFY selectionChanged)

public:
    explicit ShownLog(LogModel& log, QObject* parent = nullptr);

    int lowestLevel() const { return m_lowestLevel; }
    void setLowestLevel(int level);
    int count() const { return rowCount(); }
    int selectedCount() const;

    /// Selects one row alone or, with `extend`, all rows between the one that was chosen last and this one.
    Q_INVOKABLE void select(int row, bool extend);
    Q_INVOKABLE void clearSelection();
    /// Returns the selected rows as text; all that are shown where none is selected.
    Q_INVOKABLE QString text() const;
    Q_INVOKABLE void copy() const;

Q_SIGNALS:
    void lowestLevelChanged();
    void countChanged();
    void selectionChanged();

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    LogModel& m_log;
    int m_lowestLevel = 0;
    QPersistentModelIndex m_anchor;
};
