#include "app/catalogue/last_used.h"

#include "app/system/profile_folders.h"
#include "app/text/visible_text.h"

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include <algorithm>

namespace {

constexpr qint64 kLargestList = 1 << 20;
constexpr qsizetype kMost = 500;
constexpr qsizetype kLongestTitle = 200;

/// Reads one entry. Earlier versions of the program kept only the time, as a string.
UsedModel read(const QString& id, const QJsonValue& value)
{
    const QJsonObject object = value.toObject();
    const QString time = value.isString() ? value.toString() : object[QLatin1String("used")].toString();
    UsedModel model{id, object[QLatin1String("path")].toString(id), {}, 0};
    model.title = VisibleText::of(object[QLatin1String("title")].toString()).left(kLongestTitle);
    if (model.title.isEmpty())
        model.title = VisibleText::of(QFileInfo(model.path).completeBaseName());
    if (const QDateTime when = QDateTime::fromString(time, Qt::ISODateWithMs); when.isValid())
        model.ms = when.toMSecsSinceEpoch();
    return model;
}

}  // namespace

LastUsed::LastUsed(QString file)
    : m_file(std::move(file))
{
    QFile kept(m_file);
    if (m_file.isEmpty() || !kept.open(QFile::ReadOnly) || kept.size() > kLargestList)
        return;
    const QJsonObject models = QJsonDocument::fromJson(kept.readAll()).object();
    for (auto at = models.begin(); at != models.end(); ++at)
        if (const UsedModel model = read(at.key(), at.value()); model.ms != 0)
            m_models.insert(at.key(), model);
}

QHash<QString, qint64> LastUsed::msById() const
{
    QHash<QString, qint64> times;
    for (const UsedModel& model : m_models)
        times.insert(model.id, model.ms);
    return times;
}

QList<UsedModel> LastUsed::newest(qsizetype most) const
{
    QList<UsedModel> models = m_models.values();
    std::ranges::sort(models, std::ranges::greater(), &UsedModel::ms);
    return models.first(std::min(most, models.size()));
}

QString LastUsed::idOf(const QString& path) const
{
    UsedModel newest;
    for (const UsedModel& model : m_models)
        if (model.path == path && model.ms > newest.ms)
            newest = model;
    return newest.id;
}

void LastUsed::note(const UsedModel& model)
{
    m_models.insert(model.id, model);
    while (m_models.size() > kMost)
        m_models.remove(newest(m_models.size()).constLast().id);
    save();
}

void LastUsed::forget(const QString& id)
{
    if (m_models.remove(id) > 0)
        save();
}

void LastUsed::save() const
{
    if (m_file.isEmpty())
        return;
    QJsonObject models;
    for (const UsedModel& model : m_models)
        models[model.id] = QJsonObject{
            {QStringLiteral("used"), QDateTime::fromMSecsSinceEpoch(model.ms, Qt::UTC).toString(Qt::ISODateWithMs)},
            {QStringLiteral("path"), model.path},
            {QStringLiteral("title"), model.title}};
    ProfileFolders::make(QFileInfo(m_file).path());
    QSaveFile file(m_file);
    if (file.open(QFile::WriteOnly)) {
        file.write(QJsonDocument(models).toJson());
        file.commit();
    }
}
