#include "app/catalogue/split_name.h"

#include <QRegularExpression>

std::optional<SplitName> splitName(const QString& path)
{
    static const QRegularExpression form(QStringLiteral("\\A(.+)-(\\d{5})-of-(\\d{5})\\.gguf\\z"));
    const auto match = form.match(path);
    const SplitName name = {match.captured(1), match.captured(2).toInt(), match.captured(3).toInt()};
    if (!match.hasMatch() || name.part < 1 || name.count < 2 || name.part > name.count)
        return {};
    return name;
}

QString partPath(const SplitName& name, int part)
{
    return name.stem +
           QStringLiteral("-%1-of-%2.gguf").arg(part, 5, 10, QLatin1Char('0')).arg(name.count, 5, 10, QLatin1Char('0'));
}
