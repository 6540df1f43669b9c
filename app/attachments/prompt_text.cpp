#include "app/attachments/prompt_text.h"

#include "app/attachments/file_kind.h"

#include <algorithm>

namespace {

constexpr qsizetype kLongestName = 200;

/// Returns the name on one line: characters that break, hide or turn text become spaces, and so do backticks.
QString nameLine(const QString& name)
{
    QString line;
    for (const char32_t character : name.toUcs4()) {
        const QChar::Category category = QChar::category(character);
        const bool plain = category != QChar::Other_Control && category != QChar::Other_Format &&
                           category != QChar::Separator_Line && category != QChar::Separator_Paragraph &&
                           category != QChar::Other_Surrogate && character != U'`';
        line += plain ? QString::fromUcs4(&character, 1) : QStringLiteral(" ");
    }
    line = line.simplified();
    if (line.size() > kLongestName)  // the end is kept, since it says more than the middle
        line = line.left(kLongestName / 2) + QStringLiteral("…") + line.right(kLongestName / 2);
    return line;
}

QString fenceFor(QStringView text)
{
    qsizetype longest = 0;
    qsizetype run = 0;
    for (const QChar character : text) {
        run = character == u'`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return QString(std::max<qsizetype>(3, longest + 1), u'`');
}

}  // namespace

QString promptText(const Attachment& attachment)
{
    const QString fence = fenceFor(attachment.text);
    const QString end = attachment.text.endsWith(u'\n') ? fence : u'\n' + fence;
    return QStringLiteral("File: ") + nameLine(attachment.name) + QStringLiteral("\n\n") + fence +
           languageOf(attachment.name) + u'\n' + attachment.text + end;
}

QString promptText(const QString& text, const QList<Attachment>& attachments)
{
    QString whole;
    for (const Attachment& attachment : attachments)
        whole += promptText(attachment) + QStringLiteral("\n\n");
    return whole + text;
}
