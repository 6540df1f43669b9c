// Remembers the addresses of links that are defined elsewhere in the text.
#pragma once

#include <QList>
#include <QString>
#include <QStringView>

/// Holds the definitions "[label]: address", which stand in paragraphs of their own, for links like [words][label] and
/// [label]. A text is read in pieces, and one piece may use what another defines. A plain value.
class References
{
public:
    bool isEmpty() const { return m_all.isEmpty(); }
    /// Takes the definitions at the beginning of a paragraph. The first definition of a label counts.
    void take(QStringView paragraph);
    /// Returns the references whose labels stand in the piece, as lines of Markdown; empty: it uses none.
    QString usedBy(QStringView piece) const;

private:
    struct Reference {
        QString label;  // in the form for comparing
        QString line;
    };

    QList<Reference> m_all;
};
