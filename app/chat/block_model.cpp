#include "app/chat/block_model.h"

#include "app/text/card_blocks.h"
#include "app/text/highlighter.h"
#include "app/text/typed_text.h"

#include <QQmlEngine>

#include <algorithm>
#include <utility>

namespace {

// Text of more characters than this is not turned into reasoning when the end of a thought without a beginning comes.
constexpr qsizetype kLongestUnmarked = 400'000;

QString withoutSpaceAtEnd(QString text)
{
    while (!text.isEmpty() && text.back().isSpace())
        text.chop(1);
    return text;
}

}  // namespace

BlockModel::BlockModel(Format format, QObject* parent)
    : QAbstractListModel(parent)
    , m_format(format)
{
}

BlockModel::~BlockModel() = default;

int BlockModel::rowCount(const QModelIndex& parent) const
{
    readPending();
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant BlockModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Block& block = m_rows[index.row()];
    switch (role) {
    case KindRole:
        return int(block.kind);
    case ContentRole:
    case Qt::DisplayRole:
        return plainText(block);
    case ParagraphsRole:
        return QVariant::fromValue(block.paragraphs);
    case LanguageRole:
        return block.language;
    case TitleRole:
        return languageTitle(block.language);
    case StateRole:
        return block.state;
    case TableRole:
        return QVariant::fromValue(block.table);
    case FormulaRole:
        return block.formula;
    case IndentRole:
        return block.indent;
    case QuotesRole:
        return block.quotes;
    case MirroredRole:
        return block.direction == Direction::RightToLeft;
    case ContinuesRole:
        return block.continues;
    default:
        break;
    }
    const Thought* const thought = thoughtAt(index.row());
    switch (role) {
    case ThoughtsRole:
        return QVariant::fromValue(thought ? thought->blocks.get() : nullptr);
    case ThinkingRole:
        return thought && thought->open;
    case ThoughtMsRole:
        return m_reasoningMs && thought && thought == &m_thoughts.front() ? QVariant(*m_reasoningMs) : QVariant();
    default:
        return {};
    }
}

QHash<int, QByteArray> BlockModel::roleNames() const
{
    return {
        {KindRole, "kind"},           {ContentRole, "content"},     {ParagraphsRole, "paragraphs"},
        {LanguageRole, "language"},   {TitleRole, "languageTitle"}, {StateRole, "codeState"},
        {TableRole, "table"},         {IndentRole, "indent"},       {QuotesRole, "quotes"},
        {ContinuesRole, "continues"}, {ThoughtsRole, "thoughts"},   {ThinkingRole, "thinking"},
        {ThoughtMsRole, "thoughtMs"}, {MirroredRole, "mirrored"},   {FormulaRole, "formula"},
    };
}

void BlockModel::append(const QString& text)
{
    if (!m_watched)
        m_pending += text;
    else if (!text.isEmpty())
        read(m_visible.add(text));
}

void BlockModel::finish()
{
    if (!m_watched)
        m_pendingEnd = true;
    else
        readEnd();
}

void BlockModel::setReasoningMs(std::optional<double> ms)
{
    if (std::exchange(m_reasoningMs, ms) != ms && !m_thoughts.empty())
        tellThought(m_thoughts.front());
}

QString BlockModel::codeText(int row) const
{
    if (row < 0 || row >= rowCount() || m_rows[row].kind != Block::Kind::Code)
        return {};
    while (row > 0 && m_rows[row].continues)
        --row;
    QString text = m_rows[row].text;
    for (int part = row + 1; part < m_rows.size() && m_rows[part].continues; ++part) {
        if (!m_rows[part - 1].lineOpen)
            text += u'\n';
        text += m_rows[part].text;
    }
    return text;
}

/// Reads the text that was kept until a row was asked for. Signals are blocked, since nobody has seen a row yet.
void BlockModel::readPending() const
{
    if (m_watched)
        return;
    auto* const self = const_cast<BlockModel*>(this);  // the rows are what they would be if they had been read at once
    self->m_watched = true;
    const QSignalBlocker nobodyKnowsAnyRow(self);
    self->read(self->m_visible.add(std::exchange(self->m_pending, {})));
    if (self->m_pendingEnd)
        self->readEnd();
}

void BlockModel::read(const QString& text)
{
    switch (m_format) {
    case Format::Plain:
        m_typed += text;
        bring(typedBlocks(m_typed), 0);
        return;
    case Format::Card:
        m_typed += text;
        return;
    case Format::Thoughts:
        m_builder.append(text);
        break;
    case Format::Markdown:
        take(m_marks.add(text));
        break;
    }
    show();
}

void BlockModel::readEnd()
{
    const QString rest = m_visible.end();
    if (m_format == Format::Plain || m_format == Format::Card) {
        m_typed = withoutSpaceAtEnd(m_typed + rest);
        bring(m_format == Format::Plain ? typedBlocks(m_typed) : cardBlocks(m_typed), 0);
        m_typed.clear();
        return;
    }
    if (m_format == Format::Markdown) {
        take(m_marks.add(rest));
        take(m_marks.end());
        if (openThought())
            endThought();
    }
    m_builder.finish();
    m_unmarked = {};
    m_answered = true;
    show();
}

void BlockModel::take(const std::vector<ReasoningMarks::Part>& parts)
{
    using Kind = ReasoningMarks::Part::Kind;
    for (const ReasoningMarks::Part& part : parts) {
        switch (part.kind) {
        case Kind::Answer:
            m_builder.append(part.text);
            if (!m_answered)
                m_unmarked += part.text;
            m_answered = m_answered || m_unmarked.size() > kLongestUnmarked;
            break;
        case Kind::Thought:
            if (Thought* const thought = openThought())
                thought->blocks->append(part.text);
            else
                m_builder.append(part.text);
            break;
        case Kind::Begin:
            if (m_rows.size() < BlockLines::kMostBlocks)
                beginThought();
            else
                m_builder.append(u"\n\n");  // at the most blocks, all further text goes into the last one
            break;
        case Kind::End:
            endThought();
            break;
        case Kind::WasThought:
            allWasThought();
            break;
        }
    }
}

void BlockModel::beginThought()
{
    m_builder.finish();
    show();
    m_answered = true;
    m_unmarked = {};

    const int row = int(m_rows.size());
    auto blocks = std::make_unique<BlockModel>(Format::Thoughts);
    QQmlEngine::setObjectOwnership(blocks.get(), QQmlEngine::CppOwnership);
    beginInsertRows({}, row, row);
    m_thoughts.push_back({.row = row, .blocks = std::move(blocks)});
    m_rows.append({.kind = Block::Kind::Reasoning});
    endInsertRows();
    m_builder = {};
    m_builtFrom = row + 1;
}

void BlockModel::endThought()
{
    Thought* const thought = openThought();
    if (!thought)
        return;
    thought->blocks->finish();
    thought->open = false;
    tellThought(*thought);
}

/// Turns what was shown as an answer into a thought: only the end of the reasoning was marked.
void BlockModel::allWasThought()
{
    if (m_answered)
        return;
    const QString text = std::exchange(m_unmarked, {});
    m_builder = {};
    show();
    beginThought();
    m_thoughts.back().blocks->append(text);
    endThought();
}

void BlockModel::show()
{
    const qsizetype changed = m_builder.takeFirstChanged();
    bring(m_builder.blocks(), changed);
}

/// Makes the rows from m_builtFrom on equal to `built`, whose first `firstChanged` blocks are shown already, and emits
/// signals only for what differs.
void BlockModel::bring(const QList<Block>& built, qsizetype firstChanged)
{
    const qsizetype shown = m_rows.size() - m_builtFrom;
    const qsizetype common = qMin(shown, built.size());
    for (qsizetype i = firstChanged; i < common; ++i) {
        Block& row = m_rows[m_builtFrom + i];
        if (row == built[i])
            continue;
        row = built[i];
        const QModelIndex changed = index(int(m_builtFrom + i));
        Q_EMIT dataChanged(changed, changed);
    }
    if (shown > built.size()) {
        beginRemoveRows({}, int(m_builtFrom + built.size()), int(m_rows.size()) - 1);
        m_rows.resize(m_builtFrom + built.size());
        endRemoveRows();
    } else if (shown < built.size()) {
        beginInsertRows({}, int(m_rows.size()), int(m_builtFrom + built.size()) - 1);
        m_rows.append(built.sliced(shown));
        endInsertRows();
    }
}

const BlockModel::Thought* BlockModel::thoughtAt(int row) const
{
    const auto found = std::find_if(m_thoughts.begin(), m_thoughts.end(),
                                    [row](const Thought& thought) { return thought.row == row; });
    return found == m_thoughts.end() ? nullptr : &*found;
}

BlockModel::Thought* BlockModel::openThought()
{
    return m_thoughts.empty() || !m_thoughts.back().open ? nullptr : &m_thoughts.back();
}

void BlockModel::tellThought(const Thought& thought)
{
    const QModelIndex changed = index(int(thought.row));
    Q_EMIT dataChanged(changed, changed, {ThinkingRole, ThoughtMsRole});
}

#include "moc_block_model.cpp"
