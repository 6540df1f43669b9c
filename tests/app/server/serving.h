// Serving runs `spillway-cli serve` as long as it lives.
#pragma once

#include "tests/app/server/client.h"

#include <QProcess>

#ifdef Q_OS_LINUX
#include <fcntl.h>
#include <unistd.h>
#endif

namespace server_test {

constexpr const char* kGuideModel = SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf";

class Serving
{
public:
    explicit Serving(const QStringList& more = {}, const QStringList& model = {"-m", kGuideModel})
    {
        start(SPILLWAY_CLI, QStringList{"serve", "--port", "0", "-t", "1"} + model + more);
    }
#ifdef Q_OS_LINUX
    /// Has another program start it, and gives that program this socket, as systemd would (descriptor 3).
    Serving(QStringList program, int socket)
    {
        process.setChildProcessModifier([socket] {
            if (::dup2(socket, 3) < 0 || ::fcntl(3, F_SETFD, 0) < 0)
                ::_exit(99);
        });
        const QString first = program.takeFirst();
        start(first, program + QStringList{SPILLWAY_CLI, "serve", "-m", kGuideModel, "-t", "1"});
    }
#endif
    ~Serving()
    {
        process.kill();
        process.waitForFinished();
    }
    int port() const
    {
        return out.trimmed().split(':').last().toInt();
    }

    QProcess process;
    QByteArray out;

private:
    void start(const QString& program, const QStringList& arguments)
    {
        process.start(program, arguments);
        while (!out.contains('\n') && process.waitForReadyRead(kPatience_ms))
            out += process.readAllStandardOutput();
    }
};

}  // namespace server_test
