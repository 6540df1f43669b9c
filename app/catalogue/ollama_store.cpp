// Ollama's store: manifests/HOST/NAMESPACE/MODEL/TAG are JSON and name blobs/sha256-HEX; the layer that is the model is
// a GGUF file.
#include "app/catalogue/found_file.h"

#include <QCoreApplication>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

#include <algorithm>
#include <optional>

namespace {

constexpr qint64 kLargestManifest = 1 << 20;
constexpr int kMostLayers = 64;
constexpr int kMostManifests = 10'000;

struct OllamaTr {
    Q_DECLARE_TR_FUNCTIONS(OllamaStore)
};

/// Holds the files of one tag. Every digest has been checked to be one, so that it cannot lead out of blobs/.
struct Manifest {
    QString blob;  // file names in blobs/
    qint64 size = 0;
    QString projector;
    bool adapter = false, ownTemplate = false;
};

/// Returns the name of the blob's file for the digest "sha256:HEX"; empty: this is no digest.
QString blobName(const QString& digest)
{
    static const QRegularExpression form(QStringLiteral("\\Asha256[:-]([0-9a-f]{64})\\z"));
    const auto match = form.match(digest);
    return match.hasMatch() ? QStringLiteral("sha256-") + match.captured(1) : QString();
}

std::optional<Manifest> readManifest(const QString& path)
{
    QFile file(path);
    if (file.size() > kLargestManifest || !file.open(QFile::ReadOnly))
        return {};
    const auto json = QJsonDocument::fromJson(file.read(kLargestManifest));
    const QJsonArray layers = json.object().value(QLatin1String("layers")).toArray();
    if (layers.isEmpty() || layers.size() > kMostLayers)
        return {};
    Manifest manifest;
    for (const auto& value : layers) {
        const QJsonObject layer = value.toObject();
        const QString type = layer.value(QLatin1String("mediaType")).toString();
        const QString blob = blobName(layer.value(QLatin1String("digest")).toString());
        if (type.endsWith(QLatin1String(".image.model")) && manifest.blob.isEmpty()) {
            manifest.blob = blob;
            manifest.size = layer.value(QLatin1String("size")).toInteger();
        } else if (type.endsWith(QLatin1String(".image.projector"))) {
            manifest.projector = blob;
        } else if (type.endsWith(QLatin1String(".image.adapter"))) {
            manifest.adapter = true;
        } else if (type.endsWith(QLatin1String(".image.template"))) {
            manifest.ownTemplate = true;
        }
    }
    return manifest;
}

/// Names a model as `ollama list` does: host and namespace only where they are not the usual ones. Empty: the path is
/// not HOST/NAMESPACE/MODEL/TAG.
QString modelName(const QString& relative)
{
    QStringList parts = relative.split(QLatin1Char('/'));
    if (parts.size() < 4)
        return {};
    if (parts.first() == QLatin1String("registry.ollama.ai")) {
        parts.removeFirst();
        if (parts.first() == QLatin1String("library"))
            parts.removeFirst();
    }
    const QString tag = parts.takeLast();
    return parts.join(QLatin1Char('/')) + QLatin1Char(':') + tag;
}

/// Returns why the blob cannot be opened; empty: it can. `wanted`: its size in bytes by the manifest.
QString troubleWith(const QString& blob, qint64 wanted)
{
    const QFileInfo file(blob);
    if (!file.isFile())
        return QFileInfo::exists(blob + QStringLiteral("-partial"))
                   ? OllamaTr::tr("Ollama has not finished downloading this model.")
                   : OllamaTr::tr("Ollama has removed this model’s file.");
    if (wanted > 0 && file.size() < wanted)
        return OllamaTr::tr("This file is shorter than Ollama says it should be.");
    return {};
}

}  // namespace

Findings lookIntoOllama(const QString& root, const WalkLimits&, const std::stop_token& stop)
{
    Findings found;
    found.there = true;
    const QString manifests = root + QStringLiteral("/manifests");
    QStringList tags;
    // No links: Ollama makes none here, and without them the walk must end.
    QDirIterator entries(manifests, QDir::Files | QDir::NoSymLinks, QDirIterator::Subdirectories);
    while (entries.hasNext() && !stop.stop_requested()) {
        tags.append(entries.next());
        if (tags.size() >= kMostManifests) {
            found.cutShort = true;
            break;
        }
    }
    std::sort(tags.begin(), tags.end());

    QHash<QString, qsizetype> byBlob;  // place in found.files
    for (const QString& tag : tags) {
        if (stop.stop_requested())
            break;
        const QString name = modelName(tag.mid(manifests.size() + 1));
        const auto manifest = readManifest(tag);
        if (!manifest || name.isEmpty() || manifest->blob.isEmpty()) {
            ++found.strange;
            continue;
        }
        if (const auto known = byBlob.constFind(manifest->blob); known != byBlob.constEnd()) {
            found.files[*known].alsoNamed.append(name);
            continue;
        }
        byBlob.insert(manifest->blob, found.files.size());
        const QString blobs = root + QStringLiteral("/blobs/");
        FoundFile file;
        file.store = Store::Ollama;
        file.path = blobs + manifest->blob;
        file.name = name;
        if (!manifest->projector.isEmpty() && QFileInfo(blobs + manifest->projector).isFile())
            file.projector = blobs + manifest->projector;
        file.trouble = troubleWith(file.path, manifest->size);
        file.adapter = manifest->adapter;
        file.ownTemplate = manifest->ownTemplate;
        file.belongsToBlob = true;
        found.files.append(file);
    }
    return found;
}
