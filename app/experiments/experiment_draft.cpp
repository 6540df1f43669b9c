#include "app/experiments/experiment_draft.h"

#include "app/text/visible_text.h"
#include "engine/placement_text.h"
#include "engine/shape_model.h"

#include <QRegularExpression>

#include <algorithm>

namespace {

constexpr int kContexts[] = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
constexpr qsizetype kLongestShown = 24;  // characters of what was typed, in a sentence
constexpr int kUsualRoom = 1024;         // tokens beside the model, on an emulated device

QString keyOf(const ExperimentModel& model)
{
    return model.path.isEmpty() ? QStringLiteral("shape:") + model.shape : model.path;
}

/// Returns the device's memory as the command line has given it.
QString memoryOf(const engine::PlacementOptions& placement)
{
    using Device = engine::PlacementOptions::Device;
    const bool cuda = placement.device == Device::Cuda;
    const std::int64_t bytes = cuda ? placement.vram_budget_bytes : placement.emulated.vram_bytes;
    const int fit = cuda ? placement.budget_fit_tokens : placement.emulated.fit_tokens;
    if (bytes > 0)
        return bytes % (1 << 20) == 0 ? QStringLiteral("%1MiB").arg(bytes >> 20) : QString::number(bytes);
    if (fit > 0)
        return QStringLiteral("fit:%1").arg(fit);
    return cuda ? QString() : QStringLiteral("fit:%1").arg(kUsualRoom);
}

/// Returns the tokens of "3000", "12K" or "1M"; a K is 1024 tokens. Negative: it is no number. A number that is too
/// large becomes one that is above every bound.
qint64 tokensIn(const QString& word)
{
    static const QRegularExpression form(QStringLiteral("^([0-9]+)([kKmM]?)$"));
    const QRegularExpressionMatch match = form.match(word);
    if (!match.hasMatch())
        return -1;
    constexpr qsizetype kLongest = 9;  // digits
    const qint64 number =
        match.capturedView(1).size() > kLongest ? ExperimentPlan::kMostTokens + 1 : match.capturedView(1).toLongLong();
    const QString unit = match.captured(2).toUpper();
    return number << (unit == QLatin1String("K") ? 10 : unit == QLatin1String("M") ? 20 : 0);
}

/// Says whether the word is a size for copies of experts, such as "2GiB".
bool isRoomForCopies(const QString& word)
{
    engine::PlacementText text;
    text.expert_cache = word.toStdString();
    const auto placement = engine::parse_placement(text);
    return placement && placement->expert_cache_bytes.value_or(0) > 0;
}

QStringList strings(const std::vector<std::string>& names)
{
    QStringList list;
    for (const std::string& name : names)
        list.append(QString::fromStdString(name));
    return list;
}

}  // namespace

ExperimentDraft::ExperimentDraft(const engine::PlacementOptions& placement, QObject* parent)
    : QObject(parent)
{
    // The first context fits into the usual room and the others do not, so that the run shows what happens to speed.
    m_plan.contexts = {kUsualRoom, 2 * kUsualRoom, 4 * kUsualRoom};
    m_plan.strategies = {Strategy::CpuOnly, Strategy::Resident, Strategy::Stream, Strategy::Merge, Strategy::Auto};
    m_plan.memory = memoryOf(placement);
    m_deviceIds = {QStringLiteral("emulated")};
    m_deviceNames = {tr("Emulated, in RAM")};
    if (placement.device == engine::PlacementOptions::Device::Cuda) {
        addDevice(QStringLiteral("cuda:%1").arg(placement.cuda_ordinal), tr("GPU %1").arg(placement.cuda_ordinal));
        m_device = 1;
    }
}

template <class T>
void ExperimentDraft::set(T& value, T wanted)
{
    if (value == wanted)
        return;
    value = std::move(wanted);
    Q_EMIT changed();
}

QList<ExperimentChoice> ExperimentDraft::models() const
{
    QList<ExperimentChoice> choices;
    for (const Candidate& candidate : m_files + m_shapes) {
        ExperimentChoice choice;
        choice.title = candidate.model.title;
        choice.detail = candidate.detail;
        choice.chosen = m_chosen.contains(keyOf(candidate.model));
        choices.append(choice);
    }
    return choices;
}

QStringList ExperimentDraft::shapes() const
{
    return strings(engine::shape_names());
}

QStringList ExperimentDraft::quantisations() const
{
    return strings(engine::shape_quantisations());
}

QList<int> ExperimentDraft::contexts() const
{
    QList<int> offered(std::begin(kContexts), std::end(kContexts));
    offered += m_ownContexts;
    std::sort(offered.begin(), offered.end());
    return offered;
}

QStringList ExperimentDraft::strategies() const
{
    QStringList names;
    for (int i = 0; i < kStrategies; ++i)
        names.append(strategyName(Strategy::Name(i)));
    return names;
}

QList<int> ExperimentDraft::chosenStrategies() const
{
    QList<int> chosen;
    for (const Strategy::Name strategy : m_plan.strategies)
        chosen.append(int(strategy));
    return chosen;
}

void ExperimentDraft::setDevice(int device)
{
    if (device >= 0 && device < m_deviceIds.size())
        set(m_device, device);
}

void ExperimentDraft::setMemory(const QString& memory)
{
    set(m_plan.memory, memory.trimmed());
}

bool ExperimentDraft::memoryIsSound() const
{
    if (m_plan.memory.isEmpty())
        return !emulated();  // an emulated device needs a size, a GPU has one
    engine::PlacementText text;
    text.device = "emulated";
    text.vram = m_plan.memory.toStdString();
    return engine::parse_placement(text).has_value();
}

void ExperimentDraft::setRepeats(int repeats)
{
    set(m_plan.repeats, std::clamp(repeats, 1, ExperimentPlan::kMostRepeats));
}

void ExperimentDraft::setAnswerTokens(int tokens)
{
    set(m_plan.answerTokens, std::clamp(tokens, 1, ExperimentPlan::kMostTokens));
}

void ExperimentDraft::setRowMinutes(int minutes)
{
    set(m_plan.rowMinutes, std::clamp(minutes, 1, ExperimentPlan::kMostMinutes));
}

QString ExperimentDraft::obstacle() const
{
    const ExperimentPlan plan = this->plan();
    if (plan.models.isEmpty())
        return tr("Choose a model.");
    if (plan.models.size() > ExperimentPlan::kMostModels)
        return tr("Choose %1 models at most.").arg(ExperimentPlan::kMostModels);
    if (plan.contexts.isEmpty())
        return tr("Choose a context.");
    if (plan.contexts.size() > ExperimentPlan::kMostContexts)
        return tr("Choose %1 contexts at most.").arg(ExperimentPlan::kMostContexts);
    if (plan.strategies.isEmpty())
        return tr("Choose a strategy.");
    if (plan.hasExperts() && plan.expertsInRam.isEmpty())
        return tr("Choose where experts lie.");
    if (plan.hasExperts() && plan.expertCopies.isEmpty())
        return tr("Choose what room experts have for copies.");
    if (!memoryIsSound())
        return tr("“%1” is no size of a memory: 64MiB, 2GB, or fit:1024 for that many tokens beside the model.")
            .arg(m_plan.memory);
    return {};
}

void ExperimentDraft::toggleModel(int index)
{
    const QList<Candidate> all = m_files + m_shapes;
    if (index < 0 || index >= all.size())
        return;
    const QString key = keyOf(all[index].model);
    if (m_chosen.removeAll(key) == 0)
        m_chosen.append(key);
    Q_EMIT modelsChanged();
    Q_EMIT changed();
}

void ExperimentDraft::toggleContext(int tokens)
{
    QList<int> contexts = m_plan.contexts;
    if (contexts.removeAll(tokens) == 0 && this->contexts().contains(tokens))
        contexts.append(tokens);
    std::sort(contexts.begin(), contexts.end());
    set(m_plan.contexts, contexts);
}

QString ExperimentDraft::addContexts(const QString& text)
{
    static const QRegularExpression spacedUnit(QStringLiteral("(?<=[0-9])\\s+(?=[kKmM](?![0-9A-Za-z]))"));
    static const QRegularExpression between(QStringLiteral("[\\s,;]+"));
    const QStringList words = QString(text).remove(spacedUnit).split(between, Qt::SkipEmptyParts);
    if (words.isEmpty())
        return tr("Type how many tokens: 3000, or 12K.");
    QList<int> offered = contexts(), chosen = m_plan.contexts, own = m_ownContexts;
    for (const QString& word : words) {
        const QString shown = VisibleText::of(word.left(kLongestShown));
        const qint64 tokens = tokensIn(word);
        if (tokens < 0)
            return tr("“%1” is no number of tokens: type 3000, or 12K.").arg(shown);
        if (tokens < ExperimentPlan::kFewestTokens)
            return tr("“%1” is too small: a context has %2 tokens at least.")
                .arg(shown)
                .arg(ExperimentPlan::kFewestTokens);
        if (tokens > ExperimentPlan::kMostTokens)
            return tr("“%1” is too large: a context has %2K tokens at most.")
                .arg(shown)
                .arg(ExperimentPlan::kMostTokens / 1024);
        if (!offered.contains(int(tokens))) {
            offered.append(int(tokens));
            own.append(int(tokens));
        }
        if (!chosen.contains(int(tokens)))
            chosen.append(int(tokens));
    }
    if (chosen.size() > ExperimentPlan::kMostContexts)
        return tr("Those are too many: choose %1 contexts at most.").arg(ExperimentPlan::kMostContexts);
    if (own.size() > ExperimentPlan::kMostContexts)
        own.removeIf([&](int tokens) { return !chosen.contains(tokens); });
    std::sort(chosen.begin(), chosen.end());
    m_ownContexts = own;
    m_plan.contexts = chosen;
    Q_EMIT changed();
    return {};
}

void ExperimentDraft::toggleStrategy(int strategy)
{
    if (strategy < 0 || strategy >= kStrategies)
        return;
    QList<Strategy::Name> strategies = m_plan.strategies;
    if (strategies.removeAll(Strategy::Name(strategy)) == 0)
        strategies.append(Strategy::Name(strategy));
    std::sort(strategies.begin(), strategies.end());
    set(m_plan.strategies, strategies);
}

QStringList ExperimentDraft::expertCopies() const
{
    return QStringList{ExpertChoice::kNoCopies, ExpertChoice::kAutomatic} + m_ownCopies;
}

void ExperimentDraft::toggleExpertsInRam(bool inRam)
{
    QList<bool> places = m_plan.expertsInRam;
    if (places.removeAll(inRam) == 0)
        places.append(inRam);
    std::sort(places.begin(), places.end());
    set(m_plan.expertsInRam, places);
}

void ExperimentDraft::toggleExpertCopies(const QString& copies)
{
    QStringList chosen;  // in the order in which they are offered
    for (const QString& offered : expertCopies())
        if (m_plan.expertCopies.contains(offered) != (offered == copies))
            chosen.append(offered);
    set(m_plan.expertCopies, chosen);
}

QString ExperimentDraft::addExpertCopies(const QString& text)
{
    static const QRegularExpression spacedUnit(QStringLiteral("(?<=[0-9])\\s+(?=[kKmMgGtT]i?[bB])"));
    static const QRegularExpression between(QStringLiteral("[\\s,;]+"));
    const QStringList words = QString(text).remove(spacedUnit).split(between, Qt::SkipEmptyParts);
    if (words.isEmpty())
        return tr("Type how much memory: 512MiB, or 2GiB.");
    QStringList own = m_ownCopies;
    for (const QString& word : words) {
        if (!isRoomForCopies(word))
            return tr("“%1” is no size of a memory: type 512MiB, or 2GiB.")
                .arg(VisibleText::of(word.left(kLongestShown)));
        if (!own.contains(word))
            own.append(word);
    }
    if (own.size() + 2 > ExperimentPlan::kMostCopies)
        return tr("Those are too many: type %1 sizes at most.").arg(ExperimentPlan::kMostCopies - 2);
    m_ownCopies = own;
    for (const QString& word : words)
        if (!m_plan.expertCopies.contains(word))
            m_plan.expertCopies.append(word);
    Q_EMIT changed();
    return {};
}

void ExperimentDraft::addShape(int shape, int quantisation)
{
    const QString name = shapes().value(shape), quant = quantisations().value(quantisation);
    if (name.isEmpty() || quant.isEmpty())
        return;
    Candidate candidate{{QStringLiteral("%1 %2").arg(name, quant),
                         {},
                         name + QLatin1Char(':') + quant,
                         engine::shape_experts(name.toStdString()) > 0},
                        tr("a shape: random weights, made when its rows are measured")};
    const QString key = keyOf(candidate.model);
    const bool known = std::ranges::any_of(m_shapes, [&](const Candidate& c) { return keyOf(c.model) == key; });
    if (!known)
        m_shapes.append(std::move(candidate));
    if (!m_chosen.contains(key))
        m_chosen.append(key);
    Q_EMIT modelsChanged();
    Q_EMIT changed();
}

void ExperimentDraft::setCandidates(const QList<Candidate>& files)
{
    const bool first = m_files.isEmpty() && m_chosen.isEmpty();
    m_files = files;
    if (first && !files.isEmpty())
        m_chosen.append(keyOf(files.first().model));
    Q_EMIT modelsChanged();
    Q_EMIT changed();
}

void ExperimentDraft::addDevice(const QString& id, const QString& name)
{
    if (const qsizetype known = m_deviceIds.indexOf(id); known >= 0) {
        m_deviceNames[known] = name;
    } else {
        m_deviceIds.append(id);
        m_deviceNames.append(name);
    }
    Q_EMIT devicesChanged();
    Q_EMIT changed();
}

ExperimentPlan ExperimentDraft::plan() const
{
    ExperimentPlan plan = m_plan;
    for (const Candidate& candidate : m_files + m_shapes)
        if (m_chosen.contains(keyOf(candidate.model)))
            plan.models.append(candidate.model);
    plan.device = m_deviceIds.value(m_device);
    return plan;
}

#include "moc_experiment_draft.cpp"
