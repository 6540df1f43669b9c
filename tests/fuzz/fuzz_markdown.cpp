// Makes blocks of any text in pieces and as a whole, for libFuzzer: both must be the same.
#include "app/text/block_builder.h"
#include "app/text/highlighter.h"
#include "app/text/reasoning.h"

#include <QString>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2)
        return 0;
    const qsizetype step = qsizetype(size) / 50 + data[0] % 40 + 1;
    const QString text = QString::fromUtf8(reinterpret_cast<const char*>(data + 1), qsizetype(size - 1));

    BlockBuilder whole;
    whole.append(text);
    whole.finish();
    BlockBuilder pieces;
    for (qsizetype at = 0; at < text.size(); at += step)
        pieces.append(QStringView(text).sliced(at, qMin(step, text.size() - at)));
    pieces.finish();
    if (pieces.blocks() != whole.blocks())
        std::abort();

    ReasoningMarks marks;
    (void)marks.add(text);
    (void)marks.end();
    for (const Block& block : whole.blocks()) {
        if (block.kind == Block::Kind::Code)
            (void)stateAfter(block.language, block.text, block.state);
        for (const Paragraph& paragraph : block.paragraphs)
            for (const Span& span : paragraph.spans)
                if (span.text.contains(u'\n'))
                    std::abort();
    }
    return 0;
}
