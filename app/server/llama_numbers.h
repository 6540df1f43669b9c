// Writes in llama-server's form how fast an answer came, and how far a prompt has been read.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

namespace server {

Json llama_timings(const Ended& ended);
Json llama_progress(const Progress& progress);

}  // namespace server
