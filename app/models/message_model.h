// The conversation as a list.
#pragma once

#include "app/models/block_model.h"
#include "app/models/visible_text.h"
#include "engine/engine.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>
#include <vector>

/// The messages of one conversation, oldest first, each with its blocks, what became of it and its numbers. Lives on
/// the UI thread; owned and changed by ChatController only.
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
        Waiting,    // nothing of the answer is there yet
        Streaming,  // it grows
        Stopped,    // by the user
        LengthLimit,
        ContextFull,
        Failed,  // `sentence` says why
    };
    Q_ENUM(Status)

    enum Role {
        AuthorRole = Qt::UserRole + 1,
        BlocksRole,
        TextRole,  // the whole text as it is shown
        StatusRole,
        SentenceRole,
        TokensRole,           // of the answer; undefined until it is known
        TtftMsRole,           // undefined: not known
        TokensPerSecondRole,  // undefined: not known
    };
    Q_ENUM(Role)

    explicit MessageModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    int count() const { return int(m_messages.size()); }

    void appendUser(const QString& text);

    // The answer is always the last row; it is there from beginAnswer() until the next message.
    void beginAnswer();
    void appendToAnswer(const QString& text);
    void finishAnswer(const engine::Turn& turn);
    void failAnswer(const QString& sentence);
    void stopAnswer();

    void removeLast();
    void clear();

    /// What the model is to read: every turn that got an answer, and the last message. A turn that failed or was
    /// stopped before its first word is left out, since templates want the roles to take turns.
    std::vector<engine::Message> forEngine() const;
    QString lastUserText() const;  // as it was typed

Q_SIGNALS:
    void countChanged();

private:
    struct Message {
        Author author = User;
        Status status = Complete;
        QString text = {};  // as typed or generated
        QString visibleText = {};
        VisibleText visible = {};
        std::unique_ptr<BlockModel> blocks = {};
        QString sentence = {};
        std::optional<int> tokens = {};
        std::optional<double> ttftMs = {};
        std::optional<double> tokensPerSecond = {};
    };

    void append(Message message);
    void show(Message& message, const QString& visibleText);
    void settle(Status status, const QString& sentence);

    std::vector<Message> m_messages;
};
