// Makes a row of the model page for a file that was found.
#pragma once

#include "app/catalogue/found_file.h"
#include "app/catalogue/model_entry.h"

#include <QList>

/// A file whose header could be read.
ModelEntry describeModel(const FoundFile& file, const engine::ModelInfo& info);
/// One that could not, and why.
ModelEntry describeBroken(const FoundFile& file, const engine::Error& error);
ModelEntry describeBroken(const FoundFile& file, const QString& sentence);
/// A split model of which parts are missing.
ModelEntry describeIncomplete(const FoundFile& file, const QStringList& parts, int count);

/// The projector among `all` that belongs to the model: named by the same words, or the only one in the folder of a
/// store that keeps a model to a folder. Null: none does.
const ModelEntry* projectorOf(const ModelEntry& model, const QList<ModelEntry>& all);
