#include "app/controllers/composer_controller.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>

#include <algorithm>

namespace {

constexpr int kCountAfter_ms = 300;  // of rest; who types fast needs no numbers in between

}  // namespace

ComposerController::ComposerController(ChatController& chat, EngineThread& engine, const QString& folder,
                                       QObject* parent)
    : QObject(parent)
    , m_chat(chat)
    , m_counter(engine)
    , m_attachments(m_counter, folder)
{
    m_countTimer.setSingleShot(true);
    m_countTimer.setInterval(kCountAfter_ms);
    connect(&m_countTimer, &QTimer::timeout, this, &ComposerController::countDraft);
    connect(&chat, &ChatController::draftChanged, &m_countTimer, qOverload<>(&QTimer::start));
    connect(&chat, &ChatController::opened, this, &ComposerController::onConversationOpened);
    connect(&chat, &ChatController::canSendChanged, this, &ComposerController::obstacleChanged);
    connect(&chat, &ChatController::contextChanged, this, &ComposerController::tokensChanged);
    connect(&m_attachments, &AttachmentModel::changed, this, [this] {
        m_chat.setDraftFiles(m_attachments.kept());
        Q_EMIT obstacleChanged();
        Q_EMIT tokensChanged();
    });
    connect(engine.worker(), &EngineWorker::loaded, this, [this] {
        m_attachments.recount();
        countDraft();
    });
    onConversationOpened();
}

QString ComposerController::obstacle() const
{
    const QString why = m_chat.obstacle();
    return why.isEmpty() && m_attachments.reading() ? tr("The files are still being read.") : why;
}

int ComposerController::tokensLeft() const
{
    const ContextLedger ledger = m_chat.ledger();
    return ledger.known ? std::max(0, ledger.limit - ledger.total()) : 0;
}

bool ComposerController::tooMuch() const
{
    return m_chat.ledger().known && tokens() > 0 && tokens() >= tokensLeft();
}

bool ComposerController::send(const QString& text)
{
    if (!obstacle().isEmpty() || !m_chat.send(text, m_attachments.ready()))
        return false;
    m_attachments.clear();
    setPasted({}, 0);
    return true;
}

bool ComposerController::paste()
{
    const QMimeData* held = QGuiApplication::clipboard()->mimeData();
    if (!held)
        return false;
    const QList<QUrl> urls = held->urls();
    if (std::any_of(urls.begin(), urls.end(), [](const QUrl& url) { return url.isLocalFile(); })) {
        m_attachments.add(urls);
        return true;
    }
    if (!held->hasText())
        return false;
    const QString text = held->text();
    if (text.size() < kLongPaste)
        return false;
    ++m_pastes;
    const QString name = m_pastes == 1 ? tr("Pasted text.txt") : tr("Pasted text %1.txt").arg(m_pastes);
    m_attachments.addText(name, text);
    setPasted(name, text.size());
    return true;
}

QString ComposerController::takePasteBack()
{
    QString text;
    for (int row = 0; row < m_attachments.count(); ++row) {
        const QModelIndex index = m_attachments.index(row);
        if (m_attachments.data(index, AttachmentModel::NameRole).toString() != m_pastedName)
            continue;
        text = m_attachments.text(row);
        if (text.isEmpty() || text.size() > kLongestInsert)
            return {};
        m_attachments.remove(row);
        break;
    }
    setPasted({}, 0);
    return text;
}

void ComposerController::keepPasteAsFile()
{
    setPasted({}, 0);
}

void ComposerController::onConversationOpened()
{
    m_attachments.showConversation(m_chat.conversationId(), m_chat.draftFiles());
    setPasted({}, 0);
    countDraft();
}

void ComposerController::countDraft()
{
    m_countTimer.stop();
    const quint64 job = ++m_draftJob;
    m_counter.count(m_chat.draft(), this, [this, job](std::optional<int> tokens) {
        if (job != m_draftJob || m_draftTokens == tokens.value_or(0))
            return;
        m_draftTokens = tokens.value_or(0);
        Q_EMIT tokensChanged();
    });
}

void ComposerController::setPasted(const QString& name, qsizetype length)
{
    m_pastedName = name;
    m_pastedLength = length <= kLongestInsert ? length : 0;
    Q_EMIT pasteBecameFileChanged();
}
