#include "app/catalogue/draft_choices.h"

#include "app/system/profile_folders.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include <utility>

namespace {

constexpr qint64 kLargestChoices = 1 << 20;

}  // namespace

DraftChoices::DraftChoices(QString file)
    : m_file(std::move(file))
{
    QFile kept(m_file);
    if (m_file.isEmpty() || !kept.open(QFile::ReadOnly) || kept.size() > kLargestChoices)
        return;
    const QJsonObject choices = QJsonDocument::fromJson(kept.readAll()).object();
    for (auto at = choices.begin(); at != choices.end(); ++at)
        if (!at.value().toString().isEmpty())
            m_draftOf.insert(at.key(), at.value().toString());
}

void DraftChoices::choose(const QString& path, const QString& draft)
{
    if (draft == of(path))
        return;
    if (draft.isEmpty())
        m_draftOf.remove(path);
    else
        m_draftOf.insert(path, draft);
    save();
}

void DraftChoices::save() const
{
    if (m_file.isEmpty())
        return;
    QJsonObject choices;
    for (auto at = m_draftOf.begin(); at != m_draftOf.end(); ++at)
        choices[at.key()] = at.value();
    ProfileFolders::make(QFileInfo(m_file).path());
    QSaveFile file(m_file);
    if (file.open(QFile::WriteOnly)) {
        file.write(QJsonDocument(choices).toJson());
        file.commit();
    }
}
