// placesOfOtherPrograms() names the folders in which other programs keep models.
#pragma once

#include <QList>
#include <QString>

#include <functional>

/// Says in whose folder a model lies. Opened: in none that is searched, the user opened its file; Server: on a server.
enum class Store { Folder, Ollama, HuggingFace, LmStudio, Jan, Gpt4All, LlamaCpp, Opened, Server };

/// Says which folder is looked through for models, and whose it is.
struct StoreFolder {
    Store store = Store::Folder;
    QString path;
};

/// Holds what the places of other programs depend on; a test gives its own.
struct Surroundings {
    enum class System { Linux, Windows };
    System system = System::Linux;
    QString home;
    std::function<QString(const char* name)> variable;          // of the environment; empty: not set
    std::function<QString(const QString& file)> shortFileText;  // empty: no such file

    static Surroundings ofThisComputer();
};

/// Returns the folders in which other programs keep models, whether they exist or not. A folder that an environment
/// variable names replaces the usual one. No path comes twice.
QList<StoreFolder> placesOfOtherPrograms(const Surroundings& here);
