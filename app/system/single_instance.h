// SingleInstance lets only one program use a profile.
#pragma once

#include "app/system/profile_folders.h"

#include <QLocalServer>
#include <QLockFile>
#include <QObject>

#include <chrono>
#include <memory>

/// Lets one program at a time use a profile: the first holds a lock beside the data and listens on a local socket; a
/// later one hands over the file it was asked to open, and ends. What a killed program leaves behind does not block the
/// next one. Lives on the UI thread; owned by main().
class SingleInstance : public QObject
{
    Q_OBJECT

public:
    enum class Outcome {
        First,       // this one is the program
        HandedOver,  // another program runs, and has taken over the request
        Hung,        // another program runs, and does not answer
    };

    explicit SingleInstance(const ProfileFolders& folders, QObject* parent = nullptr);
    ~SingleInstance() override;

    /// Says which of these this program is. `file`: what a program that runs already is asked to open; may be empty.
    Outcome claim(const QString& file, std::chrono::milliseconds patience = std::chrono::seconds(4));

    const QString& socketPath() const { return m_socketPath; }

Q_SIGNALS:
    /// The program was started once more, with a file, which need not exist, or with none.
    void startedAgain(const QString& file);

private:
    Outcome firstWithoutLock() const;
    bool handOver(const QString& file, std::chrono::milliseconds patience) const;
    void listen();
    void onConnection();
    void onMessage(const QByteArray& message);

    QString m_dataFolder;
    QString m_socketPath;
    std::unique_ptr<QLockFile> m_lock;
    QLocalServer m_server;
};
