// Remembers where links lead whose address is named elsewhere in the text.
#pragma once

#include <QList>
#include <QString>
#include <QStringView>

/// Holds what "[label]: address" says in paragraphs of their own, for links like [words][label] and [label]. A text is
/// read in pieces, and what one piece names another may use. A plain value.
class References
{
public:
    bool isEmpty() const { return m_all.isEmpty(); }
    /// Takes what a paragraph names before it says anything else. What was named first stays.
    void take(QStringView paragraph);
    /// Returns the references whose labels stand in the piece, as lines of Markdown; empty: it uses none.
    QString usedBy(QStringView piece) const;

private:
    struct Reference {
        QString label;  // as it is compared
        QString line;
    };

    QList<Reference> m_all;
};
