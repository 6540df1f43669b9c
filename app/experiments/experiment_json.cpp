#include "app/experiments/experiment_json.h"

#include "app/text/visible_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace {

constexpr QLatin1String kFormat("spillway-experiment");
constexpr int kVersion = 1;
constexpr qsizetype kLongestText = 1000;
constexpr double kMost = 1e18;  // of any number
constexpr double kMostCores = 1e6;

using Number = std::optional<double> ExperimentRow::*;
constexpr std::array<std::pair<const char*, Number>, 10> kNumbers = {{
    {"tokens_per_s", &ExperimentRow::tokensPerSecond},
    {"slowest_tokens_per_s", &ExperimentRow::slowest},
    {"fastest_tokens_per_s", &ExperimentRow::fastest},
    {"read_ms", &ExperimentRow::readMs},
    {"p99_ms", &ExperimentRow::p99Ms},
    {"device_peak_bytes", &ExperimentRow::deviceBytes},
    {"host_peak_bytes", &ExperimentRow::hostBytes},
    {"expert_cache_bytes", &ExperimentRow::copyBytes},
    {"expert_hits", &ExperimentRow::expertHits},
    {"expert_misses", &ExperimentRow::expertMisses},
}};

/// Reads an object by its keys. A null counts as missing. After a number that cannot be, good() is false and what was
/// read must not be used.
class Reader
{
public:
    explicit Reader(QJsonObject object)
        : m_object(std::move(object))
    {
    }
    std::optional<double> number(const char* key)
    {
        const QJsonValue value = m_object.value(QLatin1String(key));
        if (value.isNull() || value.isUndefined())
            return {};
        const double number = value.toDouble(NAN);
        if (!(number >= 0 && number <= kMost)) {
            m_good = false;
            return {};
        }
        return number;
    }
    int count(const char* key, int least, int most)
    {
        const auto value = number(key);
        if (!value || *value < least || *value > most || *value != std::floor(*value)) {
            m_good = false;
            return least;
        }
        return int(*value);
    }
    /// Returns a text as it is, for paths: they may have characters that are not safe to show.
    QString raw(const char* key) const { return m_object.value(QLatin1String(key)).toString().left(kLongestText); }
    QString text(const char* key) const { return VisibleText::of(raw(key)); }
    QJsonArray array(const char* key, qsizetype most)
    {
        QJsonArray array = m_object.value(QLatin1String(key)).toArray();
        m_good = m_good && array.size() <= most;
        return m_good ? array : QJsonArray();
    }
    QJsonObject object(const char* key) const { return m_object.value(QLatin1String(key)).toObject(); }
    bool flag(const char* key) const { return m_object.value(QLatin1String(key)).toBool(); }
    void spoil() { m_good = false; }
    bool good() const { return m_good; }

private:
    QJsonObject m_object;
    bool m_good = true;
};

QJsonObject toJson(const ExperimentPlan& plan)
{
    QJsonArray models, contexts, strategies, expertsInRam;
    for (const ExperimentModel& model : plan.models)
        models.append(QJsonObject{{QStringLiteral("title"), model.title},
                                  {QStringLiteral("path"), model.path},
                                  {QStringLiteral("shape"), model.shape},
                                  {QStringLiteral("has_experts"), model.hasExperts}});
    for (const bool inRam : plan.expertsInRam)
        expertsInRam.append(inRam);
    for (const int context : plan.contexts)
        contexts.append(context);
    for (const Strategy::Name strategy : plan.strategies)
        strategies.append(strategyKey(strategy));
    return {{QStringLiteral("models"), models},
            {QStringLiteral("contexts"), contexts},
            {QStringLiteral("strategies"), strategies},
            {QStringLiteral("experts_in_ram"), expertsInRam},
            {QStringLiteral("expert_copies"), QJsonArray::fromStringList(plan.expertCopies)},
            {QStringLiteral("repeats"), plan.repeats},
            {QStringLiteral("answer_tokens"), plan.answerTokens},
            {QStringLiteral("device"), plan.device},
            {QStringLiteral("memory"), plan.memory},
            {QStringLiteral("kv_type"), plan.kvType},
            {QStringLiteral("threads"), plan.threads},
            {QStringLiteral("row_minutes"), plan.rowMinutes}};
}

/// Reads the choices about experts. A plan that an earlier version wrote has none and gets the default ones.
void readExperts(Reader& reader, ExperimentPlan& plan)
{
    if (const QJsonArray places = reader.array("experts_in_ram", 2); !places.isEmpty()) {
        plan.expertsInRam.clear();
        for (const auto& entry : places)
            plan.expertsInRam.append(entry.toBool());
    }
    if (const QJsonArray copies = reader.array("expert_copies", ExperimentPlan::kMostCopies); !copies.isEmpty()) {
        plan.expertCopies.clear();
        for (const auto& entry : copies)
            plan.expertCopies.append(VisibleText::of(entry.toString().left(kLongestText)));
    }
}

std::optional<ExperimentPlan> readPlan(const QJsonObject& object)
{
    Reader reader(object);
    ExperimentPlan plan;
    for (const auto& entry : reader.array("models", ExperimentPlan::kMostModels)) {
        const Reader model(entry.toObject());
        plan.models.append({model.text("title"), model.raw("path"), model.text("shape"), model.flag("has_experts")});
    }
    readExperts(reader, plan);
    for (const auto& entry : reader.array("contexts", ExperimentPlan::kMostContexts)) {
        const int tokens = entry.toInt();
        if (tokens < ExperimentPlan::kFewestTokens || tokens > ExperimentPlan::kMostTokens)
            return {};
        plan.contexts.append(tokens);
    }
    for (const auto& entry : reader.array("strategies", kStrategies)) {
        const auto strategy = strategyOf(entry.toString());
        if (!strategy)
            return {};
        plan.strategies.append(*strategy);
    }
    plan.repeats = reader.count("repeats", 1, ExperimentPlan::kMostRepeats);
    plan.answerTokens = reader.count("answer_tokens", 1, ExperimentPlan::kMostTokens);
    plan.device = reader.text("device");
    plan.memory = reader.text("memory");
    plan.kvType = reader.text("kv_type");
    plan.threads = reader.count("threads", 0, 4096);
    plan.rowMinutes = reader.count("row_minutes", 1, ExperimentPlan::kMostMinutes);
    return reader.good() ? std::optional(plan) : std::nullopt;
}

QJsonObject toJson(const ExperimentRow& row)
{
    QJsonObject object{{QStringLiteral("model"), row.cell.model},
                       {QStringLiteral("context_tokens"), row.cell.contextTokens},
                       {QStringLiteral("strategy"), strategyKey(row.cell.strategy)},
                       {QStringLiteral("experts_in_ram"), row.cell.experts.inRam},
                       {QStringLiteral("expert_copies"), row.cell.experts.copies},
                       {QStringLiteral("outcome"), outcomeKey(row.outcome)},
                       {QStringLiteral("sentence"), row.sentence},
                       {QStringLiteral("device"), row.device},
                       {QStringLiteral("seconds"), row.seconds}};
    for (const auto& [key, field] : kNumbers)
        object.insert(QLatin1String(key), row.*field ? QJsonValue(*(row.*field)) : QJsonValue());
    return object;
}

std::optional<ExperimentRow> readRow(const QJsonObject& object)
{
    Reader reader(object);
    ExperimentRow row;
    row.cell.model = reader.count("model", 0, ExperimentPlan::kMostModels);
    row.cell.contextTokens = reader.count("context_tokens", 1, ExperimentPlan::kMostTokens);
    const auto strategy = strategyOf(reader.raw("strategy"));
    row.cell.strategy = strategy.value_or(Strategy::CpuOnly);
    row.cell.experts.inRam = reader.flag("experts_in_ram");
    if (const QString copies = reader.text("expert_copies"); !copies.isEmpty())
        row.cell.experts.copies = copies;
    const QString outcome = reader.raw("outcome");
    int kind = 0;
    while (kind < kOutcomes && outcome != outcomeKey(Outcome::Kind(kind)))
        ++kind;
    if (!strategy || kind == kOutcomes)
        return {};
    row.outcome = Outcome::Kind(kind);
    row.sentence = reader.text("sentence");
    row.device = reader.text("device");
    row.seconds = reader.number("seconds").value_or(0);
    for (const auto& [key, field] : kNumbers)
        row.*field = reader.number(key);
    return reader.good() ? std::optional(row) : std::nullopt;
}

}  // namespace

QByteArray ExperimentJson::write(const ExperimentRun& run)
{
    QJsonArray rows;
    for (const ExperimentRow& row : run.rows)
        rows.append(toJson(row));
    return QJsonDocument(QJsonObject{{QStringLiteral("format"), kFormat},
                                     {QStringLiteral("version"), kVersion},
                                     {QStringLiteral("name"), run.name},
                                     {QStringLiteral("started"), run.started.toString(Qt::ISODateWithMs)},
                                     {QStringLiteral("machine"), run.machine},
                                     {QStringLiteral("cores"), run.cores},
                                     {QStringLiteral("kernels"), run.kernels},
                                     {QStringLiteral("cancelled"), run.cancelled},
                                     {QStringLiteral("plan"), toJson(run.plan)},
                                     {QStringLiteral("rows"), rows}})
        .toJson();
}

std::optional<ExperimentRun> ExperimentJson::read(const QByteArray& json)
{
    if (json.size() > kMostBytes)
        return {};
    Reader reader(QJsonDocument::fromJson(json).object());
    if (reader.raw("format") != kFormat || reader.number("version") != double(kVersion))
        return {};
    const auto plan = readPlan(reader.object("plan"));
    if (!plan)
        return {};
    ExperimentRun run;
    run.name = reader.text("name");
    run.started = QDateTime::fromString(reader.raw("started"), Qt::ISODateWithMs);
    run.machine = reader.text("machine");
    run.cores = int(std::min(reader.number("cores").value_or(0), kMostCores));
    run.kernels = reader.text("kernels");
    run.cancelled = reader.flag("cancelled");
    run.plan = *plan;
    const QList<ExperimentCell> cells = plan->cells();
    for (const auto& entry : reader.array("rows", cells.size())) {
        const auto row = readRow(entry.toObject());
        if (!row || row->cell != cells[run.rows.size()])
            return {};
        run.rows.append(*row);
    }
    return reader.good() ? std::optional(run) : std::nullopt;
}

bool ExperimentJson::takeBench(const QByteArray& json, ExperimentRow& row)
{
    Reader report(QJsonDocument::fromJson(json).object());
    const QJsonArray rows = report.array("rows", 1);
    Reader decode(rows.isEmpty() ? QJsonObject() : rows.first().toObject());
    if (decode.raw("test") != QLatin1String("decode"))
        return false;
    ExperimentRow taken = row;
    taken.device = report.text("device");
    taken.tokensPerSecond = decode.number("tok_s_median");
    taken.slowest = decode.number("tok_s_min");
    taken.fastest = decode.number("tok_s_max");
    taken.readMs = decode.number("depth_ms");
    taken.p99Ms = decode.number("p99_ms");
    taken.deviceBytes = decode.number("device_peak_bytes");
    taken.hostBytes = decode.number("host_peak_bytes");
    taken.copyBytes = decode.number("expert_cache_bytes");
    taken.expertHits = decode.number("expert_hits");
    taken.expertMisses = decode.number("expert_misses");
    if (!report.good() || !decode.good() || !taken.tokensPerSecond || *taken.tokensPerSecond <= 0 || !taken.p99Ms)
        return false;
    row = taken;
    return true;
}
