#include "app/catalogue/header_cache.h"

#include "app/system/profile_folders.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>

#include <algorithm>

namespace {

using engine::ModelInfo;

// To be raised when what is kept of a header changes. The program's version is compared as well: another version may be
// able to run more models.
constexpr int kForm = 4;
constexpr qint64 kLargestFile = 64 << 20;

QString text(const std::string& value)
{
    return QString::fromStdString(value);
}

struct Number {
    const char* key;
    std::int64_t ModelInfo::*member;
};
constexpr Number kNumbers[] = {{"parameters", &ModelInfo::parameters},
                               {"fileBytes", &ModelInfo::file_bytes},
                               {"weightBytes", &ModelInfo::weight_bytes},
                               {"kvBytes", &ModelInfo::kv_bytes_per_token_f16}};
struct Count {
    const char* key;
    int ModelInfo::*member;
};
constexpr Count kCounts[] = {{"splitFiles", &ModelInfo::split_files},
                             {"context", &ModelInfo::context_tokens},
                             {"layers", &ModelInfo::layers},
                             {"dim", &ModelInfo::embedding_length},
                             {"heads", &ModelInfo::heads},
                             {"kvHeads", &ModelInfo::kv_heads},
                             {"vocabulary", &ModelInfo::vocabulary},
                             {"experts", &ModelInfo::experts},
                             {"expertsUsed", &ModelInfo::experts_used}};
struct Text {
    const char* key;
    std::string ModelInfo::*member;
};
constexpr Text kTexts[] = {{"name", &ModelInfo::name},
                           {"type", &ModelInfo::type},
                           {"architecture", &ModelInfo::architecture},
                           {"quantization", &ModelInfo::quantization},
                           {"tokenizer", &ModelInfo::tokenizer},
                           {"license", &ModelInfo::license},
                           {"obstacle", &ModelInfo::obstacle}};
struct Shape {
    const char* key;
    std::int64_t engine::MemoryShape::*member;
};
constexpr Shape kShape[] = {{"kvHeadsOfAll", &engine::MemoryShape::kv_heads},
                            {"keyNumbers", &engine::MemoryShape::key_numbers},
                            {"valueNumbers", &engine::MemoryShape::value_numbers},
                            {"stateBytes", &engine::MemoryShape::state_bytes},
                            {"mtpWeightBytes", &engine::MemoryShape::mtp_weight_bytes},
                            {"mtpNumbers", &engine::MemoryShape::mtp_numbers},
                            {"scratchPerRow", &engine::MemoryShape::scratch_bytes_per_row},
                            {"scratchFixed", &engine::MemoryShape::scratch_bytes_fixed}};
struct LayerCount {
    const char* key;
    int engine::MemoryShape::*member;
};
constexpr LayerCount kLayerCounts[] = {{"recurrentLayers", &engine::MemoryShape::recurrent_layers},
                                       {"kvLayers", &engine::MemoryShape::kv_layers},
                                       {"kvAndStateLayers", &engine::MemoryShape::kv_and_state_layers}};

QJsonObject toJson(const ModelInfo& info)
{
    QJsonObject json;
    json[QLatin1String("path")] = QString::fromStdU16String(info.path.u16string());
    for (const auto& [key, member] : kNumbers)
        json[QLatin1String(key)] = qint64(info.*member);
    for (const auto& [key, member] : kCounts)
        json[QLatin1String(key)] = info.*member;
    for (const auto& [key, member] : kTexts)
        json[QLatin1String(key)] = text(info.*member);
    for (const auto& [key, member] : kShape)
        json[QLatin1String(key)] = qint64(info.memory.*member);
    for (const auto& [key, member] : kLayerCounts)
        json[QLatin1String(key)] = info.memory.*member;
    json[QLatin1String("template")] = info.has_chat_template;
    json[QLatin1String("embeds")] = info.embeds;
    QJsonArray warnings;
    for (const std::string& warning : info.warnings)
        warnings.append(text(warning));
    json[QLatin1String("warnings")] = warnings;
    return json;
}

ModelInfo fromJson(const QJsonObject& json)
{
    ModelInfo info;
    info.path = json[QLatin1String("path")].toString().toStdU16String();
    for (const auto& [key, member] : kNumbers)
        info.*member = std::max<qint64>(0, json[QLatin1String(key)].toInteger());
    for (const auto& [key, member] : kCounts)
        info.*member = std::max(0, json[QLatin1String(key)].toInt());
    for (const auto& [key, member] : kTexts)
        info.*member = json[QLatin1String(key)].toString().toStdString();
    for (const auto& [key, member] : kShape)
        info.memory.*member = std::max<qint64>(0, json[QLatin1String(key)].toInteger());
    for (const auto& [key, member] : kLayerCounts)
        info.memory.*member = std::max(0, json[QLatin1String(key)].toInt());
    info.has_chat_template = json[QLatin1String("template")].toBool();
    info.embeds = json[QLatin1String("embeds")].toBool();
    for (const auto& warning : json[QLatin1String("warnings")].toArray())
        info.warnings.push_back(warning.toString().toStdString());
    info.runnable = info.obstacle.empty();
    return info;
}

QString formOfThisProgram()
{
    return QStringLiteral("%1/%2").arg(kForm).arg(QLatin1String(SPILLWAY_VERSION));
}

}  // namespace

HeaderCache::HeaderCache(QString file)
    : m_file(std::move(file))
{
    QFile kept(m_file);
    if (m_file.isEmpty() || !kept.open(QFile::ReadOnly) || kept.size() > kLargestFile)
        return;
    const QJsonObject json = QJsonDocument::fromJson(kept.readAll()).object();
    if (json[QLatin1String("form")].toString() != formOfThisProgram())
        return;
    const QJsonObject headers = json[QLatin1String("headers")].toObject();
    for (auto header = headers.begin(); header != headers.end(); ++header)
        m_old.insert(header.key(), header.value().toObject());
}

std::optional<HeaderCache::Header> HeaderCache::find(const QString& path, const QString& stamp)
{
    const auto kept = m_old.constFind(path);
    if (kept == m_old.constEnd() || (*kept)[QLatin1String("stamp")].toString() != stamp)
        return {};
    m_used.insert(path, *kept);
    if (const QString error = (*kept)[QLatin1String("error")].toString(); !error.isEmpty())
        return engine::fail(engine::Error::Code::BadFile, error.toStdString());
    return fromJson(*kept);
}

void HeaderCache::keep(const QString& path, const QString& stamp, const Header& header)
{
    QJsonObject json;
    if (header)
        json = toJson(*header);
    else if (header.error().code == engine::Error::Code::BadFile)
        json[QLatin1String("error")] = text(header.error().what);
    else
        return;  // not the file's fault: the next time it may be readable
    json[QLatin1String("stamp")] = stamp;
    m_used.insert(path, json);
    m_changed = true;
}

void HeaderCache::save(Rest rest) const
{
    if (m_file.isEmpty() || (!m_changed && (rest == Rest::Keep || m_used.size() == m_old.size())))
        return;
    ProfileFolders::make(QFileInfo(m_file).path());
    QSaveFile file(m_file);
    if (!file.open(QFile::WriteOnly))
        return;
    QJsonObject headers;
    if (rest == Rest::Keep)
        for (auto header = m_old.begin(); header != m_old.end(); ++header)
            headers[header.key()] = header.value();
    for (auto header = m_used.begin(); header != m_used.end(); ++header)
        headers[header.key()] = header.value();
    file.write(QJsonDocument({{QLatin1String("form"), formOfThisProgram()}, {QLatin1String("headers"), headers}})
                   .toJson(QJsonDocument::Compact));
    file.commit();
}
