// CommandLine holds what the window was asked for when it was started.
#pragma once

#include "app/settings/settings_controller.h"
#include "engine/engine.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <span>

/// Holds the options of the command line as values.
struct CommandLine {
    QString modelFile;           // empty: none was named
    QString profile;             // the folder of all state; empty: the user's own folders
    bool measuresStart = false;  // prints how long the start took
    engine::Request options;     // sampling, length

    // Settings of this run; empty: as the user has set them.
    std::optional<int> contextTokens;
    std::optional<int> threads;
    std::optional<SettingsController::KvType> kvType;
    std::optional<int> device;  // place among the setting's choices; `placement` holds the rest
    std::optional<SettingsController::Theme> theme;
    std::optional<int> language;  // place among the setting's choices
    engine::PlacementOptions placement;

    QString usageError;  // not empty: the program says this and ends

    /// Says whether --help or --version is among the words: then the rest of the program need not start.
    static bool asksAboutProgram(std::span<char* const> words);
    /// Reads the options. At --help and --version it prints what was asked for and ends the process.
    static CommandLine parse(const QStringList& arguments);
};
