#include "app/text/card_blocks.h"

#include "app/text/block_builder.h"
#include "app/text/markdown_reader.h"

#include <utility>

namespace {

/// Returns the link references of a text, which stand in paragraphs of their own.
QString referencesOf(const QString& text)
{
    References references;
    QString paragraph;
    const auto end = [&] { references.take(std::exchange(paragraph, {})); };
    for (const QStringView line : QStringView(text).tokenize(u'\n')) {
        if (line.trimmed().isEmpty())
            end();
        else
            (paragraph += line) += u'\n';
    }
    end();
    return references.usedBy(text);
}

}  // namespace

QList<Block> cardBlocks(const QString& text)
{
    const auto read =
        readMarkdown(prepareMarkdown(text, referencesOf(text)), {.cells = BlockLines::kMostCells, .html = true});
    if (!read) {
        BlockBuilder builder;
        builder.append(text);
        builder.finish();
        return builder.blocks();
    }
    BlockList list;
    list.add(*read);
    list.close();
    return list.blocks();
}
