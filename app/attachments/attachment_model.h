// AttachmentModel lists the files that will go with the next message.
#pragma once

#include "app/attachments/attachment_facts.h"
#include "app/attachments/attachment_reader.h"
#include "app/worker/token_counter.h"

#include <QAbstractListModel>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <stop_token>
#include <vector>

/// Has one row for each file from the moment it was chosen: being read, ready, or failed with a sentence. Each
/// conversation has rows of its own; the model gives those of the conversation that is shown. Lives on the UI thread;
/// owned by ComposerController.
class AttachmentModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int count READ count NOTIFY changed)
    Q_PROPERTY(int failed READ failed NOTIFY changed)
    Q_PROPERTY(bool sendable READ sendable NOTIFY changed)
    Q_PROPERTY(bool reading READ reading NOTIFY changed)
    Q_PROPERTY(bool counting READ counting NOTIFY changed)
    Q_PROPERTY(int tokens READ tokens NOTIFY changed)
    Q_PROPERTY(QString notice READ notice NOTIFY noticeChanged)

public:
    enum State { Reading, Ready, Failed };
    Q_ENUM(State)

    enum Role {
        NameRole = Qt::UserRole + 1,  // safe to show
        KindRole,                     // of Attachment; empty until it is known
        BytesRole,
        TokensRole,  // undefined: not known
        CountingRole,
        StateRole,
        SentenceRole,  // why it failed
    };
    Q_ENUM(Role)

    static constexpr int kMostFiles = 20;

    AttachmentModel(TokenCounter& counter, const QString& folder, const ReadLimits& limits = {},
                    QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    int count() const { return int(m_rows.size()); }
    int failed() const;     // files that cannot be sent
    bool sendable() const;  // some file has not failed
    bool reading() const { return readingOf(m_rows) > 0; }
    bool counting() const;                       // the tokens of some file are still being counted
    int tokens() const;                          // of the files that have been counted
    QString notice() const { return m_notice; }  // one sentence about what did not become a row

    Q_INVOKABLE void add(const QList<QUrl>& files);
    /// Adds a text as a file. Returns what rowOf() takes; empty: there are kMostFiles already.
    QString addText(const QString& name, const QString& text);
    Q_INVOKABLE void remove(int row);
    Q_INVOKABLE void removeFailed();
    Q_INVOKABLE AttachmentFacts facts(int row) const;
    QString text(int row) const;                            // what the model will read
    int rowOf(const QString& added) const;                  // `added`: from addText(); -1: it is gone
    void say(const QString& notice) { setNotice(notice); }  // about what cannot become a row
    Q_INVOKABLE void dismissNotice() { setNotice({}); }

    /// Takes the folder of a profile that cannot be written, in which files were kept before. Empty: there is none.
    void alsoLookIn(const QString& folder) { m_reader.alsoLookIn(folder); }
    /// Shows the rows of this conversation. Those of the others are kept, and their files go on being read. Where the
    /// conversation is shown for the first time, its rows are the files `kept` with its draft.
    void showConversation(const QString& id, const QList<DraftFile>& kept = {});
    /// Forgets the rows of a conversation that is not shown, and stops reading its files.
    void forget(const QString& conversation);
    /// Returns the files that are ready, in their order.
    QList<Attachment> ready() const;
    /// Returns the files that are to be read again when the program starts the next time.
    QList<DraftFile> kept() const { return keptOf(m_rows); }
    void clear();
    void recount();  // called when another model is open
    /// Sets whether tokens may be counted now. While they may not, the rows wait for it; counts that run are stopped,
    /// and begin anew later.
    void setMayCount(bool may);

Q_SIGNALS:
    void changed();
    /// Says that a file of a conversation which is not shown was read or could not be, or that a conversation was left
    /// of whose files none could be read. `kept`: its files as kept() gives them; `reading`: how many are still read.
    void readElsewhere(const QString& conversation, const QList<DraftFile>& kept, int reading);
    void noticeChanged();

private:
    struct Row {
        QString job;
        State state = Reading;
        bool counting = false;  // or waits for it
        Attachment attachment = {};
        QString sentence = {};
        std::stop_source countStop{std::nostopstate};  // of the newest count
    };
    struct Place {
        QString conversation;
        std::vector<Row>* rows;
        int row;
    };

    static QList<DraftFile> keptOf(const std::vector<Row>& rows);
    static int readingOf(const std::vector<Row>& rows);
    Place find(const QString& job);
    QString append(const QString& name);  // returns the row's job; empty: there is no room
    void erase(const Place& place);
    void drop(Row& row);
    std::vector<Row*> everyRow();
    void onRead(const QString& job, const ReadFile& result);
    void count(Row& row);
    void askForCount(Row& row);
    void tell(const Place& place);
    void tellElsewhere(const Place& place);
    void setNotice(const QString& notice);

    TokenCounter& m_counter;
    AttachmentReader m_reader;
    std::vector<Row> m_rows;
    QString m_conversation;
    QHash<QString, std::vector<Row>> m_others;
    bool m_mayCount = true;
    QString m_notice;
};
