// doctorFacts() gathers what the Doctor knows of an answer from the engine's and the planner's numbers.
#pragma once

#include "app/catalogue/model_entry.h"
#include "app/pressure/doctor.h"
#include "engine/planner.h"

/// Returns the facts of an answer without predictions. `request`: as the model was loaded, with what has been changed
/// of its placement since.
DoctorFacts doctorFacts(const engine::Telemetry& last, const engine::ModelInfo& model,
                        const engine::LoadRequest& request);

/// Returns what the Doctor has to know of a model that could guess for the open one. `contextTokens`: length of the
/// conversation.
DoctorDraft doctorDraft(const ModelEntry& draft, const engine::LoadRequest& request, int contextTokens);

/// Adds what other placements would bring at the present context, while other programs hold what they hold now. `rates`
/// null: nothing is predicted; `grown`: the budget before it was shrunk for another program. Opens a GPU where the
/// model lies on one, which may take a second.
void addPredictions(DoctorFacts& facts, const engine::Planner& planner, engine::LoadRequest request,
                    const engine::MachineRates* rates, std::optional<qint64> grown = {});
