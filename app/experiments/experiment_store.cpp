#include "app/experiments/experiment_store.h"

#include "app/experiments/experiment_json.h"
#include "app/system/profile_folders.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QSaveFile>
#include <QUuid>

#include <utility>

namespace {

constexpr QLatin1String kSuffix(".json");

}  // namespace

ExperimentStore::ExperimentStore(QString folder)
    : m_folder(std::move(folder))
{
}

QString ExperimentStore::fileOf(const QString& id) const
{
    static const QRegularExpression sound(QStringLiteral("^[0-9A-Za-z-]{1,64}$"));
    return sound.match(id).hasMatch() ? m_folder + QLatin1Char('/') + id + kSuffix : QString();
}

QList<ExperimentRun> ExperimentStore::runs()
{
    m_unreadable = 0;
    QList<ExperimentRun> runs;
    const QStringList names =
        QDir(m_folder).entryList({QLatin1Char('*') + kSuffix}, QDir::Files, QDir::Name | QDir::Reversed);
    for (const QString& name : names.mid(0, kMostRuns)) {
        const QString id = name.chopped(kSuffix.size());
        QFile file(fileOf(id));
        std::optional<ExperimentRun> run;
        if (!file.fileName().isEmpty() && file.open(QIODevice::ReadOnly))
            run = ExperimentJson::read(file.read(ExperimentJson::kMostBytes + 1));
        if (!run) {
            ++m_unreadable;
            continue;
        }
        run->id = id;
        runs.append(*run);
    }
    return runs;
}

QString ExperimentStore::newId() const
{
    return QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmsszzz-")) +
           QUuid::createUuid().toString(QUuid::Id128).left(6);
}

QString ExperimentStore::save(const ExperimentRun& run) const
{
    QSaveFile file(fileOf(run.id));
    if (file.fileName().isEmpty() || !ProfileFolders::make(m_folder) || !file.open(QIODevice::WriteOnly))
        return QCoreApplication::translate("Experiments", "The run cannot be kept in %1.").arg(m_folder);
    file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner);
    file.write(ExperimentJson::write(run));
    if (!file.commit())
        return QCoreApplication::translate("Experiments", "The run cannot be kept in %1: %2.")
            .arg(m_folder, file.errorString());
    return {};
}

QString ExperimentStore::remove(const QString& id) const
{
    const QString file = fileOf(id);
    if (file.isEmpty() || (QFile::exists(file) && !QFile::remove(file)))
        return QCoreApplication::translate("Experiments", "The run cannot be deleted.");
    return {};
}
