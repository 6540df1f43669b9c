// Makes a small KV cache and files of it, for tests of what is saved.
#pragma once

#include "engine/kv/saved_kv_store.h"

#include <QFile>
#include <QString>
#include <QTemporaryDir>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

namespace test_support {

constexpr int kBlockTokens = 32;

inline std::vector<engine::KvLayerShape> saved_layers(kernels::KvType type = kernels::KvType::F16, int layers = 3,
                                                      int kv_heads = 2)
{
    return std::vector<engine::KvLayerShape>(std::size_t(layers), {kv_heads, {type, type, 8, 12, kBlockTokens}, 0});
}

inline std::shared_ptr<const engine::SavedKvFormat> saved_format(kernels::KvType type = kernels::KvType::F16,
                                                                 std::uint64_t model = 77, int layers = 3,
                                                                 int kv_heads = 2)
{
    return std::make_shared<const engine::SavedKvFormat>(model, saved_layers(type, layers, kv_heads));
}

/// Random ids and blocks of one conversation; a longer one of the same seed begins like a shorter one.
struct MadeKv {
    std::vector<int> ids;
    std::vector<std::vector<std::byte>> memory;  // (pages * layers,)
    engine::SavedReplies replies;

    MadeKv(int tokens, unsigned seed, kernels::KvType type = kernels::KvType::F16)
    {
        std::mt19937 random(seed);
        for (int i = 0; i < tokens; ++i)
            ids.push_back(int(random() % 1000));
        random.seed(seed + 1);
        const auto layers = saved_layers(type);
        const int pages = (tokens + kBlockTokens - 1) / kBlockTokens;
        for (int i = 0; i < pages * int(layers.size()); ++i) {
            memory.emplace_back(layers.front().bytes());
            for (std::byte& byte : memory.back())
                byte = std::byte(random());
        }
        if (tokens >= 6)
            replies = {{ids.begin() + 2, ids.begin() + 6}, {1, 2, 3}};
    }
    std::vector<const std::byte*> blocks() const
    {
        std::vector<const std::byte*> all;
        for (const auto& block : memory)
            all.push_back(block.data());
        return all;
    }
    engine::SavedKvJob job(const std::string& name, std::shared_ptr<const engine::SavedKvFormat> format) const
    {
        engine::SavedKvJob job;
        job.conversation = name;
        job.format = std::move(format);
        job.ids = ids;
        job.blocks = blocks();
        job.replies = replies;
        return job;
    }
    /// Writes the file; returns why that failed, or an empty sentence. `bytes`: how many were written.
    std::string write(const std::filesystem::path& path, const std::shared_ptr<const engine::SavedKvFormat>& format,
                      std::int64_t* bytes = nullptr) const
    {
        auto writer = engine::SavedKvWriter::open(path, format, ids);
        if (!writer)
            return writer.error().what;
        const auto all = blocks();
        const auto layers = std::size_t(format->num_layers());
        while (writer->has_next())
            if (const auto ok =
                    writer->write_page(std::span(all).subspan(std::size_t(writer->next_page()) * layers, layers));
                !ok)
                return ok.error().what;
        auto ok = writer->finish(replies);
        if (ok)
            ok = writer->sync([] { return true; });
        if (bytes)
            *bytes = writer->bytes_written();
        return ok ? "" : ok.error().what;
    }
};

/// Holds what a reader gave for a prompt.
struct ReadKv {
    engine::SavedKvMiss miss = engine::SavedKvMiss::None;  // opening it failed
    std::vector<int> ids;
    std::vector<std::vector<std::byte>> memory;  // (pages * layers,)
    engine::SavedReplies replies;
    bool damaged = false;
};

inline ReadKv read_kv(const std::filesystem::path& path, const std::shared_ptr<const engine::SavedKvFormat>& format,
                      std::span<const int> prompt)
{
    ReadKv out;
    auto reader = engine::SavedKvReader::open(path, format);
    if (!reader) {
        out.miss = reader.error();
        return out;
    }
    out.replies = reader->replies();
    while (out.ids.size() < prompt.size()) {
        const auto rest = prompt.subspan(out.ids.size());
        const int matches = reader->next_matches(rest);
        if (matches == 0)
            break;
        std::vector<std::byte*> blocks;
        std::vector<std::vector<std::byte>> page(std::size_t(format->num_layers()));
        for (auto& block : page) {
            block.resize(saved_layers(kernels::KvType::F32).front().bytes());  // room for any format
            blocks.push_back(block.data());
        }
        if (!reader->read_page(blocks)) {
            out.damaged = true;
            break;
        }
        std::ranges::move(page, std::back_inserter(out.memory));
        out.ids.insert(out.ids.end(), rest.begin(), rest.begin() + matches);
    }
    return out;
}

inline QByteArray contents(const std::filesystem::path& path)
{
    QFile file(QString::fromStdString(path.string()));
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

inline void put(const std::filesystem::path& path, const QByteArray& bytes)
{
    QFile file(QString::fromStdString(path.string()));
    if (!file.open(QFile::WriteOnly | QFile::Truncate) || file.write(bytes) != bytes.size())
        qFatal("cannot write a test's file");
}

}  // namespace test_support
