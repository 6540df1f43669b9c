// Makes small model files and other programs' stores in a temporary folder, for tests of the catalogue.
#pragma once

#include "app/catalogue/model_scan.h"
#include "tests/support/gguf_writer.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>

#include <memory>

namespace test_support {

/// A model of `rows` x 1 kB of weights that can be run as far as its header tells.
inline support::GgufWriter model(std::string_view name, int rows = 4, std::string_view architecture = "llama")
{
    const std::string prefix = std::string(architecture) + '.';
    support::GgufWriter w;
    w.string("general.architecture", architecture).string("general.name", name);
    w.u32(prefix + "block_count", 2).u32(prefix + "context_length", 4096).u32(prefix + "embedding_length", 256);
    w.u32(prefix + "attention.head_count", 4).u32(prefix + "feed_forward_length", 512);
    w.u32("general.file_type", 0);
    w.tensor("token_embd.weight", 0, {256, std::uint64_t(rows)}, support::GgufWriter::Bytes(std::size_t(rows) * 1024));
    return w;
}

inline support::GgufWriter chatModel(std::string_view name, int rows = 4)
{
    auto w = model(name, rows);
    w.string("tokenizer.chat_template", "{{ messages }}");
    return w;
}

inline support::GgufWriter projector()
{
    support::GgufWriter w;
    w.string("general.architecture", "clip").string("general.type", "mmproj");
    w.tensor("v.patch_embd.weight", 0, {4, 2}, support::GgufWriter::Bytes(32));
    return w;
}

/// A folder of one test, and how to fill it.
class ModelFolder
{
public:
    QString path(const QString& below = {}) const { return QDir::cleanPath(m_folder.path() + '/' + below); }

    QString put(const QString& below, const support::GgufWriter& file) const
    {
        QString at = made(below);
        file.save(std::filesystem::path(at.toStdU16String()));
        return at;
    }
    QString put(const QString& below, const QByteArray& bytes) const
    {
        QString at = made(below);
        QFile file(at);
        if (!file.open(QFile::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write %s", qPrintable(at));
        return at;
    }
    QString link(const QString& below, const QString& to) const
    {
        QString at = made(below);
        QFile::link(to, at);
        return at;
    }

    // ---- Ollama ----
    static QString digest(char c) { return QString(64, QLatin1Char(c)); }
    QString blob(char c, const support::GgufWriter& file) const
    {
        return put("ollama/blobs/sha256-" + digest(c), file);
    }
    struct Layer {
        QString kind;
        QString digest;
        qint64 size = 0;
    };
    void manifest(const QString& tag, const QList<Layer>& layers) const
    {
        QJsonArray array;
        for (const Layer& layer : layers)
            array.append(QJsonObject{{"mediaType", "application/vnd.ollama.image." + layer.kind},
                                     {"digest", layer.digest},
                                     {"size", layer.size}});
        put("ollama/manifests/" + tag, QJsonDocument(QJsonObject{{"layers", array}}).toJson());
    }

private:
    QString made(const QString& below) const
    {
        QString at = path(below);
        QDir().mkpath(QFileInfo(at).path());
        return at;
    }
    QTemporaryDir m_folder;
};

/// All rows of a scan, the newest under each id.
inline QList<ModelEntry> rowsOf(const ScanRequest& request, ScanReport* report = nullptr)
{
    QList<ModelEntry> rows;
    const auto take = [&](const QList<ModelEntry>& entries) {
        for (const ModelEntry& entry : entries) {
            const auto known =
                std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.id == entry.id; });
            if (known == rows.end())
                rows.append(entry);
            else
                *known = entry;
        }
    };
    const ScanReport made = scanForModels(request, take, {});
    if (report)
        *report = made;
    return rows;
}

/// One row as text: what the tests compare.
inline QString line(const ModelEntry& entry)
{
    return QStringList{entry.storeName(),         entry.title,     entry.origin,
                       entry.alsoNamed.join('+'), entry.projector, entry.openable() ? "openable" : entry.obstacle}
        .join(" | ");
}

inline QStringList lines(const QList<ModelEntry>& rows)
{
    QStringList all;
    for (const ModelEntry& row : rows)
        all.append(line(row));
    all.sort();
    return all;
}

/// Holds what tests of the catalogue share: a new folder for each function.
class CatalogueCase : public QObject
{
protected:
    std::unique_ptr<ModelFolder> m_folder;

    ScanRequest request(Store store, const QString& below) const
    {
        ScanRequest r;
        r.places = {{store, m_folder->path(below)}};
        r.inspect = engine::inspect_model;
        return r;
    }
    QStringList found(Store store, const QString& below) const { return lines(rowsOf(request(store, below))); }
    void begin() { m_folder = std::make_unique<ModelFolder>(); }
};

}  // namespace test_support
