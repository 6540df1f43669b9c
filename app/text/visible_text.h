// Makes text from a model or a file safe to look at.
#pragma once

#include <QString>
#include <QStringView>

#include <optional>

/// Makes control characters and those that reorder or hide text visible, so that a reader sees all that is there. Text
/// may come in pieces: one object per message. No thread of its own.
class VisibleText
{
public:
    /// Returns the next piece as it is to be shown. A carriage return at its end is held back until the next piece (or
    /// end()), and so is the beginning of a flag.
    QString add(QStringView piece);
    QString end();

    static QString of(QStringView text);

private:
    bool goesOnWithFlag(char32_t c, QString& out);
    QString tagsThatHide();

    bool m_carriageReturn = false;
    char32_t m_before = 0;            // the last character
    std::optional<QString> m_region;  // after a black flag: the tags so far, which may become a region's name
};
