// isElsewhere() tells a model of a server from a file by its path; hostOf() names the server, idElsewhere() the model.
#pragma once

#include <QString>
#include <QUrl>

/// Says whether a path is a model's address as app/remote writes it, in place of a file's path:
/// "http://127.0.0.1:8000/#name".
inline bool isElsewhere(const QString& path)
{
    return (path.startsWith(QLatin1String("http://")) || path.startsWith(QLatin1String("https://"))) &&
           path.contains(QLatin1String("/#"));
}

/// Returns host and port of a server's model or address; empty: `address` is neither.
inline QString hostOf(const QString& address)
{
    const QUrl url(address);
    return url.scheme() == QLatin1String("http") || url.scheme() == QLatin1String("https") ? url.authority()
                                                                                           : QString();
}

/// Returns the name by which the server of that path calls the model.
inline QString idElsewhere(const QString& path)
{
    return QUrl::fromPercentEncoding(path.mid(path.indexOf(QLatin1String("/#")) + 2).toUtf8());
}
