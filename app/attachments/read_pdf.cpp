#include "app/attachments/read_pdf.h"

#include "app/attachments/pdf_text/outcome.h"
#include "app/system/child_process.h"
#include "app/system/log_lines.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>

#include <algorithm>
#include <atomic>

namespace {

constexpr int kLook_ms = 50;  // how often `stop` and the clock are looked at
constexpr qsizetype kMostErrors = 64 * 1024;

PdfText::State stateOf(int exitCode)
{
    switch (PdfOutcome(exitCode)) {
    case PdfOutcome::Done:
        return PdfText::State::Read;
    case PdfOutcome::Password:
        return PdfText::State::Password;
    case PdfOutcome::Protection:
        return PdfText::State::Protection;
    case PdfOutcome::TooManyPages:
        return PdfText::State::TooManyPages;
    case PdfOutcome::TooMuchText:
        return PdfText::State::TooMuchText;
    default:
        return PdfText::State::Damaged;
    }
}

/// Writes to the log, once in each run of this program, that the system could not confine the other process.
void noteMissingConfinement(const QByteArray& errors)
{
    static std::atomic<bool> noted = false;
    for (const QByteArray& line : errors.left(kMostErrors).split('\n'))
        if (line.startsWith(kNotConfined) && !noted.exchange(true))
            logWarning(QStringLiteral("the process that reads PDF files is only limited; ") +
                       QString::fromUtf8(line.left(200)));
}

void end(QProcess& process)
{
    process.kill();
    process.waitForFinished();
}

}  // namespace

QString pdfTextProgram()
{
    const QString beside = QCoreApplication::applicationDirPath();
    return QStandardPaths::findExecutable(QStringLiteral("spillway-pdf-text"),
                                          {beside, beside + QStringLiteral("/../libexec/spillway")});
}

PdfText readPdf(const QByteArray& file, const std::stop_token& stop, const PdfLimits& limits)
{
    const QString program = pdfTextProgram();
    if (program.isEmpty())
        return {PdfText::State::NoProgram};

    QProcess process;
    endWithThisProgram(process);
    process.start(program, {QString::number(limits.pages), QString::number(limits.text_bytes)});
    if (!process.waitForStarted())
        return {PdfText::State::NoProgram};
    process.write(file);
    process.closeWriteChannel();

    QElapsedTimer clock;
    clock.start();
    QByteArray text;
    const auto untilNextLook = [&] {
        return int(std::clamp<qint64>(limits.time.count() - clock.elapsed(), 1, kLook_ms));
    };
    while (!process.waitForFinished(untilNextLook())) {
        if (process.state() == QProcess::NotRunning)
            break;
        text += process.readAllStandardOutput();
        noteMissingConfinement(process.readAllStandardError());
        const bool tooSlow = clock.elapsed() >= limits.time.count();
        if (!stop.stop_requested() && !tooSlow && text.size() <= limits.text_bytes)
            continue;
        end(process);
        return {stop.stop_requested() ? PdfText::State::Cancelled
                : tooSlow             ? PdfText::State::TooSlow
                                      : PdfText::State::TooMuchText};
    }
    text += process.readAllStandardOutput();
    noteMissingConfinement(process.readAllStandardError());
    if (stop.stop_requested())
        return {PdfText::State::Cancelled};
    if (process.exitStatus() != QProcess::NormalExit)
        return {PdfText::State::Damaged};
    if (const auto state = stateOf(process.exitCode()); state != PdfText::State::Read)
        return {state};
    text.replace('\f', "\n\n");
    const QString all = QString::fromUtf8(text).trimmed();
    return all.isEmpty() ? PdfText{PdfText::State::NoText} : PdfText{PdfText::State::Read, all};
}
