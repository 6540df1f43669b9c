// Tests that the device which the user chooses is opened, kept for the next start, and taken back where it cannot be
// opened: with the real engine and the guide model.
#include "app/pressure/device_controller.h"
#include "app/pressure/pressure.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace {

constexpr auto kGuide = SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf";
constexpr int kCpu = 0, kEmulated = 1, kGpu = 2;

DeviceController::Found no_gpu()
{
    DeviceController::Found machine;
    machine.devices.emplace_back().id = "cpu";
    return machine;
}

DeviceController::Found one_gpu()
{
    DeviceController::Found machine = no_gpu();
    engine::DeviceInfo& gpu = machine.devices.emplace_back();
    gpu.id = "cuda:0";
    gpu.description = "A fine GPU";
    gpu.memory_total_bytes = std::int64_t(8) << 30;
    return machine;
}

DeviceController::Found old_gpu()
{
    DeviceController::Found machine = one_gpu();
    machine.devices.back().obstacle = "A fine GPU has compute capability 6.1, and 7.5 or higher is needed";
    return machine;
}

/// The program's parts that have to do with the device, with a settings file of its own.
class Window
{
public:
    explicit Window(const QString& file, const DeviceController::List& list = no_gpu,
                    const engine::PlacementOptions& commandLine = {})
        : m_engine(engine::make_engine)
        , m_settings(file)
        , m_models(m_engine, engine::inspect_model, {})
        , m_pressure(m_engine, m_models)
        , m_devices(m_settings, *m_pressure.placement(), commandLine, list)
    {
        QObject::connect(&m_models, &ModelController::modelReady, &m_devices,
                         [this] { m_devices.onModelReady(m_models.loadedRequest()); });
    }
    void load()
    {
        engine::LoadRequest request;
        request.threads = 1;
        request.placement = m_devices.placement();
        m_models.setDefaults(request);
        m_models.openAndLoad(QLatin1String(kGuide));
    }
    bool loaded() { return placement().layers() > 0; }
    DeviceController& devices() { return m_devices; }
    ModelController& models() { return m_models; }
    SettingsController& settings() { return m_settings; }
    PlacementController& placement() { return *m_pressure.placement(); }

private:
    EngineThread m_engine;
    SettingsController m_settings;
    ModelController m_models;
    Pressure m_pressure;
    DeviceController m_devices;
};

}  // namespace

class TestDeviceController : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aChoiceReachesTheOpenModelAndTheNextStart()
    {
        {
            Window window(file());
            window.load();
            QTRY_VERIFY(window.loaded());
            QVERIFY(!window.placement().available());
            window.devices().choose(kEmulated);
            QTRY_COMPARE(window.placement().device(), QStringLiteral("emulated"));
            QTRY_COMPARE(window.placement().deviceLayers(), 6);
            QTRY_COMPARE(window.placement().forecast()->spillTokens().toInt(),
                         1024);  // the plan is of this device, too
            QVERIFY(window.placement().emulated());
            QCOMPARE(window.models().current().device, QStringLiteral("emulated"));
            const double fit = window.placement().totalBytes();
            window.settings().emulatedMib()->setValue(64);
            QTRY_COMPARE(window.placement().totalBytes(), double(64 << 20));
            QVERIFY(fit != window.placement().totalBytes());
            QVERIFY(window.placement().trouble().isEmpty());
        }
        Window again(file());
        QVERIFY(again.devices().emulated());
        QCOMPARE(again.devices().placement().emulated.vram_bytes, std::int64_t(64) << 20);
        again.load();
        QTRY_COMPARE(again.placement().totalBytes(), double(64 << 20));
        again.devices().useCpu();
        QTRY_VERIFY(!again.placement().available());
        QVERIFY(!again.placement().emulated());
        QCOMPARE(again.models().current().device, QString());
    }

    /// The first page says how many tokens have room in the device's memory, as the device is set now.
    void theRoomIsThatOfThePlacement()
    {
        using Room = DeviceController::Room;
        Window window(file());
        QSignalSpy changed(&window.devices(), &DeviceController::roomChanged);
        QCOMPARE(window.devices().room(), Room::Unknown);
        window.load();
        QTRY_VERIFY(window.loaded());
        QCOMPARE(window.devices().room(), Room::Unknown);  // there is no device
        window.devices().tryEmulated();
        QTRY_COMPARE(window.devices().room(), Room::BlocksLeave);
        QCOMPARE(window.devices().roomTokens().toInt(), 1024);
        QVERIFY(!changed.isEmpty());

        PlacementController& placement = window.placement();
        QTRY_COMPARE(placement.deviceLayers(), 6);
        const double whole = placement.budgetBytes();
        placement.setBudget(whole * 0.96);
        QTRY_COMPARE(placement.deviceLayers(), 5);  // of fewer layers more tokens find room
        QTRY_COMPARE(window.devices().roomTokens().toInt(), 1280);
        QCOMPARE(window.devices().roomTokens(), placement.forecast()->spillTokens());
        QCOMPARE(window.devices().room(), Room::BlocksLeave);
        placement.setPolicy(int(engine::KvPolicy::Resident));
        QCOMPARE(window.devices().room(), Room::AnswersStop);
        placement.setBudget(whole * 0.01);
        QCOMPARE(window.devices().room(), Room::NoLayer);
        QVERIFY(!window.devices().roomTokens().isValid());
        placement.setBudget(0);
        placement.setPolicy(int(engine::KvPolicy::Auto));
        window.settings().emulatedMib()->setValue(1024);
        QTRY_COMPARE(window.devices().room(), Room::ForAll);
    }

    void whatCannotBeOpenedGoesBack()
    {
        Window window(file(), one_gpu);
        QTRY_COMPARE(window.devices().names().size(), 3);
        QCOMPARE(window.devices().names()[kGpu], QStringLiteral("A fine GPU, 8.59\u00a0GB"));
        window.devices().choose(kEmulated);
        window.load();
        QTRY_COMPARE(window.placement().deviceLayers(), 6);
        window.devices().choose(kGpu);  // there is none on the machine that tests
        if (window.placement().trouble().isEmpty())
            QTRY_VERIFY(!window.placement().trouble().isEmpty() || window.placement().device() == "cuda:0");
        if (window.placement().device() == "cuda:0")
            QSKIP("this machine has a GPU");
        QTRY_COMPARE(window.devices().current(), kEmulated);
        QCOMPARE(window.placement().device(), QStringLiteral("emulated"));
        QCOMPARE(window.placement().deviceLayers(), 6);
        QCOMPARE(QSettings(file(), QSettings::IniFormat).value("load/device").toString(), QStringLiteral("emulated"));
    }

    void aRefusalTakesNothingBackThatWasChosenSince()
    {
        Window window(file(), one_gpu);
        QTRY_COMPARE(window.devices().names().size(), 3);
        window.load();
        QTRY_VERIFY(window.loaded());
        window.devices().choose(kGpu);
        window.devices().choose(kEmulated);  // before the engine has said anything
        QTRY_COMPARE(window.placement().device(), QStringLiteral("emulated"));
        if (window.placement().trouble().isEmpty())
            QSKIP("this machine has a GPU");
        QCOMPARE(window.devices().current(), kEmulated);
        QCOMPARE(QSettings(file(), QSettings::IniFormat).value("load/device").toString(), QStringLiteral("emulated"));
        window.devices().choose(kGpu);
        QTRY_COMPARE(window.devices().current(), kEmulated);  // where it is
    }

    void aStartWithoutTheChosenGpuGoesOnWithoutIt()
    {
        {
            QSettings ini(file(), QSettings::IniFormat);
            ini.setValue("load/device", "cuda:7");
        }
        Window window(file());
        QVERIFY(window.devices().onGpu());
        QTRY_VERIFY(window.devices().names().at(window.devices().current()).contains("not there"));
        window.load();
        QTRY_VERIFY(window.loaded());
        QVERIFY(!window.placement().available());
    }

    void theCommandLineHasTheLastWordInItsRun()
    {
        engine::PlacementOptions named;
        named.device = engine::PlacementOptions::Device::Emulated;
        named.emulated.fit_tokens = 2000;
        Window window(file(), no_gpu, named);
        window.settings().device()->override(kEmulated);
        QCOMPARE(window.devices().placement().emulated.fit_tokens, 2000);
        QVERIFY(!window.devices().offered());
        QVERIFY(!QSettings(file(), QSettings::IniFormat).contains("load/device"));
        window.settings().device()->setValue(kEmulated);  // chosen in the window: then with its numbers
        QCOMPARE(window.devices().placement().emulated.fit_tokens, 1024);
    }

    void theOfferIsForThoseWithoutAGpu()
    {
        Window with(file(), one_gpu), without(file());
        QTRY_COMPARE(with.devices().names().size(), 3);
        QVERIFY(!with.devices().offered());
        QTRY_VERIFY(without.devices().offered());
        const QSignalSpy wanted(&without.devices(), &DeviceController::panelWanted);
        without.devices().tryEmulated();
        QVERIFY(without.devices().tried() && !without.devices().offered());
        QCOMPARE(wanted.size(), 1);
        without.devices().useCpu();
        QVERIFY(without.devices().offered());
        without.devices().dismissOffer();
        QVERIFY(!without.devices().offered());
        Window again(file());
        QTest::qWait(50);
        QVERIFY(!again.devices().offered());
    }

    /// A GPU that cannot be used says why. The emulated one is still offered, since there is no other to try.
    void aGpuThatCannotBeUsedSaysWhy()
    {
        Window window(file(), old_gpu);
        QTRY_COMPARE(window.devices().names().size(), 3);
        QCOMPARE(window.devices().names()[kGpu],
                 QStringLiteral("A fine GPU: A fine GPU has compute capability 6.1, and 7.5 or higher is needed."));
        QVERIFY(window.devices().offered());
        QVERIFY(!window.devices().unusedGpu());
        QCOMPARE(window.devices().noGpu(),
                 QStringLiteral("No GPU is used. A fine GPU has compute capability 6.1, and 7.5 or higher is needed."));
    }

    void whereTheDriverFindsNoneItIsSaidWhy()
    {
        const auto silent = [] {
            DeviceController::Found machine = no_gpu();
            machine.whyNoGpu = "the NVIDIA driver does not start: unknown error (CUDA error 999)";
            return machine;
        };
        Window window(file(), silent);
        QCOMPARE(window.devices().noGpu(), QString());  // nobody knows yet
        const QSignalSpy changed(&window.devices(), &DeviceController::changed);
        QTRY_COMPARE(window.devices().noGpu(),
                     QStringLiteral("No GPU is used. The NVIDIA driver does not start: unknown error (CUDA error "
                                    "999)."));
        QVERIFY(!changed.isEmpty());
    }

    void whereAGpuCanBeUsedOrNobodyExpectsOneNothingIsSaid()
    {
        const auto two = [] {
            DeviceController::Found machine = old_gpu();
            machine.devices.push_back(one_gpu().devices.back());
            machine.devices.back().id = "cuda:1";
            return machine;
        };
        Window with(file(), two), without(file());
        QTRY_COMPARE(with.devices().names().size(), 4);
        QCOMPARE(with.devices().noGpu(), QString());
        QTRY_VERIFY(without.devices().offered());  // it is known that there is none
        QCOMPARE(without.devices().noGpu(), QString());
    }

    void aGpuIsUnusedWhileTheCpuComputesAll()
    {
        Window window(file(), one_gpu);
        QVERIFY(!window.devices().unusedGpu());  // nobody knows yet what there is
        QTRY_VERIFY(window.devices().unusedGpu());
        QCOMPARE(window.devices().unusedGpu()->id, QStringLiteral("cuda:0"));
        QCOMPARE(window.devices().unusedGpu()->name, QStringLiteral("A fine GPU"));
        QCOMPARE(window.devices().unusedGpu()->bytes, qint64(8) << 30);
        window.devices().use("cuda:0");
        QVERIFY(!window.devices().unusedGpu());
        window.devices().use("cpu");
        window.settings().device()->override(kCpu);  // on the command line
        QVERIFY(!window.devices().unusedGpu());
    }

    void aMoveThatIsStoppedOnTheWayStays()
    {
        Window window(file());
        window.devices().choose(kEmulated);
        window.load();
        QTRY_COMPARE(window.placement().deviceLayers(), 6);
        engine::DeviceTelemetry leaving;
        leaving.layers = 4;
        engine::Telemetry frame;
        frame.device = leaving;
        PlacementController& placement = window.placement();
        QSignalSpy accepted(&placement, &PlacementController::deviceAccepted);
        QSignalSpy takenBack(&placement, &PlacementController::deviceTakenBack);
        QObject::connect(&placement, &PlacementController::deviceAccepted, &placement, [&] {
            placement.onFrame(frame);  // on its way
            placement.cancelMove();
        });
        window.devices().useCpu();
        QTRY_COMPARE(accepted.count(), 1);
        QCOMPARE(takenBack.count(), 1);
        QCOMPARE(window.devices().current(), kEmulated);  // as before
    }

private:
    QString file() const { return m_folder->filePath("spillway.ini"); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

SPILLWAY_TEST(QApplication, TestDeviceController)
#include "tst_device_controller.moc"
