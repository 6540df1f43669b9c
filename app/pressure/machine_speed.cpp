#include "app/pressure/machine_speed.h"

#include "app/system/background.h"
#include "app/system/log_lines.h"

#include <array>
#include <utility>

namespace {

using Rates = engine::Result<engine::MachineRates>;

std::shared_ptr<const engine::MachineRates> kept(const engine::RatesFile& file)
{
    const auto rates = file.read();
    if (!rates)
        logWarning(QStringLiteral("rates of this machine: %1; they are measured again")
                       .arg(QString::fromStdString(rates.error().what)));
    return rates && *rates ? std::make_shared<const engine::MachineRates>(**rates) : nullptr;
}

/// Says whether rates are measured for q8_0 KV, too. Where a small device spills, the Doctor suggests that type and
/// says what it would bring. (On a GPU each measurement is of one type.)
bool mayBeKeptSmaller(const engine::LoadRequest& request)
{
    return request.placement.device == engine::PlacementOptions::Device::Emulated &&
           request.k_type != engine::KvType::Q8_0;
}

}  // namespace

/// Returns the rates that are known, where they suffice; else measures them.
Rates MachineSpeed::measureFor(const engine::Planner& planner, const engine::LoadRequest& request,
                               const engine::MachineRates* known, const GoesOn& goesOn)
{
    constexpr std::array contexts = {0, 1024};
    if (const auto plan = planner.plan(request, contexts, known); plan && plan->rows.back().tok_s)
        return *known;
    auto rates = planner.measure_rates(request, goesOn);
    if (rates || rates.error().code == engine::Error::Code::Cancelled)
        return rates;
    // A GPU may have no room left for measuring; the host's rates are of use alone, too.
    engine::LoadRequest host = request;
    host.placement = {};
    return planner.measure_rates(host, goesOn);
}

Rates MachineSpeed::measureModel(const engine::LoadRequest& request, const engine::MachineRates* known,
                                 const GoesOn& goesOn)
{
    const auto planner = engine::Planner::open(request.model);
    if (!planner)
        return tl::unexpected(planner.error());
    Rates rates = measureFor(*planner, request, known, goesOn);
    if (!rates || !mayBeKeptSmaller(request))
        return rates;
    engine::LoadRequest smaller = request;
    smaller.k_type = smaller.v_type = engine::KvType::Q8_0;
    const engine::MachineRates all = known ? engine::merge(*known, *rates) : *rates;
    const Rates ofSmaller = measureFor(*planner, smaller, &all, goesOn);
    return ofSmaller ? engine::merge(*ofSmaller, *rates) : rates;
}

MachineSpeed::MachineSpeed(EngineThread& engine, const QString& dataFolder, Measure measure, int silenceMs,
                           QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_file(dataFolder.toStdU16String())
    , m_measure(std::move(measure))
    , m_rates(kept(m_file))
{
    m_silence.setSingleShot(true);
    m_silence.setInterval(silenceMs);
    connect(&m_silence, &QTimer::timeout, this, &MachineSpeed::measure);
    const EngineWorker* worker = engine.worker();
    connect(worker, &EngineWorker::promptReady, this, [this] { onTurn(true); });
    connect(worker, &EngineWorker::rested, this, [this] { onTurn(false); });
}

MachineSpeed::~MachineSpeed()
{
    m_stop.request_stop();
}

std::shared_ptr<const engine::MachineRates> MachineSpeed::rates(int threads) const
{
    return m_rates && engine::hold_here(*m_rates, threads) ? m_rates : nullptr;
}

void MachineSpeed::onModelReady(const engine::LoadRequest& request)
{
    m_anew = false;
    want(request);
}

void MachineSpeed::onOutrun(const engine::LoadRequest& request)
{
    if (m_anew)
        return;
    m_anew = true;
    want(request);
}

/// Has this request measured later; a measurement that runs for another is stopped.
void MachineSpeed::want(const engine::LoadRequest& request)
{
    m_stop.request_stop();
    ++m_job;
    m_wanted = request;
    measureLater();
}

void MachineSpeed::onModelGone()
{
    m_wanted.reset();
    m_stop.request_stop();
    m_silence.stop();
}

void MachineSpeed::onTurn(bool running)
{
    m_answering = running;
    if (running)
        m_stop.request_stop();
    measureLater();
}

void MachineSpeed::onOthers()
{
    m_stop.request_stop();
    measureLater();
}

void MachineSpeed::measureLater()
{
    if (m_wanted && !m_answering)
        m_silence.start();
    else
        m_silence.stop();
}

void MachineSpeed::measure()
{
    if (othersCompute())
        return measureLater();
    m_stop.request_stop();  // stops measuring for the model before
    m_stop = std::stop_source();
    const std::stop_token stop = m_stop.get_token();
    const auto work = [measure = m_measure, request = *m_wanted, stop,
                       known = m_anew ? nullptr : rates(m_wanted->threads)] {
        return measure(request, known.get(), [&](double) { return !stop.stop_requested(); });
    };
    ++m_measurements;
    const auto done = [this, stop, job = ++m_job](const Rates& result) {
        --m_measurements;
        if (stop.stop_requested())
            return;
        if (othersCompute())  // others have begun to compute just now
            measureLater();
        else
            onMeasured(job, result);
    };
    inBackground(this, work, done, [this] { --m_measurements; });
}

void MachineSpeed::onMeasured(quint64 job, const Rates& result)
{
    if (job != m_job || !m_wanted)
        return;
    const int threads = m_wanted->threads;
    m_wanted.reset();
    if (!result) {
        logWarning(QStringLiteral("rates of this machine: ") + QString::fromStdString(result.error().what));
        return;
    }
    const auto before = rates(threads);
    if (!before || engine::to_json(*before) != engine::to_json(*result))
        keep(*result);
}

void MachineSpeed::keep(const engine::MachineRates& measured)
{
    if (const auto done = m_file.keep(measured); !done)
        logWarning(QStringLiteral("rates of this machine: ") + QString::fromStdString(done.error().what));
    m_rates = std::make_shared<const engine::MachineRates>(m_rates ? engine::merge(*m_rates, measured) : measured);
    m_engine.worker()->post(engine::SetRates{rates(measured.threads)});
    Q_EMIT changed();
}

#include "moc_machine_speed.cpp"
