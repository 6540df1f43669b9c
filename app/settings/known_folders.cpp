#include "app/settings/known_folders.h"

#include "app/system/background.h"

#include <QFileInfo>

#include <algorithm>

void KnownFolders::lookAt(const QStringList& folders)
{
    for (const QString& folder : folders) {
        if (m_asked.contains(folder))
            continue;
        m_asked.insert(folder);
        inBackground(
            this, [folder] { return QFileInfo(folder).isDir(); },
            [this, folder](bool there) {
                m_asked.remove(folder);
                if (there)
                    m_there.insert(folder);
                else
                    m_there.remove(folder);
            },
            [this, folder] { m_asked.remove(folder); });
    }
}

QString KnownFolders::firstOf(const QStringList& folders) const
{
    const auto there =
        std::ranges::find_if(folders, [this](const QString& folder) { return m_there.contains(folder); });
    return there != folders.end() ? *there : QString();
}
