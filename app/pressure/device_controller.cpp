#include "app/pressure/device_controller.h"

#include "app/system/background.h"
#include "app/text/engine_words.h"
#include "app/worker/error_sentence.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace {

constexpr int kFitTokens = 1024;  // tokens that get room where no size was chosen: a conversation soon outgrows it
constexpr int kRestMs = 400;
constexpr QLatin1String kCpu("cpu"), kEmulated("emulated"), kCuda("cuda:");

bool sameDevice(const engine::PlacementOptions& a, const engine::PlacementOptions& b)
{
    const auto device = [](const engine::PlacementOptions& o) {
        return std::tuple(o.device, o.cuda_ordinal, o.vram_budget_bytes, o.budget_fit_tokens);
    };
    return device(a) == device(b) && a.emulated == b.emulated;
}

}  // namespace

DeviceController::DeviceController(SettingsController& settings, PlacementController& placement,
                                   const engine::PlacementOptions& commandLine, const List& list, QObject* parent)
    : QObject(parent)
    , m_settings(settings)
    , m_placement(placement)
    , m_commandLine(commandLine)
    , m_choices{settings.device(), settings.emulatedMib(), settings.linkGb(), settings.gpuMib()}
    , m_accepted(chosen())
    , m_settled(m_accepted)
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(kRestMs);
    connect(&m_rest, &QTimer::timeout, this, &DeviceController::apply);
    connect(settings.device(), &Setting::changed, this, &DeviceController::apply);
    for (Setting* number : {settings.emulatedMib(), settings.linkGb(), settings.gpuMib()})
        connect(number, &Setting::changed, &m_rest, [this] { m_rest.start(); });
    connect(settings.deviceOffer(), &Setting::changed, this, &DeviceController::changed);
    connect(&placement, &PlacementController::deviceAccepted, this, &DeviceController::onAccepted);
    connect(&placement, &PlacementController::deviceRefused, this, &DeviceController::onRefused);
    connect(&placement, &PlacementController::deviceTakenBack, this, [this] {
        m_accepted = m_settled;
        takeBack();
    });
    connect(&placement, &PlacementController::changed, this, [this] {
        if (!m_placement.leaving())
            m_settled = m_accepted;
    });
    connect(placement.forecast(), &PlacementForecast::changed, this, &DeviceController::roomChanged);
    findDevices(list);
}

void DeviceController::findDevices(const List& list)
{
    const auto found = [this](Found machine) {
        std::erase_if(machine.devices, [](const engine::DeviceInfo& device) { return device.id == "cpu"; });
        m_gpus = std::move(machine.devices);
        m_whyNoGpu = std::move(machine.whyNoGpu);
        m_known = true;
        apply();  // a GPU that was chosen at an earlier start
    };
    inBackground(this, list, found, [found] { found({}); });
}

QString DeviceController::id() const
{
    return m_settings.device()->names()[m_settings.device()->value()];
}

bool DeviceController::emulated() const
{
    return id() == kEmulated;
}

bool DeviceController::onGpu() const
{
    return id().startsWith(kCuda);
}

bool DeviceController::gpuIsThere() const
{
    return std::ranges::any_of(m_gpus, [this](const auto& gpu) { return QString::fromStdString(gpu.id) == id(); });
}

bool DeviceController::gpuIsUsable() const
{
    return std::ranges::any_of(m_gpus, [](const auto& gpu) { return gpu.obstacle.empty(); });
}

QString DeviceController::noGpu() const
{
    const std::string& why = m_gpus.empty() ? m_whyNoGpu : m_gpus.front().obstacle;
    return gpuIsUsable() || why.empty()
               ? QString()
               : tr("No GPU is used. %1").arg(errorSentence({engine::Error::Code::DeviceLost, why}));
}

QStringList DeviceController::names() const
{
    QStringList names{tr("CPU only"), tr("Emulated graphics memory")};
    for (const engine::DeviceInfo& gpu : m_gpus) {
        const QString name = QString::fromStdString(gpu.description.empty() ? gpu.id : gpu.description);
        if (!gpu.obstacle.empty())
            names +=
                QStringLiteral("%1: %2").arg(name, errorSentence({engine::Error::Code::Unsupported, gpu.obstacle}));
        else
            names +=
                gpu.memory_total_bytes ? tr("%1, %2").arg(name, memoryWords(double(*gpu.memory_total_bytes))) : name;
    }
    if (onGpu() && !gpuIsThere())
        names += m_known ? tr("%1, which is not there").arg(id()) : id();
    return names;
}

int DeviceController::current() const
{
    if (!onGpu())
        return emulated() ? 1 : 0;
    for (std::size_t i = 0; i < m_gpus.size(); ++i)
        if (QString::fromStdString(m_gpus[i].id) == id())
            return int(i) + 2;
    return int(m_gpus.size()) + 2;
}

bool DeviceController::offered() const
{
    return m_known && !gpuIsUsable() && id() == kCpu && !m_settings.device()->overridden() &&
           m_settings.deviceOffer()->value() != 0;
}

PlacementPreview DeviceController::present() const
{
    const bool anyNumber = m_placement.automatic();
    return m_placement.available() ? m_placement.forecast()->preview(anyNumber ? -1 : m_placement.wantedLayers())
                                   : PlacementPreview();
}

DeviceController::Room DeviceController::room() const
{
    const PlacementPreview now = present();
    if (!now.known)
        return Room::Unknown;
    if (now.layers == 0)
        return Room::NoLayer;
    if (!now.spillTokens.isValid())
        return Room::ForAll;
    return m_placement.policy() == int(engine::KvPolicy::Resident) ? Room::AnswersStop : Room::BlocksLeave;
}

QVariant DeviceController::roomTokens() const
{
    return present().spillTokens;
}

std::optional<DoctorGpu> DeviceController::unusedGpu() const
{
    const auto usable = std::ranges::find_if(m_gpus, [](const auto& gpu) { return gpu.obstacle.empty(); });
    if (usable == m_gpus.end() || id() != kCpu || m_settings.device()->overridden())
        return {};
    const QString name = QString::fromStdString(usable->description).section(u',', 0, 0);
    return DoctorGpu{QString::fromStdString(usable->id), name, qint64(usable->memory_total_bytes.value_or(0))};
}

void DeviceController::choose(int place)
{
    if (place <= 0)
        choose(kCpu);
    else if (place == 1)
        choose(kEmulated);
    else if (place - 2 < int(m_gpus.size()))
        choose(QString::fromStdString(m_gpus[std::size_t(place - 2)].id));
}

void DeviceController::choose(const QString& id)
{
    m_placement.dismissTrouble();
    if (const auto place = m_settings.device()->names().indexOf(id); place >= 0)
        m_settings.device()->setValue(int(place));
}

void DeviceController::tryEmulated()
{
    m_tried = true;
    m_settings.emulatedMib()->reset();
    Q_EMIT panelWanted();
    choose(kEmulated);
}

void DeviceController::useCpu()
{
    choose(kCpu);
}

void DeviceController::dismissOffer()
{
    m_settings.deviceOffer()->setValue(0);
}

std::array<int, 4> DeviceController::chosen() const
{
    std::array<int, 4> values = {};
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = m_choices[i]->value();
    return values;
}

engine::PlacementOptions DeviceController::placement() const
{
    engine::PlacementOptions options = m_commandLine;
    if (m_settings.device()->overridden())
        return options;
    using Kind = engine::PlacementOptions::Device;
    const bool gpu = onGpu() && gpuIsThere();
    options.device = gpu ? Kind::Cuda : emulated() ? Kind::Emulated : Kind::Cpu;
    options.cuda_ordinal = gpu ? id().mid(kCuda.size()).toInt() : 0;
    options.emulated = {};
    if (emulated()) {
        const int mib = m_settings.emulatedMib()->value();
        options.emulated.vram_bytes = std::int64_t(mib) << 20;
        options.emulated.fit_tokens = mib > 0 ? 0 : kFitTokens;
        options.emulated.link_bytes_per_s = m_settings.linkGb()->value() * 1e9;
    }
    options.vram_budget_bytes = gpu ? std::int64_t(m_settings.gpuMib()->value()) << 20 : 0;
    return options;
}

/// Applies what is chosen in the settings; changed numbers of a device that is not chosen move nothing.
void DeviceController::apply()
{
    m_rest.stop();
    Q_EMIT changed();
    engine::PlacementOptions options = placement();
    if (m_takingBack || m_placement.layers() == 0 || sameDevice(options, m_asked))
        return;
    m_asked = options;
    options.device_layers.reset();
    if (m_placement.changeDevice(options))
        m_askedFor.append(chosen());
}

void DeviceController::onAccepted()
{
    m_accepted = m_askedFor.takeFirst();
}

void DeviceController::onRefused()
{
    m_askedFor.removeFirst();
    takeBack();
}

/// Goes back to the choices that were accepted last, unless something was asked for that may still be agreed to.
void DeviceController::takeBack()
{
    if (!m_askedFor.isEmpty())
        return;
    m_takingBack = true;
    for (std::size_t i = 0; i < m_accepted.size(); ++i)
        m_choices[i]->follow(m_accepted[i]);
    m_takingBack = false;
    m_rest.stop();
    m_asked = placement();
    Q_EMIT changed();
}

void DeviceController::onModelReady(const engine::LoadRequest& loaded)
{
    m_asked = loaded.placement;
    m_accepted = m_settled = chosen();
    m_askedFor.clear();
    apply();  // something else may have been chosen while the model was loaded
}

#include "moc_device_controller.cpp"
