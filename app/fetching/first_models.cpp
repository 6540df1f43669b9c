#include "app/fetching/first_models.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace {

constexpr double kBesideTheFile = 1.15;  // times its bytes are needed: a context and scratch take memory as well
constexpr double kLeftFree = 1 << 30;    // bytes, for the rest of the machine

}  // namespace

FirstModels firstModels(double freeBytes)
{
    QFile file(QStringLiteral(":/first-models.json"));
    if (!file.open(QFile::ReadOnly))
        return {};
    const QJsonObject list = QJsonDocument::fromJson(file.readAll()).object();
    FirstModels first{QDate::fromString(list[QLatin1String("date")].toString(), Qt::ISODate), {}};
    for (const QJsonValue value : list[QLatin1String("models")].toArray()) {
        const double bytes = value[QLatin1String("bytes")].toDouble();
        first.models.append({value[QLatin1String("id")].toString(), value[QLatin1String("name")].toString(), bytes,
                             value[QLatin1String("licence")].toString(),
                             freeBytes < 0 || bytes * kBesideTheFile + kLeftFree <= freeBytes});
    }
    return first;
}

#include "moc_first_models.cpp"
