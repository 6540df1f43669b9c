// importJobs() writes a conversation that may be long into the database piece by piece.
#pragma once

#include "app/store/attachment_folder.h"
#include "app/store/store_writer.h"

#include <functional>
#include <stop_token>
#include <vector>

/// The jobs that write it, none much larger than a batch of the writer. Until the last of them it is marked as one that
/// is on its way in (`trashed_ms` 0), so that nobody sees a half of it; what a program's end leaves of such a one goes
/// at the next start. After `stop` no more of it is written, and what was goes. `done` comes on the writer's thread,
/// after the last: whether it was written.
std::vector<StoreWriter::Job> importJobs(const StoredConversation& conversation, const AttachmentFolder& files,
                                         std::function<void(bool)> done, std::stop_token stop);
