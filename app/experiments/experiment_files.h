// experimentFiles() lists the model files that may be measured.
#pragma once

#include "app/catalogue/model_entry.h"
#include "app/experiments/experiment_draft.h"

/// The open model comes first, then the guide (empty: there is none), then what was found on this computer; each once,
/// by where it lies, and of the guide no copies. `openId`: the open one's, as ModelEntry::id. Of all these the disk is
/// asked for the guide alone.
QList<ExperimentDraft::Candidate> experimentFiles(const ModelFacts& open, const QString& openId, const QString& guide,
                                                  const QList<ModelEntry>& found);
