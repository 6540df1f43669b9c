#include "app/chat/composer_controller.h"

#include "app/attachments/field_text.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>

#include <algorithm>
#include <utility>

namespace {

constexpr int kCountAfter_ms = 300;  // of rest: while the user types, no numbers are needed

}  // namespace

ComposerController::ComposerController(ChatController& chat, TurnRunner& turns, EngineThread& engine,
                                       const QString& folder, QObject* parent)
    : QObject(parent)
    , m_chat(chat)
    , m_turns(turns)
    , m_counter(engine)
    , m_attachments(m_counter, folder)
{
    m_countTimer.setSingleShot(true);
    m_countTimer.setInterval(kCountAfter_ms);
    connect(&m_countTimer, &QTimer::timeout, this, &ComposerController::countDraft);
    connect(&chat, &ChatController::draftChanged, this, &ComposerController::onDraftChanged);
    connect(&turns, &TurnRunner::phaseChanged, this, &ComposerController::holdFileCounts);  // also of one that waits
    connect(&turns, &TurnRunner::turnsChanged, this, [this] {
        holdFileCounts();
        if (m_draftIsOther)
            countDraft();
    });
    connect(&chat, &ChatController::opened, this, &ComposerController::onConversationOpened);
    connect(chat.turn(), &ChatTurn::canSendChanged, this, &ComposerController::obstacleChanged);
    connect(chat.context(), &ChatContext::changed, this, &ComposerController::tokensChanged);
    connect(&m_attachments, &AttachmentModel::changed, this, [this] {
        const QList<DraftFile> kept = m_attachments.kept();
        m_chat.setDraftFiles(kept, m_attachments.count() - int(kept.size()));
        if (m_pastedLength > 0 && m_attachments.rowOf(m_pasted) < 0)  // it was removed, or was attached already
            setPasted({}, {});
        Q_EMIT obstacleChanged();
        Q_EMIT tokensChanged();
    });
    connect(&m_attachments, &AttachmentModel::readElsewhere, this,
            [this](const QString& conversation, const QList<DraftFile>& kept, int reading) {
                if (!m_chat.keepDraftFiles(conversation, kept, reading))
                    m_attachments.forget(conversation);
            });
    connect(engine.worker(), &EngineWorker::loaded, this, [this] {
        m_attachments.recount();
        onDraftChanged();
        countDraft();
    });
    onConversationOpened();
}

QString ComposerController::obstacle() const
{
    QString why = m_chat.turn()->obstacle();
    if (!why.isEmpty())
        return why;
    if (m_attachments.reading())
        return tr("The files are still being read.");
    return m_draftIsTooLong ? tr("A message of this length cannot be kept: attach it as a file.") : QString();
}

int ComposerController::tokensLeft() const
{
    const ContextLedger ledger = m_chat.context()->ledger();
    return ledger.known ? std::max(0, ledger.limit - ledger.total()) : 0;
}

bool ComposerController::tooMuch() const
{
    return m_chat.context()->ledger().known && tokens() > 0 && tokens() >= tokensLeft();
}

bool ComposerController::send(const QString& text)
{
    if (!obstacle().isEmpty())
        return false;
    stopCounting();
    if (!m_chat.turn()->send(text, m_attachments.ready()))
        return false;
    m_attachments.clear();
    setPasted({}, {});
    return true;
}

bool ComposerController::paste()
{
    return takeAsFile(QGuiApplication::clipboard()->mimeData());
}

bool ComposerController::pasteSelection()
{
    return takeAsFile(QGuiApplication::clipboard()->mimeData(QClipboard::Selection));
}

bool ComposerController::takeAsFile(const QMimeData* held)
{
    if (!held)
        return false;
    const QList<QUrl> urls = held->urls();
    if (std::any_of(urls.begin(), urls.end(), [](const QUrl& url) { return url.isLocalFile(); })) {
        m_attachments.add(urls);
        return true;
    }
    if (!held->hasText()) {
        if (held->hasImage())
            m_attachments.say(tr("What was copied is a picture, and pictures cannot be read yet."));
        return held->hasImage();
    }
    const QString text = held->text();
    if (text.size() < kLongPaste && longestParagraph(text) <= kLongParagraph)
        return false;
    ++m_pastes;
    const QString name = m_pastes == 1 ? tr("Pasted text.txt") : tr("Pasted text %1.txt").arg(m_pastes);
    const QString added = m_attachments.addText(name, text);
    setPasted(added, added.isEmpty() ? QString() : text);
    return true;
}

QString ComposerController::takePasteBack()
{
    const int row = m_attachments.rowOf(m_pasted);
    QString text = m_attachments.text(row);
    if (text.isEmpty() || !fitsTheField(text))
        return {};
    m_attachments.remove(row);
    return text;
}

void ComposerController::keepPasteAsFile()
{
    setPasted({}, {});
}

void ComposerController::onConversationOpened()
{
    m_attachments.showConversation(m_chat.conversationId(), m_chat.draftFiles());
    setPasted({}, {});
    setDraftTokens(0);
    onDraftChanged();
    countDraft();
}

void ComposerController::onDraftChanged()
{
    m_draftIsOther = true;
    const bool tooLong = m_chat.draft().size() > kLongestMessage_chars;
    if (std::exchange(m_draftIsTooLong, tooLong) != tooLong)
        Q_EMIT obstacleChanged();
    if (m_chat.draft().isEmpty() || m_turns.busy())
        setDraftTokens(0);  // nothing is counted while an answer is made, and the old number is wrong
    m_countTimer.start();
}

void ComposerController::countDraft()
{
    m_countTimer.stop();
    if (m_countingDraft || m_turns.busy())
        return;  // called again when that ends
    m_draftIsOther = false;
    if (m_chat.draft().isEmpty())
        return;
    m_countingDraft = true;
    m_countingStop = {};
    m_counter.count(
        m_chat.draft(), this,
        [this, conversation = m_chat.conversationId()](std::optional<int> tokens) {
            m_countingDraft = false;
            if (m_turns.busy())
                m_draftIsOther = true;
            else if (conversation == m_chat.conversationId() && !m_chat.draft().isEmpty())
                setDraftTokens(tokens.value_or(0));
            if (m_draftIsOther && !m_countTimer.isActive())
                countDraft();
        },
        m_countingStop.get_token());
}

/// Lets files be counted only while nothing is answered.
void ComposerController::holdFileCounts()
{
    m_attachments.setMayCount(!m_turns.busy());
}

void ComposerController::setDraftTokens(int tokens)
{
    if (m_draftTokens == tokens)
        return;
    m_draftTokens = tokens;
    Q_EMIT tokensChanged();
}

/// Stops counting, so that the message that is sent need not wait for it.
void ComposerController::stopCounting()
{
    m_countTimer.stop();
    m_countingStop.request_stop();
}

void ComposerController::setPasted(const QString& added, const QString& text)
{
    m_pasted = added;
    m_pastedLength = fitsTheField(text) ? text.size() : 0;
    Q_EMIT pasteBecameFileChanged();
}

#include "moc_composer_controller.cpp"
