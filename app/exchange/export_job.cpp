#include "app/exchange/export_job.h"

#include "app/exchange/conversation_json.h"
#include "app/exchange/conversation_markdown.h"
#include "app/store/conversation_store.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QRegularExpression>

namespace {

constexpr qint64 kSlice_ms = 8;
constexpr qsizetype kLongestName_chars = 60;

}  // namespace

ExportJob::ExportJob(const ConversationStore& store, const QStringList& conversations, Format format,
                     const QString& path, QObject* parent)
    : QObject(parent)
    , m_store(store)
    , m_waiting(conversations)
    , m_several(conversations.size() != 1)
    , m_format(format)
    , m_path(path)
    , m_file(path)
{
    connect(&m_timer, &QTimer::timeout, this, &ExportJob::step);
    m_timer.start(0);
}

QString ExportJob::fileName(const QString& title)
{
    static const QRegularExpression forbidden(QStringLiteral("[\\x00-\\x1f\\x7f<>:\"/\\\\|?*]+"));
    static const QRegularExpression ends(QStringLiteral("^[. ]+|[. ]+$"));
    QString name = QString(title).replace(forbidden, QStringLiteral(" ")).simplified().left(kLongestName_chars);
    if (!name.isEmpty() && name.back().isHighSurrogate())
        name.chop(1);
    name.remove(ends);
    return name.isEmpty() ? tr("Conversation") : name;
}

void ExportJob::step()
{
    if (m_written == 0 && !m_file.isOpen() && !begin())
        return;
    QElapsedTimer clock;
    clock.start();
    while (!m_waiting.isEmpty() && clock.elapsed() < kSlice_ms)
        if (!write(m_waiting.takeFirst()))
            return;
    if (m_waiting.isEmpty())
        end();
}

bool ExportJob::begin()
{
    if (m_format == Format::Markdown)
        return true;
    if (m_file.open(QIODevice::WriteOnly) && m_file.write(jsonBeginning()) >= 0)
        return true;
    fail(m_file.errorString());
    return false;
}

bool ExportJob::write(const QString& id)
{
    const auto conversation = m_store.conversation(id);
    if (!conversation)
        return true;  // deleted meanwhile
    if (m_format == Format::Markdown)
        return writeMarkdown(toMarkdown(*conversation), conversation->header.title);
    if (m_file.write((m_written > 0 ? ",\n" : "") + jsonOf(*conversation)) < 0) {
        fail(m_file.errorString());
        return false;
    }
    ++m_written;
    return true;
}

bool ExportJob::writeMarkdown(const QByteArray& text, const QString& title)
{
    QString path = m_path;
    if (m_several) {
        const QString name = m_path + QLatin1Char('/') + fileName(title);
        path = name + QLatin1String(".md");
        for (int i = 2; QFileInfo::exists(path); ++i)  // nothing there is written over
            path = QStringLiteral("%1 (%2).md").arg(name).arg(i);
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(text) < 0 || !file.commit()) {
        fail(file.errorString());
        return false;
    }
    ++m_written;
    return true;
}

void ExportJob::end()
{
    m_timer.stop();
    if (m_format == Format::Json && (m_file.write(jsonEnd()) < 0 || !m_file.commit()))
        fail(m_file.errorString());
    else
        Q_EMIT done(m_written);
}

void ExportJob::fail(const QString& why)
{
    m_timer.stop();
    m_file.cancelWriting();
    Q_EMIT failed(tr("%1 could not be written: %2.").arg(QFileInfo(m_path).fileName(), why));
}
