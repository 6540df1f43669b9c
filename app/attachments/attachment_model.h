// AttachmentModel lists the files that will go with the next message.
#pragma once

#include "app/attachments/attachment_facts.h"
#include "app/attachments/attachment_reader.h"
#include "app/worker/token_counter.h"

#include <QAbstractListModel>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <vector>

/// One row a file, from the moment it was chosen: being read, ready, or failed with a sentence. Each conversation has
/// rows of its own; those of the one that is shown are the model's. Lives on the UI thread; owned by
/// ComposerController.
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
        SentenceRole,  // of a failed one
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
    bool counting() const;                       // of some file it is not known yet how many tokens it takes
    int tokens() const;                          // of those that are known
    QString notice() const { return m_notice; }  // one sentence about what did not become a row

    Q_INVOKABLE void add(const QList<QUrl>& files);
    /// Returns what rowOf() takes; empty: there was no room.
    QString addText(const QString& name, const QString& text);
    Q_INVOKABLE void remove(int row);
    Q_INVOKABLE void removeFailed();
    Q_INVOKABLE AttachmentFacts facts(int row) const;
    QString text(int row) const;            // what the model will read
    int rowOf(const QString& added) const;  // the row of what addText() returned this for; -1: it is gone
    void say(const QString& notice) { setNotice(notice); }  // of what cannot become a row
    Q_INVOKABLE void dismissNotice() { setNotice({}); }

    /// Takes the folder of a profile that cannot be written, in which files were kept before. Empty: there is none.
    void alsoLookIn(const QString& folder) { m_reader.alsoLookIn(folder); }
    /// The rows become those of this conversation; the others' are kept and go on being read. One that is shown for the
    /// first time starts with what was kept of its draft.
    void showConversation(const QString& id, const QList<DraftFile>& kept = {});
    /// Forgets what was kept of a conversation that is not shown, and reads it no further.
    void forget(const QString& conversation);
    /// The files that are ready, in their order.
    QList<Attachment> ready() const;
    /// Returns the files that are to be read again when the program starts the next time.
    QList<DraftFile> kept() const { return keptOf(m_rows); }
    void clear();
    void recount();  // another model is open

Q_SIGNALS:
    void changed();
    /// A file of a conversation that is not shown was read, or could not be; or one is left whose files all could not.
    /// `kept` are those of kept() there, `reading` says how many are still being read.
    void readElsewhere(const QString& conversation, const QList<DraftFile>& kept, int reading);
    void noticeChanged();

private:
    struct Row {
        QString job;
        State state = Reading;
        bool counting = false;
        Attachment attachment = {};
        QString sentence = {};
    };
    struct Place {
        QString conversation;
        std::vector<Row>* rows;
        int row;
    };

    static QList<DraftFile> keptOf(const std::vector<Row>& rows);
    static int readingOf(const std::vector<Row>& rows);
    Place find(const QString& job);
    QString append(const QString& name);  // its job; empty: there is no room
    void erase(const Place& place);
    void onRead(const QString& job, const ReadFile& result);
    void count(Row& row);
    void tell(const Place& place);
    void tellElsewhere(const Place& place);
    void setNotice(const QString& notice);

    TokenCounter& m_counter;
    AttachmentReader m_reader;
    std::vector<Row> m_rows;
    QString m_conversation;
    QHash<QString, std::vector<Row>> m_others;
    QString m_notice;
};
