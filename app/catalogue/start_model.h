// StartModel says which model the program opens by itself; LoadMarker notes which one the last run died of.
#pragma once

#include "app/settings/settings_controller.h"

#include <QString>

/// Returns the file of the guide, the small model that comes with the program. Empty: it was not shipped.
QString guideModel();

/// Notes on disk that a model is being loaded, so that the next start knows when the program died of it. The first
/// prompt counts as loading, since the model's own template makes it. Lives on the UI thread; owned by Program.
class LoadMarker
{
public:
    explicit LoadMarker(const QString& stateFolder);
    ~LoadMarker() { end(); }
    LoadMarker(const LoadMarker&) = delete;
    LoadMarker& operator=(const LoadMarker&) = delete;

    /// Returns the model during whose load the last run of the program crashed; empty: it did not.
    const QString& diedOf() const { return m_diedOf; }
    void begin(const QString& model);
    void loaded() { m_loaded = true; }
    /// Ends the note when a prompt was made or refused; does nothing while the model is not loaded.
    void prompted();
    void end();

private:
    QString m_file;
    QString m_diedOf;
    bool m_loaded = false;
};

/// Holds what to open at the start, and what the user has to know of it.
struct StartModel {
    QString file;  // empty: none
    QString sentence;

    struct Given {
        QString named = {};   // on the command line
        QString last = {};    // that was open; empty: none yet, or the guide
        QString diedOf = {};  // LoadMarker's
        QString guide = {};
        SettingsController::StartWith wish = SettingsController::LastModel;
        bool lastIsThere = true;  // the file of `last`

        /// Says whether `lastIsThere` matters. The caller then finds it out before, on another thread: the file may lie
        /// on a share that does not answer.
        bool goesByLast() const;
    };
    static StartModel choose(const Given& given);
};
