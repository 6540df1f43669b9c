#include "app/serving/server_key.h"

#include "app/system/profile_folders.h"

#include <QFile>
#include <QFileInfo>
#include <QRandomGenerator>
#include <QSaveFile>

#include <algorithm>
#include <array>

ServerKey::Kept ServerKey::read() const
{
    constexpr bool kUseless = true;
    if (m_file.isEmpty() || !QFileInfo::exists(m_file))
        return {};
    QFile file(m_file);
    if (!file.open(QFile::ReadOnly) || file.size() > kLongest)
        return {{}, kUseless};
    // A file that was copied here may be readable for others.
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner);
    const QString key = QString::fromLatin1(file.readAll()).trimmed();
    // The key goes into a header of HTTP, which allows no other characters.
    const bool plain = std::ranges::all_of(key, [](QChar c) { return c > u' ' && c < u'\x7f'; });
    return plain && !key.isEmpty() ? Kept{key} : Kept{{}, kUseless};
}

QString ServerKey::make() const
{
    std::array<quint32, 6> random;  // 192 bits
    QRandomGenerator::system()->fillRange(random.data(), qsizetype(random.size()));
    const QByteArray bytes(reinterpret_cast<const char*>(random.data()), qsizetype(sizeof(random)));
    return QStringLiteral("sk-") + QString::fromLatin1(bytes.toHex());
}

bool ServerKey::write(const QString& key) const
{
    if (m_file.isEmpty())
        return true;
    ProfileFolders::make(QFileInfo(m_file).path());
    QSaveFile file(m_file);
    // The new file is closed to other users before anything is written into it.
    return file.open(QFile::WriteOnly) && file.setPermissions(QFile::ReadOwner | QFile::WriteOwner) &&
           file.write(key.toLatin1() + '\n') >= 0 && file.commit();
}
