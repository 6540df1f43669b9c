// Guards the border of the engine: what is thrown inside becomes an error, since nobody outside expects an exception.
//
//     Result<Plan> Planner::plan(...) const
//     try {
//         ...
//     } catch (...) {
//         return caught("for this plan");
//     }
//
// Each function that a header of this folder declares to return a Result or a Status ends so; the app ends the work of
// its own threads in the same way.
#pragma once

#include "engine/result.h"

namespace engine {

/// Returns the exception that is being handled as an error. Where memory was lacking, its sentence is "there is not
/// enough memory " and `what_for`. Where none is left at all, it takes none itself.
tl::unexpected<Error> caught(const char* what_for) noexcept;

}  // namespace engine
