// experimentFiles() lists the model files that may be measured.
#pragma once

#include "app/catalogue/model_entry.h"
#include "app/experiments/experiment_draft.h"

/// Returns the open model first, then the guide (empty: there is none), then what was found on this computer. Each file
/// comes once, by its ModelEntry::id, and copies of the guide are left out. `openId` is the open model's id. Only the
/// guide's file is looked at on the disk.
QList<ExperimentDraft::Candidate> experimentFiles(const ModelFacts& open, const QString& openId, const QString& guide,
                                                  const QList<ModelEntry>& found);
