#include "app/catalogue/experts_on_device.h"

#include "app/system/background.h"

#include <array>
#include <filesystem>

QVariant expertsOnDevice(const engine::Plan& plan)
{
    if (plan.rows.empty() || plan.device_layers < plan.layers || !plan.rows.front().experts)
        return {};
    return plan.rows.front().experts->share;
}

void ExpertsOnDevice::setLoadRequest(const engine::LoadRequest& request)
{
    m_request = request;
    ++m_job;
    m_waiting.clear();
    for (auto known = m_paths.cbegin(); known != m_paths.cend(); ++known)
        ask(known.key());
}

void ExpertsOnDevice::find(const QString& id, const QString& path)
{
    if (m_paths.contains(id))
        return;
    m_paths.insert(id, path);
    ask(id);
}

void ExpertsOnDevice::ask(const QString& id)
{
    if (m_request.placement.device == engine::PlacementOptions::Device::Cpu) {
        Q_EMIT found(id, {});
        return;
    }
    m_waiting.append(id);
    askNext();
}

void ExpertsOnDevice::askNext()
{
    if (m_asks == kMostAtOnce || m_waiting.isEmpty())
        return;
    ++m_asks;
    const QString id = m_waiting.takeFirst();
    const auto work = [request = m_request, file = std::filesystem::path(m_paths.value(id).toStdU16String())] {
        constexpr std::array kShort = {0};
        const auto planner = engine::Planner::open(file);
        const auto plan = planner ? planner->plan(request, kShort, request.placement.rates.get())
                                  : engine::Result<engine::Plan>(tl::unexpected(planner.error()));
        return plan ? expertsOnDevice(*plan) : QVariant();
    };
    const auto done = [this, id, job = m_job](const QVariant& share) { onAsked(job, id, share); };
    inBackground(this, work, done, [done] { done({}); });
}

void ExpertsOnDevice::onAsked(quint64 job, const QString& id, const QVariant& share)
{
    --m_asks;
    if (job == m_job)
        Q_EMIT found(id, share);
    askNext();
}

#include "moc_experts_on_device.cpp"
