// Finds the models tests run on: small ones of the project's own, and goldens from elsewhere where $SPILLWAY_GOLDEN
// names a folder.
#pragma once

#include <QByteArray>
#include <QDir>
#include <QFileInfo>
#include <QString>
#include <QStringList>

namespace test_support {

/// Empty where no goldens are at hand.
inline QString golden_folder()
{
    return qEnvironmentVariable("SPILLWAY_GOLDEN");
}

inline QString own_models_folder()
{
    return QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/models");
}

/// Paths without suffix of all results in a folder: NAME.json with NAME.f32.
inline QStringList models_with_results(const QString& folder)
{
    QStringList out;
    const auto files = QDir(folder).entryInfoList({QStringLiteral("*.f32")}, QDir::Files, QDir::Name);
    for (const QFileInfo& file : files) {
        const QString base = file.path() + QLatin1Char('/') + file.completeBaseName();
        if (QFileInfo::exists(base + QStringLiteral(".json")))
            out.append(base);
    }
    return out;
}

}  // namespace test_support
