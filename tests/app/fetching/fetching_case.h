// Runs a hub on this machine with a few models, and holds what the window finds and fetches from it.
#pragma once

#include "app/fetching/fetching.h"
#include "app/settings/settings_controller.h"
#include "tests/support/fake_secret_store.h"
#include "tests/support/models.h"
#include "tests/support/net/model_hub.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <memory>

namespace test_support {

inline QByteArray bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

/// One profile on one hub. What is fetched lies in a temporary folder.
class FetchingCase
{
public:
    FetchingCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "HF_HUB_CACHE",
                                 "HF_TOKEN", "HF_TOKEN_PATH"})
            qunsetenv(name);
        const support::HubModel tiny{"org/tiny",
                                     {{"tiny-Q4_K_M.gguf", &m_model},
                                      {"tiny-F16.gguf", &m_model},
                                      {"sub/tiny-Q8_0.gguf", &m_large},
                                      {"mmproj-F16.gguf", &m_other}},
                                     "---\nlicense: mit\n---\n# Tiny\n\nIt *talks* <b>little</b>.\n",
                                     "mit",
                                     1000};
        std::vector<support::HubModel> models{tiny};
        models.push_back({"org/closed", {{"closed-Q4_K_M.gguf", &m_model}}, {}, {}, 10, true});
        models.push_back({"org/empty", {{"notes.txt", &m_other}}, {}, {}, 5});
        models.push_back({"org/strange", {{"strange-Q4_0.gguf", &m_other}}, {}, {}, 4});
        models.push_back({"org/foreign", {{"foreign-Q4_0.gguf", &m_foreign}}, {}, {}, 4});
        models.push_back({"org/split",
                          {{"split-Q4_0-00001-of-00002.gguf", &m_model}, {"split-Q4_0-00002-of-00002.gguf", &m_large}},
                          {},
                          {},
                          4});
        models.push_back({"org/seeing",
                          {{"seeing-Q4_0-00001-of-00002.gguf", &m_model},
                           {"seeing-Q4_0-00002-of-00002.gguf", &m_foreign},
                           {"seeing-Q8_0.gguf", &m_model},
                           {"mmproj-a-F16.gguf", &m_other},
                           {"mmproj-b-F16.gguf", &m_large}},
                          {},
                          {},
                          4});
        for (int i = 0; i < 5; ++i)
            models.push_back({"org/more-" + std::to_string(i), {{"more-Q4_0.gguf", &m_model}}, {}, {}, 3});
        hub = std::make_unique<support::ModelHub>(models);
        qputenv("HF_ENDPOINT", hub->url().c_str());
        qputenv("HF_HOME", folder.filePath("hf").toUtf8());
        settings = std::make_unique<SettingsController>(folder.filePath("spillway.ini"));
    }

    /// Starts the program, once more.
    void start()
    {
        fetching.reset();
        fetching = std::make_unique<Fetching>(
            Fetching::World{.source = hubSource(std::filesystem::path(folder.path().toStdU16String()), store),
                            .permission = settings->findModels(),
                            .megabytesPerS = settings->fetchMegabytesPerS(),
                            .folder = [this] { return settings->fetchFolder(); },
                            .listFile = folder.filePath("data/fetches.json"),
                            .request = [] { return engine::LoadRequest(); },
                            .memory =
                                [this] {
                                    return engine::MachineMemory{std::int64_t(16e9), availableBytes};
                                },
                            .machine = machine});
    }
    void startAllowed()
    {
        settings->findModels()->setValue(1);
        start();
    }
    QString host() const { return QString("127.0.0.1:%1").arg(hub->server().port()); }
    QVariant value(const QAbstractItemModel& model, int row, int role) const { return model.index(row, 0).data(role); }
    Fetch::State state(int row = 0) const
    {
        return Fetch::State(value(*fetching->queue(), row, FetchQueue::StateRole).toInt());
    }
    double done(int row = 0) const { return value(*fetching->queue(), row, FetchQueue::DoneBytesRole).toDouble(); }
    QString inCache(const QString& file) const
    {
        return folder.filePath("hf/hub/models--org--tiny/snapshots/" +
                               QString::fromStdString(support::ModelHub::commit()) + '/' + file);
    }
    /// Files that are not whole yet.
    QStringList leftovers() const
    {
        return QDir(folder.filePath("hf/hub/models--org--tiny/blobs")).entryList({"*.spillway-part*"}, QDir::Files);
    }

    std::int64_t availableBytes = std::int64_t(8e9);
    ThisMachine machine;
    const std::string m_model = bytesOf(own_models_folder() + "/llama.gguf").toStdString();
    const std::string m_large = m_model + std::string(3 << 20, 'x');  // a model with something behind it
    const std::string m_other = "no model at all";
    const std::string m_foreign = [this] {
        std::string model = m_model;  // in its own words it is of another architecture, of a name as long
        for (std::size_t at = 0; (at = model.find("llama", at)) != std::string::npos;)
            model.replace(at, 5, "stran");
        return model;
    }();
    QTemporaryDir folder;
    std::shared_ptr<support::FakeSecretStore> store;  // null: this system has none
    std::unique_ptr<support::ModelHub> hub;
    std::unique_ptr<SettingsController> settings;
    std::unique_ptr<Fetching> fetching;
};

}  // namespace test_support
