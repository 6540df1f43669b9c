#include "app/catalogue/start_model.h"

#include "app/system/profile_folders.h"
#include "app/system/remote_path.h"
#include "app/text/visible_text.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

namespace {

constexpr int kLongestPath = 4096;

/// Translates the texts of functions that belong to no class.
struct StartModelText {
    Q_DECLARE_TR_FUNCTIONS(StartModel)
};

QString nameOf(const QString& path)
{
    return VisibleText::of(QFileInfo(path).fileName());
}

}  // namespace

QString guideModel()
{
    // The variable is for tests and for those who ship the program in another layout.
    const QString program = QCoreApplication::applicationDirPath();
    for (const QString& file : {qEnvironmentVariable("SPILLWAY_GUIDE"), program + QStringLiteral("/guide.gguf"),
                                program + QStringLiteral("/../share/spillway/guide.gguf")})
        if (!file.isEmpty() && QFileInfo(file).isFile())
            return QFileInfo(file).canonicalFilePath();
    return {};
}

LoadMarker::LoadMarker(const QString& stateFolder)
    : m_file(stateFolder + QStringLiteral("/loading-model"))
{
    QFile file(m_file);
    if (file.open(QFile::ReadOnly))
        m_diedOf = QString::fromUtf8(file.read(kLongestPath)).trimmed();
    file.close();
    end();
}

void LoadMarker::begin(const QString& model)
{
    m_loaded = false;
    ProfileFolders::make(QFileInfo(m_file).absolutePath());
    QSaveFile file(m_file);  // on disk before the load begins
    if (file.open(QFile::WriteOnly) && file.write(model.toUtf8()) >= 0)
        file.commit();
}

void LoadMarker::prompted()
{
    if (m_loaded)
        end();
}

void LoadMarker::end()
{
    m_loaded = false;
    QFile file(m_file);
    // Another program may hold the file just now, such as a virus scanner on Windows: then it is emptied, which counts
    // as no note.
    if (!file.remove() && file.exists())
        static_cast<void>(file.open(QFile::WriteOnly | QFile::Truncate));
}

bool StartModel::Given::goesByLast() const
{
    return named.isEmpty() && diedOf.isEmpty() && wish == SettingsController::LastModel && !last.isEmpty() &&
           !isElsewhere(last);
}

StartModel StartModel::choose(const Given& given)
{
    if (!given.named.isEmpty())
        return {given.named, {}};
    if (!given.diedOf.isEmpty()) {
        const bool guideIsLeft = !given.guide.isEmpty() && given.diedOf != given.guide;
        return {guideIsLeft ? given.guide : QString(),
                (guideIsLeft
                     ? StartModelText::tr("Spillway ended while it was loading “%1”. The guide is open instead.")
                     : StartModelText::tr("Spillway ended while it was loading “%1”, so it was not opened again."))
                    .arg(nameOf(given.diedOf))};
    }
    if (given.wish == SettingsController::Nothing)
        return {};
    if (given.wish == SettingsController::Guide || given.last.isEmpty())
        return {given.guide, {}};
    if (given.goesByLast() && !given.lastIsThere)
        return {given.guide,
                StartModelText::tr("“%1”, which was open last, is not there any more.").arg(nameOf(given.last))};
    return {given.last, {}};
}
