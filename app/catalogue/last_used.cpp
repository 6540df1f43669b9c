#include "app/catalogue/last_used.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include <algorithm>

namespace {

constexpr qint64 kLargestFile = 1 << 20;
constexpr qsizetype kMost = 500;

}  // namespace

LastUsed::LastUsed(QString file)
    : m_file(std::move(file))
{
    QFile kept(m_file);
    if (m_file.isEmpty() || !kept.open(QFile::ReadOnly) || kept.size() > kLargestFile)
        return;
    const QJsonObject times = QJsonDocument::fromJson(kept.readAll()).object();
    for (auto time = times.begin(); time != times.end(); ++time) {
        const QDateTime when = QDateTime::fromString(time.value().toString(), Qt::ISODateWithMs);
        if (when.isValid())
            m_msById.insert(time.key(), when.toMSecsSinceEpoch());
    }
}

void LastUsed::note(const QString& id, qint64 ms)
{
    m_msById.insert(id, ms);
    while (m_msById.size() > kMost)
        m_msById.erase(std::min_element(m_msById.cbegin(), m_msById.cend()));
    save();
}

void LastUsed::save() const
{
    if (m_file.isEmpty())
        return;
    QJsonObject times;
    for (auto time = m_msById.begin(); time != m_msById.end(); ++time)
        times[time.key()] = QDateTime::fromMSecsSinceEpoch(time.value(), Qt::UTC).toString(Qt::ISODateWithMs);
    QDir().mkpath(QFileInfo(m_file).path());
    QSaveFile file(m_file);
    if (file.open(QFile::WriteOnly)) {
        file.write(QJsonDocument(times).toJson());
        file.commit();
    }
}
