#include "app/system/single_instance.h"

#include "app/system/log_lines.h"
#include "app/system/socket_peer.h"

#include <QCryptographicHash>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>
#include <QThread>
#include <QTimer>

namespace {

constexpr qint64 kLongestMessage = 16384;
constexpr int kLongestSocketPath = 100;  // the system's limit is 108 bytes
const char* const kAnswer = "ok\n";

// Returns the socket's path, which differs for profiles with different data folders.
QString socketPathOf(const ProfileFolders& folders)
{
    const QByteArray hash = QCryptographicHash::hash(QDir::cleanPath(folders.data).toUtf8(), QCryptographicHash::Sha1);
    const QString name = QLatin1String("spillway-") + QString::fromLatin1(hash.toHex().left(16));
#ifdef Q_OS_WIN
    return name;
#else
    QString path = folders.runtime + QLatin1Char('/') + name + QLatin1String(".socket");
    if (path.toLocal8Bit().size() <= kLongestSocketPath)
        return path;
    const QString folder = privateSocketFolder();
    return folder.isEmpty() ? QString() : folder + QLatin1Char('/') + name;
#endif
}

}  // namespace

SingleInstance::SingleInstance(const ProfileFolders& folders, QObject* parent)
    : QObject(parent)
    , m_dataFolder(folders.data)
    , m_socketPath(socketPathOf(folders))
{
    ProfileFolders::make(folders.data);
    ProfileFolders::make(folders.runtime);
    connect(&m_server, &QLocalServer::newConnection, this, &SingleInstance::onConnection);
}

SingleInstance::~SingleInstance() = default;

SingleInstance::Outcome SingleInstance::claim(const QString& file, std::chrono::milliseconds patience)
{
    m_lock = std::make_unique<QLockFile>(m_dataFolder + QStringLiteral("/spillway.lock"));
    m_lock->setStaleLockTime(0);  // stale only when its owner has ended, not by age
    // A program that was started while the disk was full has no lock, but listens all the same.
    if (m_lock->tryLock() || m_lock->error() == QLockFile::UnknownError) {
        if (handOver(file, patience)) {
            m_lock->unlock();
            return Outcome::HandedOver;
        }
        listen();
        return Outcome::First;
    }
    if (m_lock->error() != QLockFile::LockFailedError)
        return firstWithoutLock();
    QElapsedTimer waited;
    waited.start();
    while (waited.elapsed() < patience.count()) {
        if (handOver(file, patience - std::chrono::milliseconds(waited.elapsed())))
            return Outcome::HandedOver;
        if (!QFileInfo(m_dataFolder).isWritable())
            return firstWithoutLock();  // the lock of a killed program cannot be removed
        if (m_lock->tryLock()) {        // the other program has ended meanwhile
            listen();
            return Outcome::First;
        }
        QThread::msleep(50);  // the other program may be about to listen
    }
    return Outcome::Hung;
}

/// Runs as the first one without a lock: nothing can be written there, so two programs could damage nothing.
SingleInstance::Outcome SingleInstance::firstWithoutLock() const
{
    logWarning(QStringLiteral("no lock in %1: nothing can be written there").arg(m_dataFolder));
    return Outcome::First;
}

bool SingleInstance::handOver(const QString& file, std::chrono::milliseconds patience) const
{
    QLocalSocket socket;
    socket.connectToServer(m_socketPath);
    if (!socket.waitForConnected(int(patience.count())))
        return false;
    if (!isOfThisUser(socket.socketDescriptor()))
        return false;  // a program of another user gets nothing
    letRaiseItsWindow(socket.socketDescriptor());
    const QString path = file.isEmpty() ? QString() : QFileInfo(file).absoluteFilePath();
    socket.write(QJsonDocument(QJsonObject{{"open", path}}).toJson(QJsonDocument::Compact) + '\n');
    QElapsedTimer waited;
    waited.start();
    QByteArray answer;
    while (answer.size() < qsizetype(qstrlen(kAnswer)) && waited.elapsed() < patience.count() &&
           socket.waitForReadyRead(int(patience.count() - waited.elapsed())))
        answer += socket.readAll();
    return answer == kAnswer;
}

void SingleInstance::listen()
{
    if (m_socketPath.isEmpty()) {
        logWarning(QStringLiteral("a second start will not find this program: no private folder for a socket"));
        return;
    }
    QLocalServer::removeServer(m_socketPath);  // the socket of a killed program, where nobody listens
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    if (!m_server.listen(m_socketPath))
        logWarning(QStringLiteral("a second start will not find this program: ") + m_server.errorString());
}

void SingleInstance::onConnection()
{
    while (QLocalSocket* const socket = m_server.nextPendingConnection()) {
        if (!isOfThisUser(socket->socketDescriptor())) {
            socket->abort();
            socket->deleteLater();
            continue;
        }
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        QTimer::singleShot(std::chrono::seconds(5), socket, [socket] { socket->abort(); });  // one that says nothing
        const auto read = [this, socket] {
            const QByteArray sofar = socket->peek(kLongestMessage);
            if (const auto end = sofar.indexOf('\n'); end >= 0) {
                socket->readAll();
                socket->write(kAnswer);
                socket->disconnectFromServer();
                onMessage(sofar.left(end));
            } else if (sofar.size() >= kLongestMessage) {
                socket->abort();
            }
        };
        connect(socket, &QLocalSocket::readyRead, this, read);
        read();
    }
}

void SingleInstance::onMessage(const QByteArray& message)
{
    const QJsonObject wish = QJsonDocument::fromJson(message).object();
    const QString file = wish.value(QLatin1String("open")).toString();
    const QFileInfo info(file);
    const bool good = !file.contains(QChar::Null) && QDir::isAbsolutePath(file) && (info.isFile() || !info.exists());
    Q_EMIT startedAgain(good ? file : QString());
}

#include "moc_single_instance.cpp"
