// lookInto() finds the model files of one place; FoundFile is one of them, not read yet.
#pragma once

#include "app/catalogue/folder_walk.h"
#include "app/catalogue/places.h"

#include <QList>
#include <QString>
#include <QStringList>

struct FoundFile {
    Store store = Store::Folder;
    QString path;              // as it is to be opened: where a store uses links, the name is the link's
    QString name;              // by which its store calls it: "llama3.2:3b", "org/repository"; empty: by its file name
    QStringList alsoNamed;     // further tags of the same bytes
    QString projector;         // path of the projector that its store keeps with it
    QString trouble;           // why it cannot be opened, where that is known already: one sentence
    bool adapter = false;      // its store keeps an adapter with it
    bool ownTemplate = false;  // its store keeps a chat template of its own beside it
    bool belongsToBlob = false;  // it is a blob without a name, which its store may remove at any time
};

/// Holds what was found in one place.
struct Findings {
    QList<FoundFile> files;
    int unfinished = 0;
    int unreadable = 0;
    int strange = 0;  // a store's manifests that name no model
    bool cutShort = false;
    bool there = false;  // the place exists
};

/// Looks into a place by the rules of its store. Nothing there is written, locked or deleted. Any thread.
Findings lookInto(const StoreFolder& place, const WalkLimits& limits, const std::stop_token& stop);

Findings lookIntoOllama(const QString& root, const WalkLimits& limits, const std::stop_token& stop);
Findings lookIntoHuggingFace(const QString& root, const WalkLimits& limits, const std::stop_token& stop);
