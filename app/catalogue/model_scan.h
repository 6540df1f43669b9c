// scanForModels() searches all places for models and makes a row of each.
#pragma once

#include "app/catalogue/found_file.h"
#include "app/catalogue/model_entry.h"

#include <QList>

#include <functional>
#include <stop_token>

/// Holds what a scan is to do.
struct ScanRequest {
    QList<StoreFolder> places;
    QStringList files;  // that the user opened one by one, wherever they lie
    QString cacheFile;  // of headers; empty: none
    WalkLimits limits;
    std::function<engine::Result<engine::ModelInfo>(const std::filesystem::path&, const std::stop_token&)> inspect;
};

/// Holds what became of one place.
struct PlaceReport {
    StoreFolder place;
    bool there = false;
    int files = 0;   // that may be models
    int models = 0;  // that no place searched before it has
    int unfinished = 0;
    int unreadable = 0;
    int strange = 0;
    bool cutShort = false;
};

struct ScanReport {
    QList<PlaceReport> places;
    int headersRead = 0;  // files that had to be opened
    bool cancelled = false;
};

/// Looks into all places and gives `onEntries` rows, a few at a time; a row given again under the same id replaces the
/// first (its projector was found later). Runs on the calling thread, a pool thread in the program; nothing is written
/// but the cache.
ScanReport scanForModels(const ScanRequest& request, const std::function<void(const QList<ModelEntry>&)>& onEntries,
                         const std::stop_token& stop);
