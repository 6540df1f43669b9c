// Holds attachments with all they need, for tests.
#pragma once

#include "app/attachments/attachment_model.h"
#include "tests/support/fake_engine.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QTemporaryDir>
#include <QUrl>

#include <filesystem>
#include <memory>

namespace test_support {

inline constexpr auto kSoon = 10'000;  // ms; the machine may be busy

/// An engine that counts words as tokens, and a folder for copies.
struct Room {
    QTemporaryDir files;
    QTemporaryDir kept;
    std::shared_ptr<FakeScript> script = std::make_shared<FakeScript>();
    EngineThread engine{[this] { return std::make_unique<FakeEngine>(script); }};
    TokenCounter counter{engine};
    AttachmentModel model;
    QAbstractItemModelTester tester{&model};

    explicit Room(const ReadLimits& limits = {})
        : model(counter, kept.path(), limits)
    {
    }
    void load() { engine.load(1, {.model = "/tiny.gguf"}, {}); }
    QUrl write(const QString& name, const QByteArray& bytes) const
    {
        QFile file(files.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write a test's file");
        return QUrl::fromLocalFile(file.fileName());
    }
    QVariant at(int row, AttachmentModel::Role role) const { return model.data(model.index(row), role); }
    QStringList copies() const
    {
        QStringList names;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(kept.path().toStdString()))
            if (entry.is_regular_file())
                names << QString::fromStdString(entry.path().filename().string());
        return names;
    }
};

}  // namespace test_support
