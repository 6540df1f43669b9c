// CommandLine holds what the window was asked for when it was started.
#pragma once

#include "app/settings/settings_controller.h"
#include "engine/engine.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <span>

/// The command line as values.
struct CommandLine {
    QString modelFile;           // empty: none was named
    QString profile;             // the folder of all state; empty: the user's own folders
    bool measuresStart = false;  // prints how long the start took
    engine::Request options;     // sampling, length

    // Settings of this run; empty: as the user has set them.
    std::optional<int> contextTokens;
    std::optional<int> threads;
    std::optional<SettingsController::KvType> kvType;
    std::optional<int> device;  // its place among the choices; what else is said of it is in `placement`
    std::optional<SettingsController::Theme> theme;
    std::optional<int> language;  // its place among the choices
    engine::PlacementOptions placement;

    QString usageError;  // not empty: nothing else counts

    /// Says whether --help or --version is among the words, for which nothing else of the program is needed.
    static bool asksAboutProgram(std::span<char* const> words);
    /// Prints and exits for --help and --version.
    static CommandLine parse(const QStringList& arguments);
};
