#include "app/about/program_controller.h"

#include <QClipboard>
#include <QDesktopServices>
#include <QDir>
#include <QGuiApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QSysInfo>
#include <QUrl>

ProgramController::ProgramController(const ProfileFolders& folders, const QString& guide, QObject* parent)
    : QObject(parent)
    , m_folders(folders)
    , m_guide(guide)
{
}

QString ProgramController::version() const
{
    return QStringLiteral(SPILLWAY_VERSION);
}

QString ProgramController::facts() const
{
    // Always in English, since developers read them.
    return QStringList{
        QStringLiteral("Spillway %1").arg(version()),
        QStringLiteral("Qt %1 (built with %2), %3")
            .arg(qVersion(), QLibraryInfo::version().toString(), QGuiApplication::platformName()),
        QStringLiteral("%1, %2").arg(QSysInfo::prettyProductName(), QSysInfo::kernelVersion()),
        QStringLiteral("%1, built for %2").arg(QSysInfo::currentCpuArchitecture(), QSysInfo::buildAbi()),
        QStringLiteral("Locale %1").arg(QLocale().name()),
    }
        .join(QLatin1Char('\n'));
}

QString ProgramController::dataFolder() const
{
    return QDir::toNativeSeparators(m_folders.data);
}

QString ProgramController::logFolder() const
{
    return QDir::toNativeSeparators(m_folders.state);
}

void ProgramController::say(const QString& sentence)
{
    if (sentence.isEmpty() || m_notices.contains(sentence))
        return;
    m_notices += sentence;
    Q_EMIT noticesChanged();
}

void ProgramController::dismissNotice(int index)
{
    if (index < 0 || index >= m_notices.size())
        return;
    m_notices.removeAt(index);
    Q_EMIT noticesChanged();
}

void ProgramController::copyFacts() const
{
    QGuiApplication::clipboard()->setText(facts());
}

void ProgramController::openLogFolder() const
{
    QDesktopServices::openUrl(QUrl::fromLocalFile(m_folders.state));
}

#include "moc_program_controller.cpp"
