// withDraftModel() suggests a draft model where it would pay.
#pragma once

#include "app/pressure/doctor.h"

/// The share of a draft model's guesses that is right, of those whose predecessors were right. It is not known before
/// the model has guessed; the Doctor assumes that it lies between these two, and its sentence says so.
constexpr double kFewRight = 0.5, kManyRight = 0.75;

/// Returns the diagnosis; where it suggests no change, reading RAM takes most of a step, and already few right guesses
/// would be noticed, with the draft model as the change.
Diagnosis withDraftModel(Diagnosis d, const DoctorFacts& facts);
