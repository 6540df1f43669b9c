// experimentFiles() lists the model files that may be measured.
#pragma once

#include "app/catalogue/catalogue_controller.h"
#include "app/catalogue/model_controller.h"
#include "app/experiments/experiment_draft.h"

/// The open model comes first, then the guide (empty: there is none), then what the catalogue has found; each once.
QList<ExperimentDraft::Candidate> experimentFiles(const ModelController& models, const CatalogueController& catalogue,
                                                  const QString& guide);
