#include "app/models/block_model.h"

namespace {

// Long enough that most answers are one block and can be selected as a whole; short enough to lay out 30 times a
// second.
constexpr qsizetype kLongBlock = 4000;
// A block without any line break is cut at a space (or, without one, anywhere) beyond this.
constexpr qsizetype kLongestBlock = 8000;

}  // namespace

BlockModel::BlockModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

int BlockModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_blocks.size());
}

QVariant BlockModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != ContentRole)
        return {};
    return m_blocks[index.row()];
}

QHash<int, QByteArray> BlockModel::roleNames() const
{
    return {{ContentRole, "content"}};
}

void BlockModel::append(const QString& text)
{
    if (text.isEmpty())
        return;
    if (m_blocks.isEmpty()) {
        beginInsertRows({}, 0, 0);
        m_blocks.append(text);
        endInsertRows();
    } else {
        m_blocks.last() += text;
        const QModelIndex last = index(int(m_blocks.size()) - 1);
        Q_EMIT dataChanged(last, last, {ContentRole});
    }
    closeLastBlockIfLong();
}

void BlockModel::finish()
{
    if (m_blocks.isEmpty())
        return;
    QString& block = m_blocks.last();
    qsizetype size = block.size();
    while (size > 0 && block[size - 1].isSpace())
        --size;
    if (size == block.size())
        return;
    block.truncate(size);
    const QModelIndex last = index(int(m_blocks.size()) - 1);
    Q_EMIT dataChanged(last, last, {ContentRole});
}

void BlockModel::closeLastBlockIfLong()
{
    while (m_blocks.last().size() > kLongBlock) {
        const QString& block = m_blocks.last();
        qsizetype cut = block.indexOf(QLatin1Char('\n'), kLongBlock);
        qsizetype skip = 1;  // the border between two blocks is the line break
        if (cut < 0) {
            if (block.size() < kLongestBlock)
                return;
            cut = block.lastIndexOf(QLatin1Char(' '));
            if (cut < kLongBlock) {
                cut = kLongestBlock - (block[kLongestBlock - 1].isHighSurrogate() ? 1 : 0);
                skip = 0;
            }
        }
        const QString rest = block.mid(cut + skip);
        if (rest.isEmpty() && skip == 1)
            return;  // wait for what follows the line break
        m_blocks.last().truncate(cut);
        const int row = int(m_blocks.size());
        Q_EMIT dataChanged(index(row - 1), index(row - 1), {ContentRole});
        beginInsertRows({}, row, row);
        m_blocks.append(rest);
        endInsertRows();
    }
}
