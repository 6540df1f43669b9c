// Prepares a piece of Markdown for md4c: takes formulas out, hides definitions and fills empty cells.
#pragma once

#include <QString>
#include <QStringView>

#include <vector>

struct Formula {
    QString source;  // with its marks
    QString latex;   // without them
    QString shown;   // in characters
    bool display;
};

/// Holds a piece of text as md4c gets it, and the formulas that were taken out.
struct PreparedText {
    QString text;
    std::vector<Formula> formulas;

    /// Returns a part of the text as it was typed.
    QString restored(const QString& part) const;
    /// Returns the formula whose mark begins at `i`, and moves `i` to the mark's last character; null: there is none.
    const Formula* at(const QString& part, qsizetype& i) const;
};

/// Prepares a piece. `references`: lines of definitions, which are added for md4c and not shown.
PreparedText prepareMarkdown(QStringView text, const QString& references = {});
