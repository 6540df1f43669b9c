// splitName() reads the name of one part of a split model: NAME-00001-of-00003.gguf.
#pragma once

#include <QString>

#include <optional>

struct SplitName {
    QString stem;  // NAME, with its folder
    int part = 1;  // from 1
    int count = 1;
};

/// Splits the name of a part. Nothing: it is no part of a split model.
std::optional<SplitName> splitName(const QString& path);
QString partPath(const SplitName& name, int part);
