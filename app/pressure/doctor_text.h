// Says a diagnosis in the user's language.
#pragma once

#include "app/pressure/doctor.h"

#include <QString>

/// Says in one sentence what holds the last answer back.
QString doctorSentence(const Diagnosis& diagnosis);

/// Says where the time of the answer's tokens went, the largest part first; at the end the rest, of which no cause is
/// known. Empty: not known.
QString doctorShares(const Diagnosis& diagnosis);

/// Says what could be done about it, as the label of a button, or as advice where no button can do it; empty: nothing.
QString doctorSuggestion(const DoctorAction& action);

/// Says for which models and how long a change counts; empty: the program cannot make it.
QString doctorScope(const DoctorAction& action);

/// Says what a change brought, in tokens a second; `after` empty: there was no answer since.
QString doctorResult(const DoctorAction& action, std::optional<double> before, std::optional<double> after);

/// Says whether the program can make this change by itself.
bool canApply(const DoctorAction& action);
