#include "app/text/typed_text.h"

#include "app/text/block_builder.h"
#include "app/text/direction.h"
#include "app/text/lines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace {

// A block of text ends at the first line break beyond this...
constexpr qsizetype kLongBlock = 4000;
// ...and one without any at a space (or, without one, anywhere) beyond this.
constexpr qsizetype kLongestBlock = 8000;

/// Finds where the first block of a text ends, and where the next begins.
std::pair<qsizetype, qsizetype> firstCut(QStringView text)
{
    if (text.size() <= kLongBlock)
        return {text.size(), text.size()};
    const qsizetype line = text.first(std::min(text.size(), kLongestBlock)).indexOf(u'\n', kLongBlock);
    if (line >= 0)
        return {line, line + 1};
    if (text.size() <= kLongestBlock)
        return {text.size(), text.size()};
    const qsizetype space = text.first(kLongestBlock).lastIndexOf(u' ');
    if (space >= kLongBlock)
        return {space, space + 1};
    const qsizetype end = kLongestBlock - (text[kLongestBlock - 1].isHighSurrogate() ? 1 : 0);
    return {end, end};
}

/// Makes a block of lines. Each line has its own direction; one without letters has that of the line above.
Block linesOf(QStringView text, bool continues)
{
    Block block{.kind = Block::Kind::Text, .continues = continues};
    Direction above = Direction::Neutral;
    for (const QStringView line : text.tokenize(u'\n')) {
        const Direction own = directionOf(line);
        above = own == Direction::Neutral ? above : own;
        block.paragraphs.append({.spans = {{line.toString()}}, .typed = true, .direction = above});
    }
    return block;
}

void appendText(QStringView text, QList<Block>& blocks)
{
    for (bool continues = false; !text.isEmpty(); continues = true) {
        const auto [end, next] = firstCut(text);
        blocks.append(linesOf(text.first(end), continues));
        text = text.sliced(next);
    }
}

QStringView withoutLineBreaks(QStringView text, bool first, bool last)
{
    while (first && text.startsWith(u'\n'))
        text = text.sliced(1);
    while (last && text.endsWith(u'\n'))
        text.chop(1);
    return text;
}

qsizetype lineEnd(QStringView text, qsizetype at)
{
    const qsizetype end = text.indexOf(u'\n', at);
    return end < 0 ? text.size() : end;
}

/// The place of code between fences, from the opening fence to the end of the closing fence's line.
struct Fenced {
    qsizetype begin, end;
};

/// Finds the fences of a text one after the other. A kind of fence that closes nowhere is not looked for again, so that
/// each line is looked at a few times at most.
class Fences
{
public:
    explicit Fences(QStringView text)
        : m_text(text)
    {
    }

    std::optional<Fenced> next()
    {
        while (m_at < m_text.size()) {
            const qsizetype begin = m_at, end = lineEnd(m_text, begin);
            m_at = end + 1;
            const auto fence = fenceLine(m_text.sliced(begin, end - begin));
            if (!fence)
                continue;
            qsizetype& hopeless = m_hopeless[fence->marks[0] == u'~'];
            if (fence->marks.size() >= hopeless)
                continue;
            if (const auto close = closing(fence->marks)) {
                m_at = *close + 1;
                return Fenced{begin, *close};
            }
            hopeless = fence->marks.size();
        }
        return {};
    }

private:
    /// Returns the end of the line that closes a fence; empty: none does.
    std::optional<qsizetype> closing(const QString& marks) const
    {
        for (qsizetype at = m_at; at < m_text.size();) {
            const qsizetype end = lineEnd(m_text, at);
            if (closesFence(m_text.sliced(at, end - at), marks))
                return end;
            at = end + 1;
        }
        return {};
    }

    QStringView m_text;
    qsizetype m_at = 0;
    // A fence of at least this many backticks, or tildes, is closed nowhere in the rest of the text.
    qsizetype m_hopeless[2] = {std::numeric_limits<qsizetype>::max(), std::numeric_limits<qsizetype>::max()};
};

}  // namespace

QList<Block> typedBlocks(const QString& text)
{
    QList<Block> blocks;
    const QStringView all(text);
    Fences fences(all);
    qsizetype done = 0;
    while (const auto fenced = blocks.size() < BlockLines::kMostBlocks ? fences.next() : std::nullopt) {
        appendText(withoutLineBreaks(all.sliced(done, fenced->begin - done), done > 0, true), blocks);
        BlockBuilder code;
        code.append(all.sliced(fenced->begin, fenced->end - fenced->begin));
        code.finish();
        blocks += code.blocks();
        done = std::min(fenced->end + 1, all.size());
    }
    appendText(withoutLineBreaks(all.sliced(done), done > 0, false), blocks);
    return blocks;
}
