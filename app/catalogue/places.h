// placesOfOtherPrograms() names the folders in which other programs keep models.
#pragma once

#include <QList>
#include <QString>

#include <functional>

/// Whose folder a model lies in; Opened: in any, from which it was opened by itself; Server: in none, but elsewhere.
enum class Store { Folder, Ollama, HuggingFace, LmStudio, Jan, Gpt4All, LlamaCpp, Opened, Server };

struct Place {
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

/// The folders in which other programs keep models, whether they are there or not. Where a variable names one, that is
/// the place. No path twice.
QList<Place> placesOfOtherPrograms(const Surroundings& here);
