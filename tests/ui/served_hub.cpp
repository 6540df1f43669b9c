#include "tests/ui/served_hub.h"

#include "tests/support/net/model_hub.h"

#include <QFile>

namespace {

std::string bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll().toStdString() : std::string();
}

class HubOfThisMachine : public ServedHub
{
public:
    explicit HubOfThisMachine(const QString& cache)
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "HF_HUB_CACHE",
                                 "HF_TOKEN", "HF_TOKEN_PATH"})
            qunsetenv(name);
        qputenv("HF_ENDPOINT", m_hub.url().c_str());
        qputenv("HF_HOME", cache.toUtf8());
    }

    void answerWith(int status) override { m_hub.status = status; }
    void slowDown(int answerMs, int pieceMs) override
    {
        m_hub.answer_pause_ms = answerMs;
        m_hub.pause_ms = pieceMs;
    }
    int requests() const override { return int(m_hub.server().requests().size()); }

private:
    std::vector<support::HubModel> models() const
    {
        std::vector<support::HubModel> models;
        models.push_back({"org/tiny",
                          {{"tiny-Q4_K_M.gguf", &m_model},
                           {"tiny-Q8_0.gguf", &m_large},
                           {"mmproj-F16.gguf", &m_model},
                           {"MTP-tiny.gguf", &m_model}},
                          "---\nlicense: mit\n---\n# Tiny\n\nIt talks little.\n",
                          "mit",
                          123456});
        models.push_back({"Qwen/Qwen3-0.6B-GGUF", {{"first-Q8_0.gguf", &m_model}}, {}, "apache-2.0", 99});
        models.push_back({"org/closed", {{"closed-Q8_0.gguf", &m_model}}, {}, {}, 5, true});
        for (int i = 0; i < 35; ++i)
            models.push_back({"org/more-" + std::to_string(i), {{"more-Q4_0.gguf", &m_model}}, {}, {}, 3});
        return models;
    }

    const std::string m_model = bytesOf(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/models/llama.gguf"));
    const std::string m_large = m_model + std::string(3 << 20, 'x');
    support::ModelHub m_hub{models()};
};

}  // namespace

std::unique_ptr<ServedHub> serveHub(const QString& cache)
{
    return std::make_unique<HubOfThisMachine>(cache);
}
