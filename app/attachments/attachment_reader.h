// AttachmentReader reads chosen files on threads of its own.
#pragma once

#include "app/attachments/read_file.h"

#include <QHash>
#include <QObject>
#include <QThreadPool>

/// Runs readFile(), readText() and readKept() on two threads of its own, so that one slow file does not hold up the
/// others. Lives on the UI thread; owned by AttachmentModel. Its destructor cancels what runs and waits for it.
class AttachmentReader : public QObject
{
    Q_OBJECT

public:
    AttachmentReader(QString folder, const ReadLimits& limits, QObject* parent = nullptr);
    ~AttachmentReader() override;

    void read(const QString& job, const QString& path);
    void read(const QString& job, const QString& name, const QString& text);
    void read(const QString& job, const DraftFile& kept);
    void alsoLookIn(const QString& folder) { m_older = folder; }  // for files that were kept; nothing is written there
    void cancel(const QString& job);                              // done() does not come for it any more

Q_SIGNALS:
    void done(const QString& job, const ReadFile& result);

private:
    using Work = std::function<ReadFile(const std::stop_token&)>;
    void start(const QString& job, Work work);
    void finish(const QString& job, const ReadFile& result);

    QString m_folder;
    QString m_older;
    ReadLimits m_limits;
    QHash<QString, std::stop_source> m_running;
    QThreadPool m_threads;  // destroyed first: its threads use the rest
};
