#include "app/attachments/read_file.h"

#include "app/attachments/decode_text.h"
#include "app/attachments/file_kind.h"
#include "app/store/attachment_folder.h"
#include "app/system/ordinary_file.h"
#include "app/text/visible_text.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QSaveFile>
#include <QUuid>

#include <algorithm>

namespace {

constexpr qint64 kPiece_bytes = 1 << 20;

/// Reads one file step by step; each step may end the reading with a sentence. Lives as long as one call.
class Reading
{
    Q_DECLARE_TR_FUNCTIONS(Attachments)

public:
    Reading(const QString& name, QString folder, const ReadLimits& limits)
        : m_folder(std::move(folder))
        , m_limits(limits)
    {
        m_attachment.name = name;
        m_shown = VisibleText::of(name).simplified();
        if (m_shown.size() > 80)
            m_shown = m_shown.left(79) + QStringLiteral("…");
    }

    ReadFile ofPath(const QString& path, const std::stop_token& stop)
    {
        QByteArray bytes;
        if (const QString why = load(path, stop, bytes); !why.isEmpty())
            return {{}, why};
        if (stop.stop_requested())
            return {};
        const QString why = isPdf(bytes) ? takePdf(bytes, stop) : takeText(bytes);
        if (stop.stop_requested())
            return {};
        return why.isEmpty() ? keep(bytes) : ReadFile{{}, why};
    }

    ReadFile ofText(const QString& text)
    {
        const QByteArray bytes = text.toUtf8();
        if (const QString why = takeText(bytes); !why.isEmpty())
            return {{}, why};
        return keep(bytes);
    }

private:
    // Programs for PDF also open a file that has some bytes before its mark. A text about PDF may have the mark as
    // well, so where it is not at the very beginning, the file's name decides.
    bool isPdf(const QByteArray& bytes) const
    {
        return bytes.startsWith("%PDF-") || (m_attachment.name.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive) &&
                                             bytes.left(1024).contains("%PDF-"));
    }

    /// Reads the file into `bytes`. Returns why it cannot be read; empty: it was read.
    QString load(const QString& path, const std::stop_token& stop, QByteArray& bytes) const
    {
        const QFileInfo info(path);
        if (info.isDir())
            return tr("“%1” is a folder; choose the files in it.").arg(m_shown);
        if (!info.exists())
            return tr("“%1” is not there any more.").arg(m_shown);
        if (!info.isFile())
            return tr("“%1” is not an ordinary file.").arg(m_shown);
        if (info.size() == 0)  // also of files that the system makes up, as in /proc
            return tr("“%1” is empty.").arg(m_shown);
        if (info.size() > m_limits.file_bytes)
            return tooLarge(m_limits.file_bytes);

        QFile file(path);
        if (const QString why = openOrdinary(file); !why.isEmpty())
            return tr("“%1” cannot be read: %2.").arg(m_shown, why);
        while (bytes.size() <= m_limits.file_bytes && !stop.stop_requested()) {
            const QByteArray piece = file.read(kPiece_bytes);
            if (piece.isEmpty())
                break;
            bytes += piece;
        }
        if (file.error() != QFileDevice::NoError)
            return tr("“%1” cannot be read: %2.").arg(m_shown, file.errorString());
        if (bytes.size() > m_limits.file_bytes)  // it has grown since
            return tooLarge(m_limits.file_bytes);
        return bytes.isEmpty() && !stop.stop_requested() ? tr("“%1” is empty.").arg(m_shown) : QString();
    }

    QString takeText(const QByteArray& bytes)
    {
        if (bytes.size() > m_limits.text_bytes)
            return decodeText(bytes.left(4096)) ? tooLarge(m_limits.text_bytes) : notReadable();
        auto text = decodeText(bytes);
        if (!text)
            return notReadable();
        if (text->trimmed().isEmpty())
            return tr("“%1” is empty.").arg(m_shown);
        m_attachment.kind = kindOfText(m_attachment.name);
        m_attachment.text = std::move(*text);
        return {};
    }

    QString takePdf(const QByteArray& bytes, const std::stop_token& stop)
    {
        PdfText pdf = readPdf(bytes, stop, m_limits.pdf);
        m_attachment.kind = QStringLiteral("pdf");
        m_attachment.text = std::move(pdf.text);
        switch (pdf.state) {
        case PdfText::State::Read:
        case PdfText::State::Cancelled:
            return {};
        case PdfText::State::Damaged:
            return tr("“%1” is damaged, so it cannot be read.").arg(m_shown);
        case PdfText::State::Password:
            return tr("“%1” is protected by a password, so it cannot be read.").arg(m_shown);
        case PdfText::State::Protection:
            return tr("“%1” is protected in a way that cannot be opened.").arg(m_shown);
        case PdfText::State::NoText:
            return tr("“%1” holds no text, only pictures of pages, and pictures cannot be read yet.").arg(m_shown);
        case PdfText::State::TooManyPages:
            return tr("“%1” has more than %2 pages.").arg(m_shown, QLocale().toString(m_limits.pdf.pages));
        case PdfText::State::TooMuchText:
            return tr("“%1” holds more than %2 of text.").arg(m_shown, size(m_limits.pdf.text_bytes));
        case PdfText::State::TooSlow:
            return tr("“%1” takes too long to read.").arg(m_shown);
        case PdfText::State::NoProgram:
            return tr("PDF files cannot be read: the program spillway-pdf-text is missing.");
        }
        return {};
    }

    /// Keeps a copy of the bytes under their hash, unless there is one already.
    ReadFile keep(const QByteArray& bytes)
    {
        m_attachment.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
        m_attachment.bytes = bytes.size();
        m_attachment.sha256 = QString::fromLatin1(QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex());
        if (!m_folder.isEmpty()) {
            const QString folder = m_folder + u'/' + m_attachment.sha256.left(2);
            QDir().mkpath(folder);
            const QString path = folder + u'/' + m_attachment.sha256;
            QSaveFile file(path);
            if (!QFile::exists(path) &&
                (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()))
                return {{}, tr("“%1” could not be kept: %2.").arg(m_shown, file.errorString())};
        }
        return {std::move(m_attachment), {}};
    }

    QString notReadable() const { return tr("“%1” is neither text nor PDF, so it cannot be read.").arg(m_shown); }
    QString tooLarge(qint64 limit) const { return tr("“%1” is larger than %2.").arg(m_shown, size(limit)); }
    static QString size(qint64 bytes) { return QLocale().formattedDataSize(bytes, 0, QLocale::DataSizeSIFormat); }

    QString m_folder;
    const ReadLimits& m_limits;
    Attachment m_attachment;
    QString m_shown;
};

}  // namespace

ReadFile readFile(const QString& path, const QString& folder, const std::stop_token& stop, const ReadLimits& limits)
{
    return Reading(QFileInfo(path).fileName(), folder, limits).ofPath(path, stop);
}

ReadFile readKept(const DraftFile& kept, const QString& folder, const QString& older, const std::stop_token& stop,
                  const ReadLimits& limits)
{
    QString path = AttachmentFolder(folder).file(kept.sha256);
    if (!older.isEmpty() && !path.isEmpty() && !QFile::exists(path))
        path = AttachmentFolder(older).file(kept.sha256);
    return Reading(kept.name, folder, limits).ofPath(path, stop);
}

ReadFile readText(const QString& name, const QString& text, const QString& folder, const ReadLimits& limits)
{
    return Reading(name, folder, limits).ofText(text);
}
