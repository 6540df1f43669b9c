// ComposerController holds the message that is being written: text, files and their tokens.
#pragma once

#include "app/attachments/attachment_model.h"
#include "app/chat/chat_controller.h"

#include <QObject>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <stop_token>

class QMimeData;

/// Holds the next message: its text (the conversation's draft), its files, and the tokens they will take. These are
/// counted only while nothing is answered, so that no answer waits for it, and those of the text when the user has
/// stopped typing for a moment. Lives on the UI thread; owned by Program.
class ComposerController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(AttachmentModel* attachments READ attachments CONSTANT)
    Q_PROPERTY(QString obstacle READ obstacle NOTIFY obstacleChanged)
    Q_PROPERTY(int tokens READ tokens NOTIFY tokensChanged)
    Q_PROPERTY(int attachedTokens READ attachedTokens NOTIFY tokensChanged)
    Q_PROPERTY(bool counting READ counting NOTIFY tokensChanged)
    Q_PROPERTY(int tokensLeft READ tokensLeft NOTIFY tokensChanged)
    Q_PROPERTY(int promptTokens READ promptTokens NOTIFY tokensChanged)
    Q_PROPERTY(int contextTokens READ contextTokens NOTIFY tokensChanged)
    Q_PROPERTY(bool tooMuch READ tooMuch NOTIFY tokensChanged)
    Q_PROPERTY(bool pasteBecameFile READ pasteBecameFile NOTIFY pasteBecameFileChanged)

public:
    // Characters of a pasted text that becomes a file. A page has some 3,000: longer texts are for the model to read,
    // not to be edited here.
    static constexpr qsizetype kLongPaste = 20'000;
    // A pasted text with a longer paragraph becomes a file, too, which the user may still put into the field. At each
    // key Qt shapes and breaks the whole paragraph anew: 10,000 characters take some 13 ms of a processor, a frame.
    static constexpr qsizetype kLongParagraph = 8'000;

    /// `folder` holds the copies of attached files.
    ComposerController(ChatController& chat, TurnRunner& turns, EngineThread& engine, const QString& folder,
                       QObject* parent = nullptr);

    AttachmentModel* attachments() { return &m_attachments; }
    QString obstacle() const;  // why the message cannot be sent now; empty when it can
    int tokens() const { return m_draftTokens + attachedTokens(); }
    int attachedTokens() const { return m_attachments.tokens(); }
    bool counting() const { return m_attachments.counting() || m_attachments.reading(); }
    int tokensLeft() const;  // in the context, before this message; 0: not known
    int promptTokens() const { return m_chat.context()->ledger().total() + tokens(); }  // with this message
    int contextTokens() const { return m_chat.context()->tokens(); }
    bool tooMuch() const;  // the message does not fit
    bool pasteBecameFile() const { return m_pastedLength > 0; }

    /// Sends text and files to the model. False: they stay, and `obstacle` says why.
    Q_INVOKABLE bool send(const QString& text);

    /// Takes what the clipboard holds as a file: files, or a text that is too long to edit; of a picture it says that
    /// it cannot be read. False: it is a text like others, for the field to paste.
    Q_INVOKABLE bool paste();
    /// Does the same with what is selected in any program, which the middle button pastes under X11.
    Q_INVOKABLE bool pasteSelection();
    bool takeAsFile(const QMimeData* held);  // not for pages
    /// Returns the long text that was pasted last and takes its file away. Empty: the text is too long for the field.
    Q_INVOKABLE QString takePasteBack();
    Q_INVOKABLE void keepPasteAsFile();

Q_SIGNALS:
    void obstacleChanged();
    void tokensChanged();
    void pasteBecameFileChanged();

private:
    void onConversationOpened();
    void onDraftChanged();
    void countDraft();
    void holdFileCounts();
    void setDraftTokens(int tokens);
    void stopCounting();
    void setPasted(const QString& added, const QString& text);

    ChatController& m_chat;
    TurnRunner& m_turns;
    TokenCounter m_counter;
    AttachmentModel m_attachments;
    QTimer m_countTimer;
    int m_draftTokens = 0;
    bool m_countingDraft = false;  // the engine is counting it
    std::stop_source m_countingStop;
    bool m_draftIsTooLong = false;
    bool m_draftIsOther = false;  // the draft has changed since it was counted, or given to be counted
    int m_pastes = 0;
    QString m_pasted;  // the file that was made of the last paste, as addText() returned it
    qsizetype m_pastedLength = 0;
};
