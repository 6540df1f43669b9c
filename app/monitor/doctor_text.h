// What the Doctor says, in the user's language.
#pragma once

#include "app/monitor/doctor.h"

#include <QString>

/// What holds the last answer back: one sentence.
QString doctorSentence(const Diagnosis& diagnosis);

/// What could be done about it, as the label of a button, or as advice where no button can do it; empty: nothing.
QString doctorSuggestion(const DoctorAction& action);

/// Whether the program can do it by itself.
bool canApply(const DoctorAction& action);
