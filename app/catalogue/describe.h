// describeModel() makes a row of the model page for a file that was found.
#pragma once

#include "app/catalogue/found_file.h"
#include "app/catalogue/model_entry.h"

#include <QList>

/// Describes a file whose header could be read.
ModelEntry describeModel(const FoundFile& file, const engine::ModelInfo& info);
/// Describes a file whose header could not be read, and says why.
ModelEntry describeBroken(const FoundFile& file, const engine::Error& error);
ModelEntry describeBroken(const FoundFile& file, const QString& sentence);
/// Describes a split model of `count` parts of which only `parts` are there.
ModelEntry describeIncomplete(const FoundFile& file, const QStringList& parts, int count);

/// Returns the projector among `all` that lies in the model's folder and belongs to it: the one with the most words of
/// the model's name or, where the store keeps each model in a folder of its own, any. Null: none does.
const ModelEntry* projectorOf(const ModelEntry& model, const QList<ModelEntry>& all);
