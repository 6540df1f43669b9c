// Block holds one part of a message, as plain values.
#pragma once

#include <QList>
#include <QMetaType>
#include <QString>

/// Holds a run of characters with the same looks and link.
struct Span {
    enum Look : quint8 { Bold = 1, Italic = 2, Struck = 4, Code = 8, Maths = 16 };

    QString text = {};  // a line break within a paragraph is U+2028
    int looks = 0;
    QString link = {};     // an address that may be opened (see safeLink), or empty
    QString formula = {};  // Maths: its LaTeX; `text` shows it in plain characters
    bool operator==(const Span&) const = default;
};

using Spans = QList<Span>;

/// Says which way a text is read. Neutral: no letter in it decides, as in "1.5 %".
enum class Direction : quint8 { Neutral, LeftToRight, RightToLeft };

/// A paragraph, a heading or the beginning of a list item.
struct Paragraph {
    Spans spans = {};
    int heading = 0;      // 1 to 6; 0: none
    int depth = 0;        // in how many lists
    QString marker = {};  // what stands before the item: a bullet, a number, a box; empty: none, or a later paragraph
    bool close = false;   // less room than usual above: an item of a tight list
    bool typed = false;   // a line that a person typed: no room above
    Direction direction = Direction::Neutral;  // its own; without letters, that of the paragraph above
    bool operator==(const Paragraph&) const = default;
};

/// The cells of a table, row by row; no row is longer than `columns`, and what is missing at its end is empty.
struct Table {
    enum class Align : quint8 { Left, Center, Right };

    QList<Align> columns = {};
    QList<QList<Spans>> rows = {};             // the first is the head
    Direction direction = Direction::Neutral;  // from right to left: the first column is on the right
    bool operator==(const Table&) const = default;
};

/// One block of a message. Long text, code and tables are split into several blocks, all but the first with
/// `continues`, so that adding to a message costs the same however long it is.
struct Block {
    enum class Kind { Text, Code, Table, Maths, Rule, Reasoning };

    Kind kind = Kind::Text;
    int indent = 0;  // in how many lists it stands
    int quotes = 0;  // in how many quotes
    bool continues = false;
    Direction direction = Direction::Neutral;  // of its list or quote, whose marks are on that side

    QList<Paragraph> paragraphs = {};  // Text
    Table table = {};                  // Table

    QString text = {};      // Code, Maths: as it is shown in characters
    QString formula = {};   // Maths: its LaTeX
    QString language = {};  // Code: as it was named, or empty
    int state = 0;          // Code: the highlighter's state before the first line
    bool lineOpen = false;  // Code: its last line goes on in the next block

    bool operator==(const Block&) const = default;
};

/// Returns the text without looks and links, to be read aloud or copied.
QString plainText(const Spans& spans);
QString plainText(const Block& block);

Q_DECLARE_METATYPE(QList<Paragraph>)
Q_DECLARE_METATYPE(Table)
