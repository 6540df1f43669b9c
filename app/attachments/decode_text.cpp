#include "app/attachments/decode_text.h"

#include <QStringDecoder>

#include <algorithm>
#include <array>

namespace {

// Windows-1252 from 0x80 to 0x9F: old text files mean these, where ISO 8859-1 has control characters nobody uses.
constexpr std::array<char16_t, 32> kWindows1252 = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

QString fromWindows1252(const QByteArray& bytes)
{
    QString text = QString::fromLatin1(bytes);
    for (QChar& character : text)
        if (character >= QChar(0x80) && character <= QChar(0x9F))
            character = QChar(kWindows1252[character.unicode() - 0x80]);
    return text;
}

std::optional<QString> decoded(const QByteArray& bytes, QStringConverter::Encoding encoding)
{
    QStringDecoder decoder(encoding, QStringDecoder::Flag::Stateless);
    QString text = decoder(bytes);
    return decoder.hasError() ? std::nullopt : std::optional(std::move(text));
}

// Characters of a text for each control character in it. A terminal's log has some of these; machine code, compressed
// data and pictures have them everywhere.
constexpr qsizetype kTextPerControl = 50;

bool isText(const QString& text)
{
    qsizetype controls = 0;
    for (const QChar character : text) {
        const char16_t c = character.unicode();
        if (c == 0)
            return false;
        controls += (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B) || c == 0x7F;
    }
    return controls <= text.size() / kTextPerControl;
}

}  // namespace

std::optional<QString> decodeText(const QByteArray& bytes)
{
    std::optional<QString> text;
    if (const auto marked = QStringConverter::encodingForData(bytes)) {
        text = decoded(bytes, *marked);
        if (!text)
            return {};
    } else {
        if (bytes.contains('\0'))
            return {};
        text = decoded(bytes, QStringConverter::Utf8);
        if (!text)
            text = fromWindows1252(bytes);
    }
    if (!isText(*text))
        return {};
    if (text->startsWith(QChar::ByteOrderMark))
        text->remove(0, 1);
    text->replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
    text->replace(u'\r', u'\n');
    return text;
}
