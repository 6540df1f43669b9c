// PlacementEventModel lists what moved between the memories.
#pragma once

#include "app/chat/placement_move.h"

#include <QAbstractListModel>
#include <QList>
#include <QSortFilterProxyModel>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <optional>

/// Lists offloads, fetches, moved layers, lost devices, saved KV and changes of `auto`, the newest last, kMostRows at
/// most. Lives on the UI thread; owned by Program.
class PlacementEventModel : public QAbstractListModel
{
    Q_OBJECT

public:
    static constexpr int kMostRows = 10'000;
    /// Holds what is to be said of a message that tokens belong to.
    struct Message {
        QString id;
        QString beginning;  // of its text, in a line
    };
    /// Finds a message by its place as MessageTokens names it; empty: there is no such message.
    using Messages = std::function<std::optional<Message>(int)>;
    enum Role {
        TimeRole = Qt::UserRole + 1,  // when, as a date
        KindRole,                     // Kind
        KindNameRole,
        TitleRole,   // the kind, and of a layer which it is and where to
        DetailRole,  // in words, what the title leaves out; empty: nothing
        CauseNameRole,
        BlocksRole,
        BytesRole,
        MicrosecondsRole,
        FirstTokenRole,  // -1: of no tokens
        LastTokenRole,
        LayerRole,  // -1: of all
        SentenceRole,
        MessageRole,      // name of the first message that the tokens belong to; empty: not known
        MessageIdRole,    // id of that message
        MessageCountRole  // how many messages they belong to
    };
    Q_ENUM(Role)
    enum Kind { Offload, Fetch, LayerMove, DeviceLost, SavedKv, Warning, KvRewritten, DeviceChanged, Adapted };
    Q_ENUM(Kind)

    explicit PlacementEventModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Returns the kind of an event's row; empty: it gets none.
    static std::optional<Kind> kindOf(engine::Event::Kind kind);
    static QString nameOf(engine::Event::Kind kind);
    static QString titleOf(const engine::Event& event);
    static QString nameOf(engine::Event::Cause cause);  // empty: there is none

    void add(const PlacementMove& move);
    /// Shows the moves of another conversation or recording.
    void reset(const QList<PlacementMove>& moves, const Messages& messages);

private:
    QString messageName(const PlacementMove& move) const;

    QList<PlacementMove> m_rows;
    Messages m_messages;
};

/// Holds the events of one kind, or all: the panel shows, copies and exports these. Lives on the UI thread; owned by
/// Program.
class ShownPlacementEvents : public QSortFilterProxyModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int kind READ kind WRITE setKind NOTIFY kindChanged)
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    explicit ShownPlacementEvents(PlacementEventModel& events, QObject* parent = nullptr);

    int kind() const { return m_kind; }  // -1: all
    void setKind(int kind);
    int count() const { return rowCount(); }

    /// Returns comma-separated values with a head line; times in ISO 8601, numbers without grouping.
    Q_INVOKABLE QString csv() const;
    Q_INVOKABLE void copy() const;
    /// Writes csv() to a file. Empty: it was written; else one sentence why not.
    Q_INVOKABLE QString save(const QUrl& file) const;

Q_SIGNALS:
    void kindChanged();
    void countChanged();

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    int m_kind = -1;
};
