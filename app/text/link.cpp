#include "app/text/link.h"

#include "app/text/visible_text.h"

#include <QUrl>

static constexpr qsizetype kLongestAddress = 4096;

QString safeLink(const QString& address)
{
    if (address.size() > kLongestAddress)
        return {};
    const QUrl url(address.trimmed(), QUrl::StrictMode);
    if (!url.isValid())
        return {};
    const QString scheme = url.scheme().toLower();
    const bool web = scheme == QLatin1String("http") || scheme == QLatin1String("https");
    if (web ? url.host().isEmpty() : scheme != QLatin1String("mailto") || url.path().isEmpty())
        return {};
    return QString::fromLatin1(url.toEncoded());
}

QString linkTarget(const QString& link)
{
    const QUrl url(link, QUrl::StrictMode);
    if (!url.host().isEmpty())
        return url.host(QUrl::FullyEncoded);
    // A mail address is shown decoded, so it must not reverse or break the line that it is shown in.
    return VisibleText::of(url.path(QUrl::FullyDecoded)).replace(u'\n', u' ');
}
