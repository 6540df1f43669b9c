#include "app/blocks/links.h"

#include "app/text/link.h"

#include <QDesktopServices>
#include <QUrl>

QString Links::safe(const QString& address)
{
    return safeLink(address);
}

QString Links::target(const QString& link)
{
    return linkTarget(link);
}

bool Links::open(const QString& link)
{
    const QString safe = safeLink(link);
    return !safe.isEmpty() && QDesktopServices::openUrl(QUrl(safe, QUrl::StrictMode));
}

#include "moc_links.cpp"
