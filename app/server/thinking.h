// Says to a chat template whether the model is to think, whatever the template calls it.
#pragma once

#include "app/server/fields.h"

namespace server {

enum class Thinking { Off, WhenNeeded, On };

/// Adds it to a template's arguments, by all names that templates have for it. What the arguments say of it already
/// holds.
void add_thinking(Json& arguments, Thinking thinking);

/// Says what enable_thinking says by all other names, too, where it is the only one: many programs know no other,
/// whichever the model. It must be called with an object.
void name_thinking_otherwise(Json& arguments);

}  // namespace server
