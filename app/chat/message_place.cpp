#include "app/chat/message_place.h"

#include "app/chat/block_model.h"

#include <algorithm>
#include <memory>

namespace {

constexpr QChar kFoundBegin(2);
constexpr QChar kFoundEnd(3);

QString withoutSpace(QStringView text)
{
    QString rest;
    for (const QChar c : text)
        if (!c.isSpace())
            rest += c;
    return rest;
}

/// Returns where in the text the excerpt's first marked words begin; -1: it is not an excerpt of this text. An excerpt
/// may have other space than the text, so both are compared without space.
qsizetype startOfFound(QStringView text, const QString& excerpt)
{
    const qsizetype begin = excerpt.indexOf(kFoundBegin);
    if (begin < 0)
        return -1;
    QString before = withoutSpace(QStringView(excerpt).first(begin));
    QString after = withoutSpace(QStringView(excerpt).sliced(begin));
    after.remove(kFoundBegin).remove(kFoundEnd);
    if (before.startsWith(u'…'))
        before.remove(0, 1);
    if (after.endsWith(u'…'))
        after.chop(1);
    const qsizetype at = withoutSpace(text).indexOf(before + after);
    if (at < 0)
        return -1;
    qsizetype left = at + before.size();
    for (qsizetype i = 0; i < text.size(); ++i)
        if (!text[i].isSpace() && left-- == 0)
            return i;
    return -1;
}

qsizetype sizeOfRow(const BlockModel& blocks, int row)
{
    return blocks.data(blocks.index(row), BlockModel::ContentRole).toString().size();
}

}  // namespace

MessagePlace placeOf(const StoredMessage& message, const QString& excerpt)
{
    const qsizetype at = startOfFound(message.text, excerpt);
    if (at <= 0)
        return {};
    const bool mine = message.role == StoredMessage::Role::User;
    const auto blocksOf = [mine](const QString& text) {
        auto blocks = std::make_unique<BlockModel>(mine ? BlockModel::Format::Plain : BlockModel::Format::Markdown);
        blocks->append(text);
        blocks->finish();
        return blocks;
    };
    // The words are in the last block that the text up to there makes.
    const auto above = blocksOf(message.text.first(at + 1));
    const auto all = blocksOf(message.text);
    const int row = std::min(above->rowCount(), all->rowCount()) - 1;
    if (row < 0)
        return {};
    const qsizetype size = sizeOfRow(*all, row);
    const double share = size > 0 ? double(sizeOfRow(*above, row)) / double(size) : 0;
    return {row, std::clamp(share, 0.0, 1.0)};
}

#include "moc_message_place.cpp"
