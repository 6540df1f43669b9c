// spillway-pdf-text MAX_PAGES MAX_BYTES < FILE.pdf > TEXT
//
// Takes the text out of a PDF, in a process of its own: PDF is a large format, its files come from anywhere, and the
// library that reads them serves one document at a time and cannot be interrupted. So the program that asks can give
// up, and survives whatever happens here. No display is needed.
#include "app/attachments/pdf_text/confinement.h"
#include "app/attachments/pdf_text/limits.h"
#include "app/attachments/pdf_text/outcome.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFile>
#include <QPdfDocument>
#include <QPdfSelection>

#include <cstdio>

namespace {

PdfOutcome outcomeOf(QPdfDocument::Error error)
{
    switch (error) {
    case QPdfDocument::Error::IncorrectPassword:
        return PdfOutcome::Password;
    case QPdfDocument::Error::UnsupportedSecurityScheme:
        return PdfOutcome::Protection;
    default:
        return PdfOutcome::Damaged;
    }
}

/// Returns a page's text with "\n" between its lines, and without the marks that the library writes for a hyphen at a
/// line's end: the parts of the word are put together.
QString tidied(QString text)
{
    text.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
    text.replace(u'\r', u'\n');
    for (const char16_t mark : {u'\uFFFE', u'\u0002'}) {
        text.replace(QString(QChar(mark)) + u'\n', QString());
        text.remove(QChar(mark));
    }
    text.remove(QChar(u'\0'));
    return text.trimmed();
}

PdfOutcome copyText(int maxPages, qint64 maxBytes)
{
    QFile input;
    QFile output;
    if (!input.open(stdin, QIODevice::ReadOnly) || !output.open(stdout, QIODevice::WriteOnly))
        return PdfOutcome::WrongUsage;
    QBuffer file;
    file.setData(input.readAll());
    file.open(QIODevice::ReadOnly);

    QPdfDocument document;
    document.load(&file);
    if (document.status() != QPdfDocument::Status::Ready)
        return outcomeOf(document.error());
    if (document.pageCount() > maxPages)
        return PdfOutcome::TooManyPages;

    qint64 written = 0;
    // Of a page with glyphs that stand for no letter, Qt's PDFium (seen in 6.4) gives as many characters less at its
    // end as there are such glyphs; what is missing cannot be asked for.
    for (int page = 0; page < document.pageCount(); ++page) {
        const QByteArray text = (page > 0 ? "\f" : "") + tidied(document.getAllText(page).text()).toUtf8();
        written += text.size();
        if (written > maxBytes)
            return PdfOutcome::TooMuchText;
        output.write(text);
        output.flush();  // so that the window sees at once how much there is
    }
    return PdfOutcome::Done;
}

}  // namespace

int main(int argc, char* argv[])
{
    limitThisProcess();
    const QCoreApplication application(argc, argv);
    if (const std::string missing = confineThisProcess(); !missing.empty())
        std::fprintf(stderr, "%s%s\n", kNotConfined, missing.c_str());
    const QStringList arguments = QCoreApplication::arguments();
    const int maxPages = arguments.value(1).toInt();
    const qint64 maxBytes = arguments.value(2).toLongLong();
    if (maxPages <= 0 || maxBytes <= 0)
        return int(PdfOutcome::WrongUsage);
    return int(copyText(maxPages, maxBytes));
}
