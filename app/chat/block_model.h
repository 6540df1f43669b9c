// BlockModel lists the blocks of one message as the page draws them.
#pragma once

#include "app/text/block.h"
#include "app/text/block_builder.h"
#include "app/text/reasoning.h"
#include "app/text/visible_text.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>
#include <vector>

/// Lists the blocks of one message, top to bottom. While text streams in, only the last ones change, so the cost of a
/// piece of text does not grow with the length of the answer. The text is read into blocks only when rows are asked
/// for, so a conversation of many messages opens at once. Lives on the UI thread; owned by its MessageModel.
class BlockModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("a message has one")

public:
    enum Role {
        KindRole = Qt::UserRole + 1,
        ContentRole,     // without looks: what is read aloud
        ParagraphsRole,  // Text
        LanguageRole,    // Code: as it was named
        TitleRole,       // Code: the language as people write it
        StateRole,       // Code: the highlighter's, before the first line
        TableRole,
        FormulaRole,    // Maths: its LaTeX
        IndentRole,     // in how many lists it stands
        QuotesRole,     // in how many quotes
        MirroredRole,   // the list or quote it stands in is read from right to left
        ContinuesRole,  // what stands above is the first part of it
        ThoughtsRole,   // Reasoning: a BlockModel
        ThinkingRole,   // Reasoning: it has not ended
        ThoughtMsRole,  // Reasoning: how long it took; undefined: not known
    };
    Q_ENUM(Role)

    enum Kind { Text, Code, Table, Maths, Rule, Reasoning };
    Q_ENUM(Kind)

    enum class Format {
        Plain,     // what people type is shown as it is, but for code between fences
        Markdown,  // with reasoning apart
        Thoughts,  // Markdown of a reasoning
        Card,      // a model card: Markdown with HTML, which is shown when all of it is there
    };

    explicit BlockModel(Format format = Format::Markdown, QObject* parent = nullptr);
    ~BlockModel() override;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Adds text, as typed or generated; characters that would be invisible are made visible here.
    void append(const QString& text);
    /// Call it when no more text comes.
    void finish();

    /// Sets how many milliseconds the model thought in all; the row of its first reasoning has them.
    void setReasoningMs(std::optional<double> ms);

    /// Returns all of the code whose first or later part is in this row.
    Q_INVOKABLE QString codeText(int row) const;

private:
    /// A row with the model's reasoning, and its blocks.
    struct Thought {
        qsizetype row;
        std::unique_ptr<BlockModel> blocks;
        bool open = true;
    };

    void readPending() const;
    void read(const QString& text);
    void readEnd();
    void take(const std::vector<ReasoningMarks::Part>& parts);
    void beginThought();
    void endThought();
    void allWasThought();
    void show();
    void bring(const QList<Block>& built, qsizetype firstChanged);
    const Thought* thoughtAt(int row) const;
    Thought* openThought();
    void tellThought(const Thought& thought);

    const Format m_format;
    QList<Block> m_rows;

    QString m_pending;  // text that is not read yet, since no row was asked for
    bool m_pendingEnd = false;
    bool m_watched = false;

    QString m_typed;  // Plain, Card: all of it, until it has ended
    VisibleText m_visible;
    ReasoningMarks m_marks;
    BlockBuilder m_builder;     // of the text since the last reasoning
    qsizetype m_builtFrom = 0;  // the row its first block is in
    QString m_unmarked;         // the text so far, which may turn out to be reasoning
    bool m_answered = false;    // m_unmarked cannot turn out to be reasoning any more
    std::vector<Thought> m_thoughts;
    std::optional<double> m_reasoningMs;
};
