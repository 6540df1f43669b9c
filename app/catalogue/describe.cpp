#include "app/catalogue/describe.h"

#include "app/catalogue/split_name.h"
#include "app/text/visible_text.h"
#include "app/worker/error_sentence.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>
#include <iterator>

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(ModelEntry)
};

// Architectures of models that give embeddings. Newer models of other architectures say so by a pooling type.
constexpr std::string_view kEmbedding[] = {"bert",         "nomic-bert",   "nomic-bert-moe",
                                           "jina-bert-v2", "jina-bert-v3", "modern-bert",
                                           "neo-bert",     "t5encoder",    "gemma-embedding"};

bool hasWord(const QString& name, const char* word)
{
    const QRegularExpression whole(QStringLiteral("(^|[^a-z0-9])%1([^a-z]|$)").arg(QLatin1String(word)),
                                   QRegularExpression::CaseInsensitiveOption);
    return whole.match(name).hasMatch();
}

ModelKind::Kind kindOf(const QString& fileName, const engine::ModelInfo& info)
{
    if (info.architecture == "clip" || info.type == "mmproj" || (hasWord(fileName, "mmproj") && !info.runnable))
        return ModelKind::Projector;
    if (info.type == "adapter")
        return ModelKind::Adapter;
    if (info.weight_bytes == 0)
        return ModelKind::Vocabulary;
    if (info.embeds ||
        std::find(std::begin(kEmbedding), std::end(kEmbedding), info.architecture) != std::end(kEmbedding))
        return ModelKind::Embedding;
    if (hasWord(fileName, "draft") || hasWord(fileName, "eagle") || hasWord(fileName, "eagle3"))
        return ModelKind::Draft;
    return info.has_chat_template ? ModelKind::Chat : ModelKind::Base;
}

/// Returns why a file of this kind cannot be opened by itself; empty: it can.
QString obstacleOf(ModelKind::Kind kind, const ModelFacts& facts)
{
    switch (kind) {
    case ModelKind::Projector:
        return Tr::tr("This is the projector of a model that sees: it is no model by itself.");
    case ModelKind::Adapter:
        return Tr::tr("This is an adapter: a change to another model.");
    case ModelKind::Vocabulary:
        return Tr::tr("This file holds a vocabulary only, no weights.");
    case ModelKind::Embedding:
        return Tr::tr("This model turns text into numbers for searching; it does not chat.");
    case ModelKind::Chat:
    case ModelKind::Base:
    case ModelKind::Draft:
    case ModelKind::Broken:
        break;
    }
    return facts.obstacle;
}

ModelEntry start(const FoundFile& file)
{
    ModelEntry entry;
    const QFileInfo at(file.path);
    entry.id = file.trouble.isEmpty() ? at.canonicalFilePath() : file.path;
    entry.path = file.path;
    entry.store = file.store;
    entry.origin = VisibleText::of(file.name);
    for (const QString& name : file.alsoNamed)
        entry.alsoNamed.append(VisibleText::of(name));
    const auto split = splitName(file.path);
    entry.title = VisibleText::of(split ? QFileInfo(split->stem).fileName() : at.completeBaseName());
    entry.bytes = double(at.size());
    if (file.belongsToBlob)
        entry.title = entry.origin;
    return entry;
}

void addNotes(ModelEntry& entry, const FoundFile& file)
{
    if (entry.kind == ModelKind::Base && entry.obstacle.isEmpty())
        entry.notes.append(Tr::tr("It has no chat template: it continues text rather than answering."));
    if (entry.kind == ModelKind::Draft)
        entry.notes.append(Tr::tr("It is made to guess ahead for a larger model; by itself it will not say much."));
    if (file.ownTemplate && !entry.facts.hasChatTemplate)
        entry.notes.append(Tr::tr("Ollama keeps a template for it beside the file; Spillway does not use that."));
    if (file.adapter)
        entry.notes.append(Tr::tr("Ollama applies an adapter to it; Spillway opens it without."));
    if (file.belongsToBlob)
        entry.notes.append(Tr::tr("The file is Ollama’s and is gone when Ollama removes the model."));
    entry.notes.append(entry.facts.warnings);
}

/// Returns the words of a file name that tell one model from another, run together, without quantisation and "mmproj".
QString essence(const QString& fileName)
{
    static const QRegularExpression words(
        QStringLiteral(
            "mmproj|model|(^|[-._])(i?q\\d(_[a-z0-9]+)*|f16|f32|bf16|fp16|gguf|\\d{5}-of-\\d{5})(?=$|[-._])"),
        QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression marks(QStringLiteral("[^a-z0-9]"));
    return QString(fileName).replace(words, QStringLiteral("-")).toLower().remove(marks);
}

}  // namespace

ModelEntry describeModel(const FoundFile& file, const engine::ModelInfo& info)
{
    ModelEntry entry = start(file);
    entry.info = info;
    entry.facts = ModelFacts(info);
    entry.kind = kindOf(QFileInfo(file.path).fileName(), info);
    entry.obstacle = obstacleOf(entry.kind, entry.facts);
    entry.bytes = double(info.file_bytes);
    if (file.belongsToBlob)
        entry.facts.name = entry.title;
    else
        entry.title = entry.facts.name;
    if (!file.projector.isEmpty())
        entry.projector = VisibleText::of(QFileInfo(file.projector).fileName());
    addNotes(entry, file);
    return entry;
}

ModelEntry describeBroken(const FoundFile& file, const QString& sentence)
{
    ModelEntry entry = start(file);
    entry.obstacle = sentence;
    return entry;
}

ModelEntry describeBroken(const FoundFile& file, const engine::Error& error)
{
    // The row shows the path already.
    engine::Error withoutPath = error;
    if (const std::string path = file.path.toStdString() + ": "; error.what.starts_with(path))
        withoutPath.what.erase(0, path.size());
    return describeBroken(file, errorSentence(withoutPath));
}

ModelEntry describeIncomplete(const FoundFile& file, const QStringList& parts, int count)
{
    const auto missing = count - int(parts.size());
    ModelEntry entry = describeBroken(file, Tr::tr("%n of its %1 parts are missing.", nullptr, missing).arg(count));
    entry.bytes = 0;
    for (const QString& part : parts)
        entry.bytes += double(QFileInfo(part).size());
    return entry;
}

const ModelEntry* projectorOf(const ModelEntry& model, const QList<ModelEntry>& all)
{
    const QString folder = QFileInfo(model.path).path();
    const QString name = essence(QFileInfo(model.path).completeBaseName());
    const bool ownFolder =
        model.store == Store::HuggingFace || model.store == Store::LmStudio || model.store == Store::Jan;
    const ModelEntry* found = nullptr;
    qsizetype longest = -1;
    for (const ModelEntry& projector : all) {
        if (QFileInfo(projector.path).path() != folder)
            continue;
        const QString words = essence(QFileInfo(projector.path).completeBaseName());
        const bool sameWords = !words.isEmpty() && name.startsWith(words);
        if ((sameWords || ownFolder) && (sameWords ? words.size() : 0) > longest) {
            found = &projector;
            longest = sameWords ? words.size() : 0;
        }
    }
    return found;
}
