// BlockBuilder makes the blocks of one Markdown text as it comes in.
#pragma once

#include "app/text/block_lines.h"

#include <QStringView>

/// Takes a text in pieces of any length; the blocks are the same as for the whole text at once. No thread; owned by a
/// BlockModel.
class BlockBuilder
{
public:
    void append(QStringView text);
    void finish();  // call it at the end of the text

    const QList<Block>& blocks() const { return m_lines.blocks().blocks(); }
    /// Returns the first block that may have changed since the last call.
    qsizetype takeFirstChanged() { return m_lines.blocks().takeFirstChanged(); }

private:
    void readAgain();

    BlockLines m_lines;
    QString m_line;        // the one that has not ended yet
    QString m_text;        // the whole text, until finish()
    bool m_begun = false;  // a character that is no space has come
};
