// StoredConversation holds a conversation as it is kept: plain values, named as the database's columns.
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QList>
#include <QMetaType>
#include <QString>

#include <optional>

/// The longest message: more than any model reads at once.
constexpr qsizetype kLongestMessage_chars = 4 * 1024 * 1024;

/// The longest title or name of a folder: no more of it is ever shown.
constexpr qsizetype kLongestTitle_chars = 200;

/// A file that came with a message. Its bytes lie outside the database, under `sha256` in the attachments' folder, with
/// the text that was taken out of it beside them.
struct Attachment {
    QString id = {};    // UUID
    QString name = {};  // as the user's file was called
    QString kind = {};  // "text", "markdown", "code", "pdf"
    qint64 bytes = 0;
    QString sha256 = {};             // of the file, in hex
    QString text = {};               // what the model reads
    std::optional<int> tokens = {};  // of `text`; unknown without a model
};

/// A file that is going to come with a message: its name, and where its bytes are kept already.
struct DraftFile {
    QString name = {};
    QString sha256 = {};
    bool operator==(const DraftFile&) const = default;
};

/// One message. Messages of a conversation form a tree: those with the same parent are versions of each other.
struct StoredMessage {
    enum class Role { User, Assistant };
    enum class Status { Complete, Streaming, Stopped, LengthLimit, ContextFull, Failed };

    QString id = {};      // UUID
    QString parent = {};  // empty: the first of the conversation
    Role role = Role::User;
    QString text = {};                 // as typed or generated, reasoning with its marks included
    Status status = Status::Complete;  // Streaming, when read back: the program ended in the middle of it
    QString sentence = {};             // Failed: why
    qint64 createdMs = 0;              // since 1970, UTC
    bool leftOut = false;              // not given to the model any more, since the context was full
    QList<Attachment> attachments = {};

    // Of an answer, where known.
    QString model = {};
    std::optional<int> promptTokens = {};    // the whole prompt: template, system prompt and messages
    std::optional<int> templateTokens = {};  // of these, the template's
    std::optional<int> tokens = {};          // of this message: typed text with attachments, or generated text
    std::optional<double> ttftMs = {};
    std::optional<double> tokensPerSecond = {};
    std::optional<int> draftedTokens = {};   // computed ahead by drafting
    std::optional<int> acceptedTokens = {};  // of these, taken into the answer
    std::optional<double> reasoningMs = {};  // how long it thought
};

/// Holds what a conversation is asked with. Empty members mean: the program's own.
struct ConversationSettings {
    QString systemPrompt = {};
    QString preset = {};        // the name it was last set from
    QJsonObject sampling = {};  // names as in spillway-cli: temperature, top_k, top_p, min_p, repeat_penalty, seed...
    QJsonObject templateArguments = {};  // e.g. {"enable_thinking": false}
    bool operator==(const ConversationSettings&) const = default;
};

/// Holds a named set of settings.
struct Preset {
    QString name = {};
    ConversationSettings settings = {};
};

/// Holds all of a conversation but its messages.
struct ConversationHeader {
    QString id = {};  // UUID
    QString title = {};
    bool titleByUser = false;  // renamed: it no longer follows the first message
    qint64 createdMs = 0;
    qint64 changedMs = 0;  // the last turn
    bool pinned = false;
    QString folder = {};  // its name; empty: none
    QString leaf = {};    // the last message of the path through the tree that is shown
    QString draft = {};   // typed, not sent
    QList<DraftFile> draftFiles = {};
    ConversationSettings settings = {};
};

struct StoredConversation {
    ConversationHeader header = {};
    QList<StoredMessage> messages = {};  // in the order in which they were made; parents come before children
    QByteArray recording = {};           // its measurements as JSON (app/pressure/recording.h); empty: none
};

/// Says where words were found: in a title (no message) or in a message.
struct SearchHit {
    QString conversation = {};
    QString message = {};
    QString title = {};
    QString excerpt = {};  // plain text; the words between U+0002 and U+0003
    qint64 changedMs = 0;
    bool operator==(const SearchHit&) const = default;
};

Q_DECLARE_METATYPE(ConversationHeader)
