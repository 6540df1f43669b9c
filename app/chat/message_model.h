// MessageModel lists the messages of the conversation that is shown.
#pragma once

#include "app/chat/block_model.h"
#include "app/chat/guessed_text.h"
#include "app/chat/open_conversation.h"
#include "app/text/visible_text.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <vector>

/// Lists the messages on a conversation's shown path, oldest first, or all answers to one question, each with its
/// blocks, its status and its numbers. When another path is shown, the rows that both have in common stay. Lives on the
/// UI thread; owned by ChatController or ChatComparison, which alone change it.
class MessageModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("ChatController has one")
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Author { User, Assistant };
    Q_ENUM(Author)

    enum Status {
        Complete,
        Queued,     // other conversations are answered first
        Waiting,    // nothing of the answer is there yet
        Streaming,  // it grows
        Stopped,    // by the user
        LengthLimit,
        ContextFull,
        Failed,       // `sentence` says why
        Interrupted,  // the program ended in the middle of it
    };
    Q_ENUM(Status)

    enum Role {
        AuthorRole = Qt::UserRole + 1,
        BlocksRole,
        TextRole,       // the whole text as it is shown
        RawTextRole,    // as it was typed or generated
        BeginningRole,  // of the text as it is shown: enough to see how wide it wants to be
        StatusRole,
        SentenceRole,
        MessageIdRole,
        VersionRole,  // from 1
        VersionCountRole,
        LeftOutRole,       // not given to the model any more
        LeftOutAboveRole,  // how many messages in a row right above are left out, when this one is not: a mark is drawn
        AttachmentsRole,   // list of AttachmentFacts
        CanContinueRole,   // a cut answer at the end
        UnansweredRole,    // a question at the end that is not being answered
        ModelNameRole,
        PromptTokensRole,    // undefined, as all below: not known
        TemplateTokensRole,  // of the prompt
        OwnTokensRole,       // of this message
        TtftMsRole,
        TokensPerSecondRole,
        DraftedTokensRole,
        AcceptedTokensRole,  // of the drafted ones
    };
    Q_ENUM(Role)

    explicit MessageModel(QObject* parent = nullptr);
    ~MessageModel() override;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    int count() const;

    /// Makes the rows those of the conversation's shown path.
    void show(const OpenConversation& conversation);
    /// Makes the rows the answers to this question, oldest first.
    void showAnswers(const OpenConversation& conversation, const QString& question);
    /// Appends to the text of the message that is being made.
    void append(const QString& message, const QString& text);
    /// Sets how fast a message is being made; forgotten when it is complete.
    void setSpeed(const QString& message, double tokensPerSecond);

    Q_INVOKABLE QString shownText(int row) const { return data(index(row), TextRole).toString(); }
    /// Returns the positions in shownText() where the guessed pieces begin and end: begin, end, begin, end.
    Q_INVOKABLE QList<int> guessedPlaces(int row) const;
    /// Sets where guessedPlaces() finds the guessed pieces; null: there are none.
    void setGuessed(const GuessedText* guessed) { m_guessed = guessed; }
    Q_INVOKABLE int rowOf(const QString& message) const;  // -1: it is not shown

Q_SIGNALS:
    void countChanged();

private:
    struct Facts;
    struct Row;

    void show(const OpenConversation& conversation, const QList<const StoredMessage*>& messages);
    static std::vector<Facts> factsOf(const OpenConversation& conversation,
                                      const QList<const StoredMessage*>& messages);
    void update(int row, Facts&& facts);
    void prepare(Row& row) const;

    QString m_conversation;
    const GuessedText* m_guessed = nullptr;
    mutable std::vector<Row> m_rows;  // blocks and shown texts are made when first asked for
};
