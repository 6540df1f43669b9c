#include "app/blocks/raw_document.h"

#include <QTextCursor>

#include <algorithm>

/// Inserts a text whose line breaks have no background colour: with one, Qt colours the line up to its right edge.
static void insertLines(QTextCursor& cursor, QStringView text, const QTextCharFormat& format)
{
    for (qsizetype done = 0; done <= text.size();) {
        const qsizetype found = text.indexOf(u'\n', done);
        const qsizetype end = found < 0 ? text.size() : found;
        cursor.insertText(text.sliced(done, end - done).toString(), format);
        if (found >= 0)
            cursor.insertBlock({}, {});
        done = end + 1;
    }
}

void RawDocument::write()
{
    text()->clear();
    QTextCursor cursor(text());
    cursor.beginEditBlock();
    QTextCharFormat marked;
    marked.setBackground(m_ground);
    qsizetype done = 0;
    const auto to = [&](qsizetype end, const QTextCharFormat& format) {
        end = std::clamp(end, done, m_text.size());
        insertLines(cursor, QStringView(m_text).sliced(done, end - done), format);
        done = end;
    };
    for (qsizetype i = 0; i + 1 < m_marked.size(); i += 2) {
        to(m_marked[i], {});
        to(m_marked[i + 1], marked);
    }
    to(m_text.size(), {});
    cursor.endEditBlock();
}

#include "moc_raw_document.cpp"
