#include "app/conversations/conversations_controller.h"

#include "app/system/chosen_path.h"

#include <utility>

namespace {

constexpr int kSearchDelay_ms = 120;
constexpr int kMostHits = 200;

ExportJob::Format asJobs(ConversationsController::Format format)
{
    return format == ConversationsController::Json ? ExportJob::Format::Json : ExportJob::Format::Markdown;
}

}  // namespace

ConversationsController::ConversationsController(ConversationStore& store, QObject* parent)
    : QObject(parent)
    , m_store(store)
    , m_list(store)
{
    m_searchTimer.setSingleShot(true);
    m_searchTimer.setInterval(kSearchDelay_ms);
    connect(&m_searchTimer, &QTimer::timeout, this, &ConversationsController::search);
    m_undoTimer.setSingleShot(true);
    m_undoTimer.setInterval(kUndo_ms);
    connect(&m_undoTimer, &QTimer::timeout, this, &ConversationsController::dismissUndo);
    connect(&store, &ConversationStore::trashed, this, [this](const QString& conversation) {
        m_results.forget(conversation);
        m_hits.removeIf([&](const SearchHit& hit) { return hit.conversation == conversation; });
    });
    connect(&store, &ConversationStore::restored, this, [this](const ConversationHeader& header) {
        if (m_trash.removeIf([&](const Removed& removed) { return removed.id == header.id; }) > 0)
            Q_EMIT undoChanged();
    });
    connect(&store, &ConversationStore::caughtUp, this, [this] {
        if (m_search)
            m_searchAgain = true;  // if it began anew each time, it would never end
        else if (m_searching)
            search();
    });
    store.emptyTrash();  // left by a run that ended before it could empty it
}

ConversationsController::~ConversationsController()
{
    stopSearch();
    dismissUndo();
    m_store.emptyTrash();
}

// ---- search ----

void ConversationsController::setSearchText(const QString& text)
{
    if (m_searchText == text)
        return;
    m_searchText = text;
    stopSearch();  // its words have changed; `looking` stays as it is until the next search ends
    Q_EMIT searchTextChanged();
    if (text.trimmed().isEmpty())
        search();  // the list comes back at once
    else
        m_searchTimer.start();
}

void ConversationsController::searchNow()
{
    if (m_searchTimer.isActive())
        search();
}

void ConversationsController::search()
{
    m_searchTimer.stop();
    stopSearch();
    if (m_searchText.trimmed().isEmpty()) {
        m_hits.clear();
        m_foundFor.clear();
        m_results.show({});
        if (std::exchange(m_searching, false))
            Q_EMIT searchingChanged();
        setLooking(false);
        return;
    }
    m_search.emplace();
    m_store.search(m_searchText, kMostHits, m_search->get_token(),
                   [this](const QList<SearchHit>& hits) { onFound(hits); });
    if (m_search)
        setLooking(m_foundFor != m_searchText);
}

void ConversationsController::stopSearch()
{
    m_searchAgain = false;
    if (m_search)
        m_search->request_stop();
    m_search.reset();
}

void ConversationsController::setLooking(bool looking)
{
    if (std::exchange(m_looking, looking) != looking)
        Q_EMIT lookingChanged();
}

void ConversationsController::onFound(const QList<SearchHit>& hits)
{
    m_search.reset();
    m_foundFor = m_searchText;
    if (m_hits != hits) {  // showing the same list again would scroll to its beginning
        m_hits = hits;
        m_results.show(m_hits);
    }
    if (!std::exchange(m_searching, true))
        Q_EMIT searchingChanged();
    setLooking(false);
    if (std::exchange(m_searchAgain, false))
        m_searchTimer.start();
}

// ---- one conversation ----

void ConversationsController::open(const QString& conversation, const QString& message, const QString& excerpt)
{
    Q_EMIT openRequested(conversation);
    if (!message.isEmpty())
        Q_EMIT messageRequested(message, excerpt);
}

void ConversationsController::openNew()
{
    Q_EMIT newRequested();
}

void ConversationsController::rename(const QString& conversation, const QString& title)
{
    const ConversationHeader* header = m_list.header(conversation);
    const QString name = title.simplified().left(kLongestTitle_chars);
    if (!header || name.isEmpty() || name == header->title)
        return;
    ConversationHeader renamed = *header;
    renamed.title = name;
    renamed.titleByUser = true;
    m_store.save(renamed);
}

void ConversationsController::setPinned(const QString& conversation, bool pinned)
{
    const ConversationHeader* header = m_list.header(conversation);
    if (!header || header->pinned == pinned)
        return;
    ConversationHeader changed = *header;
    changed.pinned = pinned;
    m_store.save(changed);
}

void ConversationsController::remove(const QString& conversation)
{
    const ConversationHeader* header = m_list.header(conversation);
    if (!header)
        return;
    const Removed removed{conversation, ConversationListModel::shownTitle(header->title),
                          m_list.current() == conversation};
    m_store.moveToTrash(conversation);
    offerUndo(removed);
}

void ConversationsController::offerUndo(const Removed& removed)
{
    m_trash.append(removed);
    m_undoTimer.start();
    Q_EMIT undoChanged();
}

// ---- folders ----

void ConversationsController::moveToFolder(const QString& conversation, const QString& folder)
{
    const ConversationHeader* header = m_list.header(conversation);
    const QString name = folder.simplified().left(kLongestTitle_chars);
    if (!header || header->folder == name)
        return;
    ConversationHeader moved = *header;
    moved.folder = name;
    m_store.save(moved);
}

QString ConversationsController::moveToNewFolder(const QString& conversation)
{
    const QStringList taken = m_list.folders();
    QString name = tr("New folder");
    for (int number = 2; taken.contains(name); ++number)
        name = tr("New folder %1").arg(number);
    moveToFolder(conversation, name);
    return name;
}

QString ConversationsController::renameFolder(const QString& folder, const QString& name)
{
    QString given = name.simplified().left(kLongestTitle_chars);
    if (given.isEmpty())
        return folder;
    const bool open = !m_list.closedFolders().contains(folder);
    for (const QStringList inIt = m_list.idsIn(folder); const QString& id : inIt)
        moveToFolder(id, given);
    if (!open)
        m_list.setFolderOpen(given, false);
    return given;
}

void ConversationsController::removeFolder(const QString& folder)
{
    const QStringList inIt = m_list.idsIn(folder);
    if (folder.isEmpty() || inIt.isEmpty())
        return;
    for (const QString& id : inIt)
        moveToFolder(id, {});
    offerUndo({{}, ConversationListModel::shownTitle(folder), false, folder, inIt});
}

void ConversationsController::undo()
{
    if (m_trash.isEmpty())
        return;
    const Removed last = m_trash.takeLast();
    if (!last.id.isEmpty())
        m_store.restore(last.id);
    for (const QString& id : last.inFolder)
        moveToFolder(id, last.folder);
    if (m_trash.isEmpty())
        m_undoTimer.stop();
    else
        m_undoTimer.start();
    Q_EMIT undoChanged();
    if (m_searching)
        search();
    if (last.wasShown)
        Q_EMIT openRequested(last.id);
}

void ConversationsController::dismissUndo()
{
    m_undoTimer.stop();
    for (const Removed& removed : std::exchange(m_trash, {}))
        if (!removed.id.isEmpty())
            Q_EMIT goneForGood(removed.id);
    Q_EMIT undoChanged();
}

void ConversationsController::onActivity(const QString& conversation, ConversationActivity::Value activity)
{
    m_list.setActivity(conversation, activity);
}

// ---- files ----

void ConversationsController::exportTo(const QString& conversation, Format format, const QUrl& file)
{
    startExport({conversation}, format, chosenPath(file));
}

void ConversationsController::exportAll(Format format, const QUrl& fileOrFolder)
{
    startExport(m_list.ids(), format, chosenPath(fileOrFolder));
}

void ConversationsController::startExport(const QStringList& conversations, Format format, const QString& path)
{
    if (m_busy || path.isEmpty() || conversations.isEmpty())
        return;
    setBusy(true);
    auto* job = new ExportJob(m_store, conversations, asJobs(format), path, this);
    const auto end = [this, job](const QString& sentence, bool error) {
        job->deleteLater();
        setBusy(false);
        say(sentence, error);
    };
    connect(job, &ExportJob::failed, this, [end](const QString& sentence) { end(sentence, true); });
    connect(job, &ExportJob::done, this, [this, job, end](int count) {
        const QString sentence =
            count == 1 ? tr("One conversation was exported.") : tr("%1 conversations were exported.").arg(count);
        const QString tooLarge = tr("A file became larger than Spillway reads again.");
        end(job->tooLargeToImport() ? sentence + QLatin1Char(' ') + tooLarge : sentence, false);
    });
}

void ConversationsController::import(const QList<QUrl>& files)
{
    QStringList paths;
    for (const QUrl& file : files)
        if (file.isLocalFile())
            paths << chosenPath(file);
    if (m_busy || paths.isEmpty())
        return;
    m_import = new ImportJob(m_store, paths, this);
    connect(m_import, &ImportJob::done, this, &ConversationsController::onImported);
    setBusy(true);
}

void ConversationsController::cancelImport()
{
    if (m_import)
        m_import->cancel();
}

void ConversationsController::onImported(const ImportJob::Outcome& outcome)
{
    std::exchange(m_import, nullptr)->deleteLater();
    setBusy(false);
    QStringList sentences;
    if (outcome.cancelled)
        sentences << tr("The import was cancelled.");
    if (outcome.added > 0)
        sentences << (outcome.added == 1 ? tr("One conversation was imported.")
                                         : tr("%1 conversations were imported.").arg(outcome.added));
    if (outcome.here > 0)
        sentences << tr("%n conversation(s) had been here already.", nullptr, outcome.here);
    if (outcome.leftOut > 0)
        sentences << tr("%n part(s) were left out: pictures, files, tool calls or what is damaged.", nullptr,
                        outcome.leftOut);
    if (!outcome.error.isEmpty())
        sentences << outcome.error;
    if (outcome.unreadFiles > 1)
        sentences << tr("%n file(s) were not read.", nullptr, outcome.unreadFiles);
    if (!sentences.isEmpty())
        say(sentences.join(QLatin1Char(' ')), !outcome.error.isEmpty());
    if (outcome.cancelled)
        return;
    if (outcome.added == 1 || (outcome.added == 0 && outcome.here == 1))
        Q_EMIT openRequested(outcome.last);
}

QUrl ConversationsController::suggestedFile(const QString& conversation, Format format) const
{
    const ConversationHeader* header = m_list.header(conversation);
    const QString name = header ? ExportJob::fileName(header->title) : tr("Conversations");
    const QString suffix = format == Json ? QStringLiteral("json") : QStringLiteral("md");
    return QUrl::fromLocalFile(QStringLiteral("%1/%2.%3").arg(documentsFolder(), name, suffix));
}

QUrl ConversationsController::suggestedFolder() const
{
    return QUrl::fromLocalFile(documentsFolder());
}

void ConversationsController::say(const QString& sentence, bool error)
{
    m_sentence = sentence;
    m_sentenceIsError = error;
    Q_EMIT sentenceChanged();
}

void ConversationsController::dismissSentence()
{
    say({}, false);
}

void ConversationsController::setBusy(bool busy)
{
    if (std::exchange(m_busy, busy) != busy)
        Q_EMIT busyChanged();
}

#include "moc_conversations_controller.cpp"
