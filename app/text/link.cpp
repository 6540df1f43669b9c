#include "app/text/link.h"

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
    return url.host().isEmpty() ? url.path() : url.host(QUrl::FullyEncoded);
}
