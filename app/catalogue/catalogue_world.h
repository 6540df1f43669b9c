// CatalogueWorld holds what differs between the program's CatalogueController and a test's.
#pragma once

#include "app/catalogue/draft_models.h"
#include "app/catalogue/model_controller.h"
#include "app/catalogue/model_scan.h"
#include "app/system/profile_folders.h"
#include "engine/draft_model.h"

#include <functional>

struct CatalogueWorld {
    ModelInspector inspect;
    std::function<QList<StoreFolder>()> otherPlaces;
    std::function<engine::MachineMemory()> memory;
    QString cacheFile;   // of headers; empty: none
    QString usedFile;    // says which models were used when; empty: none
    QString guide = {};  // its file, which has a button of its own and is no row; empty: there is none
    WalkLimits limits = {};
    DraftModels::MayDraft mayDraft = [](const auto& model, const auto& draft) {
        return engine::may_draft(model, draft).has_value();
    };
    QString draftsFile = {};  // says which model guesses for which; empty: none

    static CatalogueWorld ofThisComputer(const ModelInspector& inspect, const ProfileFolders& folders,
                                         const QString& guide);
};
