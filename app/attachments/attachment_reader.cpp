#include "app/attachments/attachment_reader.h"

#include <exception>
#include <utility>

AttachmentReader::AttachmentReader(QString folder, const ReadLimits& limits, QObject* parent)
    : QObject(parent)
    , m_folder(std::move(folder))
    , m_limits(limits)
{
    m_threads.setMaxThreadCount(2);
}

AttachmentReader::~AttachmentReader()
{
    for (std::stop_source& stop : m_running)
        stop.request_stop();
    m_threads.waitForDone();
}

void AttachmentReader::read(const QString& job, const QString& path)
{
    start(job, [path, folder = m_folder, limits = m_limits](const std::stop_token& stop) {
        return readFile(path, folder, stop, limits);
    });
}

void AttachmentReader::read(const QString& job, const QString& name, const QString& text)
{
    start(job, [name, text, folder = m_folder, limits = m_limits](const std::stop_token&) {
        return readText(name, text, folder, limits);
    });
}

void AttachmentReader::read(const QString& job, const DraftFile& kept)
{
    start(job, [kept, folder = m_folder, older = m_older, limits = m_limits](const std::stop_token& stop) {
        return readKept(kept, folder, older, stop, limits);
    });
}

void AttachmentReader::cancel(const QString& job)
{
    m_running.take(job).request_stop();
}

void AttachmentReader::start(const QString& job, Work work)
{
    std::stop_source stop;
    m_running.insert(job, stop);
    m_threads.start([this, job, work = std::move(work), token = stop.get_token()] {
        if (token.stop_requested())
            return;
        ReadFile result;
        try {
            result = work(token);
        } catch (const std::exception&) {  // on a thread of a pool it would end the program
            result.sentence = tr("There is not enough memory to read this file.");
        }
        QMetaObject::invokeMethod(
            this, [this, job, result = std::move(result)] { finish(job, result); }, Qt::QueuedConnection);
    });
}

void AttachmentReader::finish(const QString& job, const ReadFile& result)
{
    if (m_running.remove(job) > 0)
        Q_EMIT done(job, result);
}

#include "moc_attachment_reader.cpp"
