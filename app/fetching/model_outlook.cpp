#include "app/fetching/model_outlook.h"

#include "app/catalogue/experts_on_device.h"
#include "app/system/background.h"
#include "app/system/log_lines.h"

#include <algorithm>
#include <array>

namespace {

constexpr std::array kOutlookTokens = {0, 8192, 32768};
constexpr double kAll = 0.9995;  // share of the experts that is shown as 100 %

}  // namespace

ModelOutlook::ModelOutlook(const FetchingWorld& world, QObject* parent)
    : QObject(parent)
    , m_world(world)
{
}

ModelOutlook::~ModelOutlook()
{
    m_stop.request_stop();
}

void ModelOutlook::show(const std::optional<engine::Planner>& plan)
{
    yield();
    m_plan = plan;
    m_tried = false;
    refresh();
}

void ModelOutlook::refresh()
{
    foretell();
    const bool lacks =
        std::ranges::any_of(m_rows, [](const OutlookRow& row) { return !row.stops && !row.tokensPerSecond.isValid(); });
    if (m_known && lacks)
        measure();
    Q_EMIT changed();
}

void ModelOutlook::yield()
{
    m_stop.request_stop();
    if (!m_measuring)
        return;
    m_measuring = false;
    Q_EMIT changed();
}

void ModelOutlook::foretell()
{
    m_known = false;
    m_rows.clear();
    m_spillTokens = m_expertsOnDevice = {};
    if (!m_plan)
        return;
    const engine::LoadRequest request = m_world.request();
    const auto rates = m_world.machine.rates ? m_world.machine.rates(request.threads) : nullptr;
    const auto plan = m_plan->plan(request, kOutlookTokens, rates.get());
    if (!plan) {  // such as a placement that this model does not permit: the user is told when it is opened
        logInfo(QStringLiteral("the speed of a model is not foretold: ") + QString::fromStdString(plan.error().what));
        return;
    }
    m_known = true;
    m_onDevice = request.placement.device != engine::PlacementOptions::Device::Cpu;
    m_layers = plan->layers;
    m_deviceLayers = plan->device_layers;
    if (m_onDevice)
        if (const QVariant share = ::expertsOnDevice(*plan); share.toDouble() < kAll)
            m_expertsOnDevice = share;
    if (m_onDevice && plan->spill_tokens && *plan->spill_tokens < m_plan->context_length())
        m_spillTokens = *plan->spill_tokens;
    for (const engine::PlanRow& row : plan->rows)
        m_rows.append(
            {row.context_tokens, row.tok_s ? QVariant(*row.tok_s) : QVariant(), row.beyond_training, row.stops});
}

void ModelOutlook::measure()
{
    const ThisMachine& machine = m_world.machine;
    if (m_tried || m_measuring || !machine.measure || (machine.busy && machine.busy()))
        return;
    m_measuring = true;
    m_stop = std::stop_source();
    const engine::LoadRequest request = m_world.request();
    const auto work = [plan = *m_plan, request, stop = m_stop.get_token(), measure = machine.measure,
                       known = machine.rates ? machine.rates(request.threads) : nullptr] {
        return measure(plan, request, known.get(), [&](double) { return !stop.stop_requested(); });
    };
    const auto done = [this, stop = m_stop.get_token()](const ThisMachine::Rates& rates) {
        if (stop.stop_requested())
            return;
        m_measuring = false;
        m_tried = true;
        if (!rates)
            logWarning(QStringLiteral("rates of this machine: ") + QString::fromStdString(rates.error().what));
        else if (m_world.machine.keep)
            m_world.machine.keep(*rates);
        refresh();
    };
    inBackground(this, work, done, [this] { yield(); });
}

#include "moc_model_outlook.cpp"
