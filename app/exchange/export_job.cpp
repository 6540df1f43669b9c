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
constexpr qsizetype kLongestFileName_chars = 60;
constexpr auto kBetween = ",\n";

enum class Numbered { IfTaken, Always };

/// Returns a path that no file has yet, so that no file is overwritten.
QString freePath(const QString& name, const QString& suffix, Numbered numbered)
{
    QString path = numbered == Numbered::IfTaken ? name + suffix : QString();
    for (int i = 2; path.isEmpty() || QFileInfo::exists(path); ++i)
        path = QStringLiteral("%1 (%2)%3").arg(name).arg(i).arg(suffix);
    return path;
}

/// Says whether Windows gives the name, with any suffix, to a device, so that no file can have it. Looked at on all
/// systems, since files are carried from one to another.
bool isDeviceOfWindows(const QString& name)
{
    static const QRegularExpression device(
        QString::fromUtf8("^(con|prn|aux|nul|conin\\$|conout\\$|(com|lpt)[1-9¹²³]) *(\\.|$)"),
        QRegularExpression::CaseInsensitiveOption);
    return device.match(name).hasMatch();
}

}  // namespace

ExportJob::ExportJob(const ConversationStore& store, const QStringList& conversations, Format format,
                     const QString& path, QObject* parent, qint64 largest_bytes)
    : QObject(parent)
    , m_store(store)
    , m_waiting(conversations)
    , m_several(conversations.size() != 1 || QFileInfo(path).isDir())
    , m_format(format)
    , m_path(path)
    , m_largest_bytes(largest_bytes)
{
    connect(&m_timer, &QTimer::timeout, this, &ExportJob::step);
    m_timer.start(0);
}

QString ExportJob::fileName(const QString& title)
{
    static const QRegularExpression forbidden(QStringLiteral("[\\x00-\\x1f\\x7f-\\x9f<>:\"/\\\\|?*]+"));
    static const QRegularExpression ends(QStringLiteral("^[. ]+|[. ]+$"));
    QString name = QString(title).replace(forbidden, QStringLiteral(" ")).simplified().left(kLongestFileName_chars);
    if (!name.isEmpty() && name.back().isHighSurrogate())
        name.chop(1);
    name.remove(ends);
    if (isDeviceOfWindows(name))
        name.prepend(QLatin1Char('_'));
    return name.isEmpty() ? tr("Conversation") : name;
}

void ExportJob::step()
{
    if (m_format == Format::Json && !m_file && !begin(m_path))
        return;
    QElapsedTimer clock;
    clock.start();
    while (!m_waiting.isEmpty() && clock.elapsed() < kSlice_ms)
        if (!write(m_waiting.takeFirst()))
            return;
    if (m_waiting.isEmpty())
        end();
}

bool ExportJob::begin(const QString& path)
{
    m_file = std::make_unique<QSaveFile>(path);
    const QByteArray beginning = jsonBeginning();
    m_inFile = 0;
    m_inFile_bytes = beginning.size() + jsonEnd().size();
    if (m_file->open(QIODevice::WriteOnly) && m_file->write(beginning) >= 0)
        return true;
    fail(m_file->errorString());
    return false;
}

bool ExportJob::commit()
{
    m_tooLarge = m_tooLarge || m_inFile_bytes > m_largest_bytes;
    if (m_file->write(jsonEnd()) >= 0 && m_file->commit())
        return true;
    fail(m_file->errorString());
    return false;
}

bool ExportJob::write(const QString& id)
{
    const auto conversation = m_store.conversation(id);
    if (!conversation)
        return true;  // deleted meanwhile
    const bool done = m_format == Format::Markdown
                          ? writeMarkdown(toMarkdown(*conversation), conversation->header.title)
                          : writeJson(jsonOf(*conversation));
    m_written += done;
    return done;
}

bool ExportJob::writeJson(const QByteArray& json)
{
    const QByteArray between = m_inFile > 0 ? kBetween : "";
    if (m_inFile > 0 && m_inFile_bytes + between.size() + json.size() > m_largest_bytes) {
        if (!commit())
            return false;
        const QFileInfo first(m_path);
        const QString suffix = first.suffix().isEmpty() ? QString() : QLatin1Char('.') + first.suffix();
        return begin(freePath(m_path.chopped(suffix.size()), suffix, Numbered::Always)) && writeJson(json);
    }
    if (m_file->write(between + json) < 0) {
        fail(m_file->errorString());
        return false;
    }
    ++m_inFile;
    m_inFile_bytes += between.size() + json.size();
    return true;
}

bool ExportJob::writeMarkdown(const QByteArray& text, const QString& title)
{
    const QString path =
        m_several ? freePath(m_path + QLatin1Char('/') + fileName(title), QStringLiteral(".md"), Numbered::IfTaken)
                  : m_path;
    QSaveFile file(path);
    if (file.open(QIODevice::WriteOnly) && file.write(text) >= 0 && file.commit())
        return true;
    fail(file.errorString());
    return false;
}

void ExportJob::end()
{
    m_timer.stop();
    if (m_format == Format::Markdown || commit())
        Q_EMIT done(m_written);
}

void ExportJob::fail(const QString& why)
{
    m_timer.stop();
    if (m_file)
        m_file->cancelWriting();
    Q_EMIT failed(tr("%1 could not be written: %2.").arg(QFileInfo(m_path).fileName(), why));
}

#include "moc_export_job.cpp"
