#include "app/fetching/speed_trial.h"

#include "app/system/child_process.h"
#include "app/system/log_lines.h"
#include "app/text/visible_text.h"
#include "app/worker/error_sentence.h"
#include "engine/memory_plan.h"
#include "engine/placement_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace {

constexpr int kTrialSeconds = 4;  // of measured tokens; warming up takes as many
constexpr int kFewestTrialTokens = 8, kMostTrialTokens = 256, kUnknownTrialTokens = 16;
constexpr std::chrono::seconds kTrialLimit{90};
constexpr qsizetype kMostTrialOutput = 1 << 20;
constexpr int kProgressMs = 100;
constexpr int kProcessEndMs = 1000;  // once it is killed

engine::LoadRequest trialRequest(engine::LoadRequest request, int tokens)
{
    request.context_tokens = 2 * tokens + 1;
    return request;
}

/// Returns the options with which spillway-cli places a model as the chat would.
QStringList placed(const engine::PlacementOptions& placement)
{
    using Device = engine::PlacementOptions::Device;
    if (placement.device == Device::Cpu)
        return {QStringLiteral("--device"), QStringLiteral("cpu")};
    QStringList arguments;
    const bool cuda = placement.device == Device::Cuda;
    const std::int64_t bytes = cuda ? placement.vram_budget_bytes : placement.emulated.vram_bytes;
    const int fit = cuda ? placement.budget_fit_tokens : placement.emulated.fit_tokens;
    arguments << QStringLiteral("--device")
              << (cuda ? QStringLiteral("cuda:%1").arg(placement.cuda_ordinal) : QStringLiteral("emulated"));
    const QString option = cuda ? QStringLiteral("--vram-budget") : QStringLiteral("--vram");
    if (bytes > 0)
        arguments << option << QString::number(bytes);
    else if (fit > 0)
        arguments << option << QStringLiteral("fit:%1").arg(fit);
    if (placement.device_layers)
        arguments << QStringLiteral("--n-gpu-layers") << QString::number(*placement.device_layers);
    if (const auto& host = placement.host_expert_layers) {
        const bool all = *host == engine::PlacementOptions::kAllLayers;
        arguments << QStringLiteral("--n-cpu-moe") << (all ? QStringLiteral("all") : QString::number(*host));
    }
    if (const auto& copies = placement.expert_cache_bytes; copies != 0)
        arguments << QStringLiteral("--expert-cache") << (copies ? QString::number(*copies) : QStringLiteral("auto"));
    if (!cuda)
        arguments << QStringLiteral("--link") << QString::number(std::int64_t(placement.emulated.link_bytes_per_s));
    if (placement.kv_offload_share > 0)
        arguments << QStringLiteral("--kv-offload-percentage") << QString::number(100 * placement.kv_offload_share);
    return arguments << QStringLiteral("--kv-policy")
                     << QString::fromStdString(std::string(engine::name_of(placement.kv_policy)));
}

/// Returns how much of this machine's memory the process takes.
std::int64_t hostBytes(const LookedAt& subject, engine::LoadRequest request)
{
    // Tensors that the model does not use are written, too.
    const std::int64_t unused = std::max<std::int64_t>(0, subject.info.file_bytes - subject.info.weight_bytes);
    const std::int64_t whole = engine::memory_need(subject.info, request).total() + unused;
    if (!subject.plan || request.placement.device != engine::PlacementOptions::Device::Cuda)
        return whole;                                // an emulated device is in RAM, too
    request.placement.other_programs_bytes.reset();  // the open model keeps its part of the device
    const std::array contexts = {request.context_tokens};
    const auto plan = subject.plan->plan(request, contexts, nullptr);
    if (!plan || !plan->rows.front().device)
        return whole;
    const engine::PlanRow& row = plan->rows.front();
    // The plan's host maps all weights; those that lie on the device are read from there.
    return std::max<std::int64_t>(0, row.host.total() - row.device->weight_bytes) + unused;
}

std::optional<double> speedIn(const QByteArray& json)
{
    const QJsonArray rows = QJsonDocument::fromJson(json).object()[QLatin1String("rows")].toArray();
    for (const QJsonValue value : rows) {
        const QJsonObject row = value.toObject();
        const double speed = row[QLatin1String("tok_s_median")].toDouble();
        if (row[QLatin1String("test")].toString() == QLatin1String("decode") && speed > 0)
            return speed;
    }
    return {};
}

}  // namespace

SpeedTrial::SpeedTrial(const FetchingWorld& world, QObject* parent)
    : QObject(parent)
    , m_world(world)
{
    m_thread.setMaxThreadCount(1);
    m_progress.setInterval(kProgressMs);
    connect(&m_progress, &QTimer::timeout, this, &SpeedTrial::progressed);
    m_limit.setSingleShot(true);
    connect(&m_limit, &QTimer::timeout, this,
            // The model may not even have been loaded by then, so nothing is said about its speed.
            [this] {
                end(Failed, tr("It was not loaded and measured within %n second(s), and was ended.", nullptr,
                               int(kTrialLimit.count())));
            });
}

SpeedTrial::~SpeedTrial()
{
    drop();
    for (QProcess* const process : findChildren<QProcess*>())
        process->waitForFinished(kProcessEndMs);
}

double SpeedTrial::bytes() const
{
    return m_subject ? double(std::max(m_subject->info.file_bytes, m_subject->info.weight_bytes)) : 0;
}

void SpeedTrial::show(const LookedAt& subject)
{
    drop();
    m_subject.reset();
    if (!subject.header.empty())
        m_subject = subject;
    end(Idle);
}

void SpeedTrial::start(double expected)
{
    if (!possible() || m_state == Making || m_state == Running)
        return;
    m_tokens = expected > 0
                   ? int(std::clamp(expected * kTrialSeconds, double(kFewestTrialTokens), double(kMostTrialTokens)))
                   : kUnknownTrialTokens;
    if (const QString why = whyNot(); !why.isEmpty()) {
        end(Failed, why);
        return;
    }
    m_state = Making;
    m_trouble.clear();
    m_work = std::make_shared<Work>();
    m_progress.start();
    m_thread.start([this, work = m_work, subject = *m_subject,
                    folder = std::filesystem::path(m_world.machine.folder.toStdU16String())] {
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);
        const auto made = std::make_shared<engine::Result<engine::ShapeModel>>(
            engine::ShapeModel::like(subject.header, folder, [&](double share) {
                work->share = share;
                return !work->givenUp;
            }));
        QMetaObject::invokeMethod(
            this,
            [this, work, made] {
                if (m_work == work)
                    onMade(*made);
            },
            Qt::QueuedConnection);
    });
    Q_EMIT changed();
}

void SpeedTrial::stop()
{
    if (m_state != Making && m_state != Running)
        return;
    drop();
    end(Idle);
}

QString SpeedTrial::whyNot() const
{
    if (m_world.machine.busy && m_world.machine.busy())
        return tr("Something else is being computed. Try it when that has ended.");
    const std::int64_t need = hostBytes(*m_subject, trialRequest(m_world.request(), m_tokens));
    // The open model stays open, unlike when another model is loaded in its place.
    const auto available = m_world.memory().available_bytes;
    if (available && need + engine::kMemoryMarginBytes > *available) {
        const QLocale locale;
        return tr("It takes %1 of memory beside what is open, and %2 are free: it is not tried.")
            .arg(locale.formattedDataSize(need, 1, QLocale::DataSizeSIFormat),
                 locale.formattedDataSize(*available, 1, QLocale::DataSizeSIFormat));
    }
    return {};
}

void SpeedTrial::onMade(engine::Result<engine::ShapeModel>& made)
{
    m_work.reset();
    m_progress.stop();
    if (!made) {
        end(Failed, errorSentence(made.error()));
        return;
    }
    m_model = std::move(*made);
    run();
}

void SpeedTrial::run()
{
    const engine::LoadRequest request = m_world.request();
    QStringList arguments{QStringLiteral("bench"), QStringLiteral("--json"),
                          QStringLiteral("--model=") + QString::fromStdU16String(m_model->path().u16string())};
    const auto number = [&](const char* option, int value) {
        arguments << QLatin1String(option) << QString::number(value);
    };
    number("-c", trialRequest({}, m_tokens).context_tokens);
    number("-p", 0);
    number("-n", m_tokens);
    number("-d", 0);
    number("-r", 1);
    number("-t", request.threads);
    for (const auto& [option, type] : {std::pair("--ctk", request.k_type), std::pair("--ctv", request.v_type)})
        arguments << QLatin1String(option) << QString::fromStdString(std::string(engine::name_of(type)));
    arguments << placed(request.placement);

    m_process = std::make_unique<QProcess>();
    connect(m_process.get(), &QProcess::finished, this, &SpeedTrial::onFinished);
    connect(
        m_process.get(), &QProcess::errorOccurred, this,
        [this](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart)
                end(Failed, tr("spillway-cli could not be started."));
        },
        Qt::QueuedConnection);
    m_process->setStandardInputFile(QProcess::nullDevice());
    endWithThisProgram(*m_process);
    m_state = Running;
    m_limit.start(kTrialLimit);
    m_process->start(m_world.machine.program, arguments);
    Q_EMIT changed();
}

void SpeedTrial::onFinished(int exitCode, QProcess::ExitStatus status)
{
    const QByteArray out = m_process->readAllStandardOutput().left(kMostTrialOutput);
    const QString reason = childsReason(m_process->readAllStandardError());
    if (status == QProcess::CrashExit) {
        end(Failed, tr("The process crashed."));
    } else if (exitCode != 0) {
        logWarning(QStringLiteral("trying a model: ") + reason);
        end(Failed, reason.isEmpty() ? tr("It ended and gave no reason.") : tr("It could not run: %1.").arg(reason));
    } else if (const auto speed = speedIn(out)) {
        m_tokensPerSecond = *speed;
        end(Done);
    } else {
        end(Failed, tr("It printed something that is no measurement."));
    }
}

void SpeedTrial::end(State state, const QString& trouble)
{
    drop();
    m_state = state;
    m_trouble = trouble;
    Q_EMIT changed();
}

void SpeedTrial::drop()
{
    m_progress.stop();
    m_limit.stop();
    if (m_work)
        m_work->givenUp = true;
    m_work.reset();
    if (m_process) {
        m_process->disconnect(this);
        m_process->kill();
        QProcess* const process = m_process.release();
        process->setParent(this);
        if (process->state() == QProcess::NotRunning)
            process->deleteLater();  // not deleted at once: its signal may have led here
        else
            connect(process, &QProcess::finished, process, &QObject::deleteLater);
    }
    if (m_model)  // closing a file of many gigabytes takes a while
        m_thread.start(
            [model = std::make_shared<engine::ShapeModel>(std::move(*m_model))]() mutable { model.reset(); });
    m_model.reset();
}

#include "moc_speed_trial.cpp"
