#include "app/conversations/search_model.h"

#include "app/text/visible_text.h"

#include <QHash>

namespace {

constexpr int kMostOfOneConversation = 3;

QString safe(const QString& text)
{
    return VisibleText::of(text).toHtmlEscaped();
}

/// Returns a marked excerpt as markup in which what was found is bold. Markup in the message's own text has no effect.
QString markup(const QString& excerpt)
{
    QString out;
    const QStringList parts = excerpt.split(QChar(2));
    out += safe(parts.first());
    for (const QString& part : parts.mid(1)) {
        const qsizetype end = part.indexOf(QChar(3));
        out += QLatin1String("<b>") + safe(part.left(end)) + QLatin1String("</b>");
        if (end >= 0)
            out += safe(part.mid(end + 1));
    }
    return out;
}

QString plain(QString excerpt)
{
    return VisibleText::of(excerpt.remove(QChar(2)).remove(QChar(3)));
}

}  // namespace

int SearchModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant SearchModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[index.row()];
    const bool inTitle = row.hit.message.isEmpty();
    switch (role) {
    case ConversationIdRole:
        return row.hit.conversation;
    case MessageIdRole:
        return row.hit.message;
    case TitleRole:
        return inTitle ? markup(row.hit.excerpt) : safe(row.hit.title.simplified());
    case PlainTitleRole:
        return plain(row.hit.title.simplified());
    case ExcerptRole:
        return inTitle ? QString() : markup(row.hit.excerpt);
    case Qt::DisplayRole:
    case PlainExcerptRole:
        return inTitle ? QString() : plain(row.hit.excerpt);
    case FirstRole:
        return row.first;
    default:
        return {};
    }
}

QHash<int, QByteArray> SearchModel::roleNames() const
{
    return {
        {ConversationIdRole, "conversationId"},
        {MessageIdRole, "messageId"},
        {TitleRole, "title"},
        {PlainTitleRole, "plainTitle"},
        {ExcerptRole, "excerpt"},
        {PlainExcerptRole, "plainExcerpt"},
        {FirstRole, "first"},
    };
}

QString SearchModel::conversationAt(int row) const
{
    return row >= 0 && row < count() ? m_rows[row].hit.conversation : QString();
}

QString SearchModel::messageAt(int row) const
{
    return row >= 0 && row < count() ? m_rows[row].hit.message : QString();
}

QString SearchModel::excerptAt(int row) const
{
    return row >= 0 && row < count() ? m_rows[row].hit.excerpt : QString();
}

void SearchModel::show(const QList<SearchHit>& hits)
{
    QStringList order;
    QHash<QString, QList<SearchHit>> places;
    for (const SearchHit& hit : hits) {
        QList<SearchHit>& of = places[hit.conversation];
        if (of.isEmpty())
            order << hit.conversation;
        if (of.size() < kMostOfOneConversation)
            of.append(hit);
    }
    // The model is reset: another search finds other places, so no row is worth keeping.
    beginResetModel();
    m_rows.clear();
    for (const QString& conversation : order)
        for (const SearchHit& hit : places[conversation])
            m_rows.append({hit, m_rows.isEmpty() || m_rows.last().hit.conversation != conversation});
    endResetModel();
    Q_EMIT countChanged();
}

void SearchModel::forget(const QString& conversation)
{
    for (int row = count() - 1; row >= 0; --row) {
        if (m_rows[row].hit.conversation != conversation)
            continue;
        beginRemoveRows({}, row, row);
        m_rows.removeAt(row);
        endRemoveRows();
        Q_EMIT countChanged();
    }
}

#include "moc_search_model.cpp"
