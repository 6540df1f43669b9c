#include "app/system/socket_peer.h"

#include <QDir>
#include <QFile>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

QString privateSocketFolder()
{
    const QString folder = QStringLiteral("%1/spillway-%2").arg(QDir::tempPath()).arg(geteuid());
    const QByteArray path = QFile::encodeName(folder);
    mkdir(path.constData(), 0700);  // or it exists
    struct stat facts {
    };
    const bool ours = lstat(path.constData(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
                      (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    return ours ? folder : QString();
}

bool isOfThisUser(qintptr socket)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(int(socket), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

void letRaiseItsWindow(qintptr) {}
