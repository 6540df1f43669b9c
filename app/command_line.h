// What the window was asked for when it was started.
#pragma once

#include "app/controllers/settings_controller.h"
#include "engine/engine.h"

#include <QString>
#include <QStringList>

#include <optional>

/// The command line as values.
struct CommandLine {
    QString modelFile;                               // empty: none was named
    engine::LoadRequest load;                        // context, threads
    engine::Request options;                         // sampling, length
    std::optional<SettingsController::Theme> theme;  // for this run; empty: as set
    QString usageError;                              // not empty: nothing else counts

    /// Prints and exits for --help and --version.
    static CommandLine parse(const QStringList& arguments);
};
