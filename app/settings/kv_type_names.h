// Lists the names of the KV types for the window's options and settings.
#pragma once

#include "engine/kv_type.h"

#include <QStringList>

/// Lists them in the engine's order, which is that of SettingsController::KvType.
inline QStringList kvTypeNames()
{
    QStringList names;
    for (const engine::NamedKvType& one : engine::kKvTypes)
        names.append(QString::fromUtf8(one.name.data(), qsizetype(one.name.size())));
    return names;
}
