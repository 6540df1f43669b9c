// importJobs() writes a conversation that may be long into the database piece by piece.
#pragma once

#include "app/store/attachment_folder.h"
#include "app/store/store_writer.h"

#include <functional>
#include <stop_token>
#include <vector>

/// Returns the jobs that write the conversation, none much larger than a batch of the writer. Until the last job it is
/// marked as incomplete (`trashed_ms` 0), so that it is not shown; an incomplete one that the program's end leaves is
/// removed at the next start. After `stop` no more is written, and the last job removes the rest. `done` is called on
/// the writer's thread after the last job; true: all was written.
std::vector<StoreWriter::Job> importJobs(const StoredConversation& conversation, const AttachmentFolder& files,
                                         std::function<void(bool)> done, std::stop_token stop);
