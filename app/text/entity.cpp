#include "app/text/entity.h"

#include "app/text/visible_text.h"

#include <QHash>
#include <QRegularExpression>
#include <QTextDocumentFragment>

QString decodedEntity(const QString& entity)
{
    static const QHash<QString, QChar> common = {
        {QStringLiteral("&lt;"), u'<'},         {QStringLiteral("&gt;"), u'>'},
        {QStringLiteral("&amp;"), u'&'},        {QStringLiteral("&quot;"), u'"'},
        {QStringLiteral("&apos;"), u'\''},      {QStringLiteral("&nbsp;"), QChar::Nbsp},
        {QStringLiteral("&ensp;"), u'\u2002'},  {QStringLiteral("&emsp;"), u'\u2003'},  // Qt drops spaces
        {QStringLiteral("&thinsp;"), u'\u2009'}};
    if (const auto found = common.find(entity); found != common.end())
        return *found;
    QString character;
    if (entity.startsWith(QLatin1String("&#"))) {
        const bool hex = entity.size() > 2 && entity[2].toLower() == u'x';
        const uint code = QStringView(entity).sliced(hex ? 3 : 2).chopped(1).toUInt(nullptr, hex ? 16 : 10);
        const bool real = code > 0 && code <= 0x10FFFF && !QChar::isSurrogate(code);
        character = real ? QString::fromUcs4(reinterpret_cast<const char32_t*>(&code), 1)
                         : QString(QChar::ReplacementCharacter);
    } else {
        character = QTextDocumentFragment::fromHtml(entity).toPlainText();
        if (character.isEmpty())
            character = entity;
    }
    return VisibleText::of(character);  // an entity may spell what must not hide
}

QString withDecodedEntities(const QString& text)
{
    static const QRegularExpression entity(
        QStringLiteral("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,47});"));
    QString out;
    qsizetype done = 0;
    for (auto found = entity.globalMatch(text); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        out += QStringView(text).sliced(done, match.capturedStart() - done);
        out += decodedEntity(match.captured());
        done = match.capturedEnd();
    }
    out += QStringView(text).sliced(done);
    return out;
}
