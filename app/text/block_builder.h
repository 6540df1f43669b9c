// BlockBuilder makes the blocks of one Markdown text as it comes in.
#pragma once

#include "app/text/block_lines.h"

#include <QStringView>

/// Takes a text in pieces cut anywhere: the blocks are those of the whole text. No thread; owned by a BlockModel.
class BlockBuilder
{
public:
    void append(QStringView text);
    void finish();  // no more text comes

    const QList<Block>& blocks() const { return m_lines.blocks().blocks(); }
    /// Blocks before this one have not changed since it was last asked.
    qsizetype takeFirstChanged() { return m_lines.blocks().takeFirstChanged(); }

private:
    void readAgain();

    BlockLines m_lines;
    QString m_line;        // the one that has not ended yet
    QString m_text;        // all of it, until it has ended
    bool m_begun = false;  // something that is no space has come
};
