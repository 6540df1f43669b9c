// ConversationsController does what the column of conversations asks for.
#pragma once

#include "app/chat/open_conversation.h"
#include "app/conversations/conversation_list_model.h"
#include "app/conversations/search_model.h"
#include "app/exchange/export_job.h"
#include "app/exchange/import_job.h"
#include "app/store/conversation_store.h"

#include <QObject>
#include <QTimer>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <stop_token>

/// Searches, renames, pins, deletes (with a way back), exports and imports conversations. ChatController shows one when
/// this class asks for it by a signal. Program shows what goes wrong in the store. Lives on the UI thread; owned by
/// Program.
class ConversationsController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(ConversationListModel* list READ list CONSTANT)
    Q_PROPERTY(SearchModel* results READ results CONSTANT)
    Q_PROPERTY(QString searchText READ searchText WRITE setSearchText NOTIFY searchTextChanged)
    Q_PROPERTY(bool searching READ searching NOTIFY searchingChanged)
    Q_PROPERTY(bool looking READ looking NOTIFY lookingChanged)
    Q_PROPERTY(QString undoTitle READ undoTitle NOTIFY undoChanged)
    Q_PROPERTY(bool canUndo READ canUndo NOTIFY undoChanged)
    Q_PROPERTY(bool undoIsFolder READ undoIsFolder NOTIFY undoChanged)
    Q_PROPERTY(QString sentence READ sentence NOTIFY sentenceChanged)
    Q_PROPERTY(bool sentenceIsError READ sentenceIsError NOTIFY sentenceChanged)
    Q_PROPERTY(bool busy READ busy NOTIFY busyChanged)
    Q_PROPERTY(bool importing READ importing NOTIFY busyChanged)

public:
    enum Format { Json, Markdown };
    Q_ENUM(Format)

    static constexpr int kUndo_ms = 10'000;

    explicit ConversationsController(ConversationStore& store, QObject* parent = nullptr);
    ~ConversationsController() override;

    ConversationListModel* list() { return &m_list; }
    SearchModel* results() { return &m_results; }
    QString searchText() const { return m_searchText; }
    void setSearchText(const QString& text);
    bool searching() const { return m_searching; }  // `results` is to be shown
    bool looking() const { return m_looking; }      // a search runs for other words than those of `results`
    QString undoTitle() const { return m_trash.isEmpty() ? QString() : m_trash.last().title; }
    bool canUndo() const { return !m_trash.isEmpty(); }
    bool undoIsFolder() const { return canUndo() && m_trash.last().id.isEmpty(); }
    QString sentence() const { return m_sentence; }
    bool sentenceIsError() const { return m_sentenceIsError; }
    bool busy() const { return m_busy; }  // a file is being written or read
    bool importing() const { return m_import != nullptr; }

    Q_INVOKABLE void searchNow();  // what has been typed, without waiting for more
    /// Opens a conversation; with a message, at the place of the words that `excerpt` marks (see SearchModel).
    Q_INVOKABLE void open(const QString& conversation, const QString& message = {}, const QString& excerpt = {});
    Q_INVOKABLE void openNew();
    /// Gives a conversation another title; empty: the old one stays.
    Q_INVOKABLE void rename(const QString& conversation, const QString& title);
    Q_INVOKABLE void setPinned(const QString& conversation, bool pinned);
    Q_INVOKABLE void remove(const QString& conversation);

    /// Moves a conversation to a folder, which is made if there is none of this name; empty: out of its folder.
    Q_INVOKABLE void moveToFolder(const QString& conversation, const QString& folder);
    /// Moves a conversation to a new folder and returns the folder's name.
    Q_INVOKABLE QString moveToNewFolder(const QString& conversation);
    /// Renames a folder and returns the name that it has then. If another folder has the name, the two become one.
    Q_INVOKABLE QString renameFolder(const QString& folder, const QString& name);
    Q_INVOKABLE void removeFolder(const QString& folder);  // its conversations stay

    Q_INVOKABLE void undo();  // the newest removal, as long as it is offered
    Q_INVOKABLE void dismissUndo();
    Q_INVOKABLE void dismissSentence();

    Q_INVOKABLE void exportTo(const QString& conversation, Format format, const QUrl& file);
    Q_INVOKABLE void exportAll(Format format, const QUrl& fileOrFolder);
    Q_INVOKABLE void import(const QList<QUrl>& files);
    Q_INVOKABLE void cancelImport();  // what was imported by then stays
    /// Returns the file that is offered for an export of a conversation.
    Q_INVOKABLE QUrl suggestedFile(const QString& conversation, Format format) const;
    /// Returns the folder that is offered first for files to import, and for a folder of exports.
    Q_INVOKABLE QUrl suggestedFolder() const;

    void onOpened(const QString& conversation) { m_list.setCurrent(conversation); }
    void onActivity(const QString& conversation, ConversationActivity::Value activity);

Q_SIGNALS:
    void searchTextChanged();
    void searchingChanged();
    void lookingChanged();
    void undoChanged();
    void goneForGood(const QString& conversation);  // its removal cannot be undone any more
    void sentenceChanged();
    void busyChanged();

    void openRequested(const QString& conversation);
    void messageRequested(const QString& message, const QString& excerpt);  // a message of the conversation just opened
    void newRequested();

private:
    struct Removed {
        QString id;  // empty: a folder
        QString title;
        bool wasShown = false;
        QString folder = {};
        QStringList inFolder = {};
    };

    void search();
    void stopSearch();
    void setLooking(bool looking);
    void onFound(const QList<SearchHit>& hits);
    void offerUndo(const Removed& removed);
    void startExport(const QStringList& conversations, Format format, const QString& path);
    void onImported(const ImportJob::Outcome& outcome);
    void say(const QString& sentence, bool error);
    void setBusy(bool busy);

    ConversationStore& m_store;
    ConversationListModel m_list;
    SearchModel m_results;
    QList<SearchHit> m_hits;           // what m_results shows
    QString m_searchText, m_foundFor;  // m_hits was found for the latter
    bool m_searching = false, m_looking = false;
    QTimer m_searchTimer;
    std::optional<std::stop_source> m_search;  // of the search that runs
    bool m_searchAgain = false;                // texts were saved meanwhile, so that it may find more
    QList<Removed> m_trash;                    // newest last
    QTimer m_undoTimer;
    QString m_sentence;
    bool m_sentenceIsError = false;
    bool m_busy = false;
    ImportJob* m_import = nullptr;
};
