#include "app/catalogue/model_facts.h"

#include "app/system/remote_path.h"
#include "app/text/engine_words.h"
#include "app/text/visible_text.h"
#include "app/worker/error_sentence.h"
#include "engine/memory_plan.h"

#include <QRegularExpression>

#include <algorithm>

namespace {

// A file may call itself anything, at any length.
constexpr qsizetype kLongestName = 120;
constexpr QLatin1String kGguf(".gguf");

QString fromFile(const std::string& text)
{
    QString visible = VisibleText::of(QString::fromStdString(text)).simplified();
    if (visible.size() > kLongestName)
        visible = visible.left(kLongestName) + QStringLiteral("…");
    return visible;
}

/// Returns the name of a server's model by its id. Some servers use the path of the model's file as its id: then the
/// name is the file's, as for files here. An id such as "org/model" is not a path.
QString nameOfId(const QString& id)
{
    static const QRegularExpression root(QStringLiteral(R"(^(/|~|\.|\\\\|[A-Za-z]:[/\\]))")),
        separator(QStringLiteral(R"([/\\])"));
    const bool isFile = id.endsWith(kGguf, Qt::CaseInsensitive);
    if (!isFile && !id.contains(root))
        return id;
    QString name = id.section(separator, -1, -1, QString::SectionSkipEmpty);
    if (isFile)
        name.chop(kGguf.size());
    return name.isEmpty() ? id : name;
}

}  // namespace

ModelFacts::ModelFacts(const engine::ModelInfo& info)
    : name(fromFile(info.name))
    , path(QString::fromStdU16String(info.path.u16string()))
    , fileName(VisibleText::of(QString::fromStdU16String(info.path.filename().u16string())))
    , architecture(fromFile(info.architecture))
    , quantization(fromFile(info.quantization))
    , parameters(double(info.parameters))
    , fileBytes(double(info.file_bytes))
    , splitFiles(info.split_files)
    , contextTokens(info.context_tokens)
    , contextInUse(info.context_in_use)
    , device(QString::fromStdString(info.device))
    , layers(info.layers)
    , experts(info.experts)
    , expertsUsed(info.experts_used)
    , kvBytesPerToken(double(info.kv_bytes_per_token_f16))
    , hasChatTemplate(info.has_chat_template)
    , license(fromFile(info.license))
    , runnable(info.runnable)
    , obstacle(errorSentence({engine::Error::Code::Unsupported, info.obstacle}))
{
    // Some files call themselves after their architecture, which tells nobody anything.
    if (name.isEmpty() || name == architecture)
        name = VisibleText::of(QString::fromStdU16String(info.path.stem().u16string()));
    if (isElsewhere(path)) {
        server = VisibleText::of(hostOf(path));
        fileName = VisibleText::of(idElsewhere(path));
        name = nameOfId(name);
    }
    for (const std::string& warning : info.warnings)
        warnings.append(asSentence(QString::fromStdString(warning)));
}

void ModelFacts::plan(const engine::ModelInfo& info, const engine::LoadRequest& request,
                      const engine::MachineMemory& memory)
{
    contextToLoad = request.context_tokens > 0 ? request.context_tokens : info.context_tokens;
    if (request.context_tokens == 0)
        if (const int fits = engine::fit_in_memory(info, request, memory).largest_context; fits > 0)
            contextToLoad = std::min(contextToLoad, fits);
    if (!info.runnable)
        contextToLoad = 0;
    engine::LoadRequest page = request;
    page.context_tokens = page.kv_block_tokens;
    m_kvBytesPerToken = double(engine::memory_need(info, page).kv_bytes) / page.kv_block_tokens;
    m_stateBytes = contextToLoad > 0 ? double(engine::memory_need(info, request).state_bytes) : 0;
}

#include "moc_model_facts.cpp"
