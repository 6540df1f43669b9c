// Sets whether the model is to think, by the names that chat templates have for it.
#pragma once

#include "app/server/fields.h"

namespace server {

enum class Thinking { Off, WhenNeeded, On };

/// Adds the choice to a template's arguments, under all names that templates use. An argument that is there already is
/// not changed.
void add_thinking(Json& arguments, Thinking thinking);

/// Says what enable_thinking says by all other names, too, where it is the only one: many programs know no other,
/// whichever the model. It must be called with an object.
void name_thinking_otherwise(Json& arguments);

}  // namespace server
