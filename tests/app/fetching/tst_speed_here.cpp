// Tests that the speed of a model is predicted from its header before it is fetched, and measured with a made model of
// the same shapes.
#include "tests/app/fetching/fetching_case.h"
#include "tests/support/test_program.h"

#include <QLocale>

class TestSpeedHere : public QObject
{
    Q_OBJECT

    std::unique_ptr<test_support::FetchingCase> m_case;
    std::shared_ptr<const engine::MachineRates> m_rates;
    int m_measured = 0;
    bool m_busy = false;

    ModelPage& page() { return *m_case->fetching->page(); }
    ModelOutlook& outlook() { return *page().outlook(); }
    SpeedTrial& trial() { return *page().trial(); }
    void open()
    {
        page().open("org/tiny");
        QTRY_VERIFY(page().ready() && !page().looking());
        QVERIFY2(page().looked().known(), qPrintable(page().lookError()));
    }
    /// Tokens a second, by the planner itself.
    static double foretold(const engine::Planner& plan, const engine::MachineRates& rates, int tokens)
    {
        const std::array contexts = {tokens};
        return plan.plan({}, contexts, &rates)->rows.front().tok_s.value_or(-1);
    }
    QString script(const char* commands) const
    {
        const QString path = m_case->folder.filePath("stand-in");
        QFile file(path);
        if (!file.open(QFile::WriteOnly) || file.write(QByteArray("#!/bin/sh\n") + commands) < 0)
            qFatal("cannot write");
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }
    QStringList leftIn(const QString& folder) const
    {
        return QDir(m_case->folder.filePath(folder)).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    }
    QStringList headerFolders() const
    {
        return QDir(m_case->folder.path()).entryList({"spillway-header-*"}, QDir::Dirs);
    }

private Q_SLOTS:
    /// These tests look at whether the machine is measured, not at how well.
    void initTestCase() { qputenv("SPILLWAY_MEASURE_SMALL_SETS", "1"); }

    void init()
    {
        m_case = std::make_unique<test_support::FetchingCase>();
        qputenv("TMPDIR", m_case->folder.path().toUtf8());
        m_rates.reset();
        m_measured = 0;
        m_busy = false;
        m_case->machine.rates = [this](int) { return m_rates; };
        m_case->machine.keep = [this](const engine::MachineRates& rates) {
            m_rates = std::make_shared<const engine::MachineRates>(rates);
        };
        m_case->machine.busy = [this] { return m_busy; };
        m_case->machine.program = QStringLiteral(SPILLWAY_CLI);
        m_case->machine.folder = m_case->folder.filePath("made");
    }
    void cleanup()
    {
        m_case.reset();
        qunsetenv("TMPDIR");
    }

    void foretellsAsThePlannerDoes()
    {
        m_case->machine.measure = [this](const engine::Planner& plan, const engine::LoadRequest& request,
                                         const engine::MachineRates*, const ThisMachine::GoesOn& goesOn) {
            ++m_measured;
            return plan.measure_rates(request, goesOn);
        };
        m_case->startAllowed();
        QVERIFY(!outlook().known() && outlook().rows().isEmpty());
        open();
        QVERIFY(outlook().known());
        QVERIFY(outlook().measuring());
        QTRY_VERIFY_WITH_TIMEOUT(!outlook().measuring(), 60000);
        QVERIFY(m_rates);
        QCOMPARE(m_measured, 1);
        const auto plan = engine::Planner::open(
            std::filesystem::path((test_support::own_models_folder() + "/llama.gguf").toStdU16String()));
        const QList<OutlookRow> rows = outlook().rows();
        QCOMPARE(rows.size(), 3);
        for (int row = 0; row < 3; ++row) {
            QCOMPARE(rows[row].contextTokens, (std::array{0, 8192, 32768}[std::size_t(row)]));
            QCOMPARE(rows[row].tokensPerSecond.toDouble(), foretold(*plan, *m_rates, rows[row].contextTokens));
            QVERIFY(row == 0 || rows[row].tokensPerSecond.toDouble() <= rows[row - 1].tokensPerSecond.toDouble());
        }
        QVERIFY(rows.last().beyond && !rows.first().beyond);
        QVERIFY(!outlook().onDevice());
        // What is known is not measured again, and it goes with its page.
        page().look(0);
        QTRY_VERIFY(!page().looking());
        QVERIFY(outlook().known() && !outlook().measuring());
        QCOMPARE(m_measured, 1);
        page().close();
        QVERIFY(!outlook().known() && !trial().possible());
        QVERIFY(headerFolders().isEmpty());
    }

    // Where attention has room and not all experts have.
    void saysHowManyExpertsFit()
    {
        engine::LoadRequest request;
        FetchingWorld world;
        world.request = [&] { return request; };
        ModelOutlook outlook(world);
        const auto share = [&](const char* model, int hostLayers) {
            request.placement.host_expert_layers = hostLayers;
            const QString file = test_support::own_models_folder() + QLatin1String(model);
            const auto plan = engine::Planner::open(std::filesystem::path(file.toStdU16String()));
            outlook.show(*plan);
            return outlook.known() ? outlook.expertsOnDevice() : QVariant(-1.0);
        };
        QVERIFY(!share("/gpt-oss.gguf", 1).isValid());  // there is no device
        request.placement.device = engine::PlacementOptions::Device::Emulated;
        request.placement.emulated.vram_bytes = std::int64_t(1) << 30;
        QCOMPARE(share("/gpt-oss.gguf", 1), QVariant(0.5));
        QCOMPARE(share("/gpt-oss.gguf", 2), QVariant(0.0));
        QVERIFY(!share("/gpt-oss.gguf", 0).isValid());  // all of them
        QVERIFY(!share("/llama.gguf", 1).isValid());    // it has none
        // Its first layer has none either.
        QVERIFY(!share("/deepseek2.gguf", 1).isValid());
        QCOMPARE(share("/deepseek2.gguf", 2), QVariant(0.0));
        request.placement.device_layers = 1;
        QVERIFY(!share("/gpt-oss.gguf", 1).isValid());  // of which attention is not all there either
        outlook.show({});
        QVERIFY(!outlook.expertsOnDevice().isValid());
    }

    // While an answer is written nothing is measured, and what is being measured stops.
    void yieldsToWhatIsComputed()
    {
        QSemaphore begun;
        m_case->machine.measure = [&](const engine::Planner&, const engine::LoadRequest&, const engine::MachineRates*,
                                      const ThisMachine::GoesOn& goesOn) -> ThisMachine::Rates {
            begun.release();
            while (goesOn(0.5))
                QThread::msleep(5);
            begun.release();
            return engine::fail(engine::Error::Code::Cancelled, "given up");
        };
        m_busy = true;
        m_case->startAllowed();
        open();
        QVERIFY(outlook().known() && !outlook().measuring());
        QVERIFY(!outlook().rows().first().tokensPerSecond.isValid());
        m_busy = false;
        outlook().refresh();
        QVERIFY(outlook().measuring());
        QVERIFY(begun.tryAcquire(1, 10000));
        m_busy = true;
        outlook().yield();
        QVERIFY(!outlook().measuring());
        QVERIFY(begun.tryAcquire(1, 10000));
        QTest::qWait(50);
        QVERIFY(!m_rates && outlook().known());
        m_busy = false;
        outlook().refresh();  // it tries again
        QVERIFY(begun.tryAcquire(1, 10000));
        page().close();
        QVERIFY(begun.tryAcquire(1, 10000));
    }

    void triesAMadeModel()
    {
        m_case->startAllowed();
        QVERIFY(!trial().possible());
        trial().start(-1);
        QCOMPARE(trial().state(), SpeedTrial::Idle);
        open();
        QVERIFY(trial().possible());
        const auto received = m_case->hub->server().body_bytes();
        trial().start(1e9);
        QCOMPARE(trial().state(), SpeedTrial::Making);
        trial().start(5);  // once is enough
        QTRY_VERIFY_WITH_TIMEOUT(trial().state() == SpeedTrial::Done || trial().state() == SpeedTrial::Failed, 60000);
        QVERIFY2(trial().state() == SpeedTrial::Done, qPrintable(trial().trouble()));
        QVERIFY(trial().tokensPerSecond() > 0);
        QCOMPARE(m_case->hub->server().body_bytes(), received);  // nothing was fetched for it
        QTRY_VERIFY(leftIn("made").isEmpty());
        // The result is of that model and no other.
        page().look(0);
        QCOMPARE(trial().state(), SpeedTrial::Idle);
        QVERIFY(!trial().possible());
        QTRY_VERIFY(trial().possible());
    }

    void endsAtAnyMoment()
    {
        m_case->machine.program = script("exec sleep 60\n");
        m_case->startAllowed();
        open();
        trial().start(5);
        trial().stop();  // while it is made
        QCOMPARE(trial().state(), SpeedTrial::Idle);
        trial().start(5);
        QTRY_COMPARE_WITH_TIMEOUT(trial().state(), SpeedTrial::Running, 10000);
        trial().stop();
        QCOMPARE(trial().state(), SpeedTrial::Idle);
        QVERIFY(trial().trouble().isEmpty());
        trial().start(5);
        QTRY_COMPARE_WITH_TIMEOUT(trial().state(), SpeedTrial::Running, 10000);
        page().close();
        QCOMPARE(trial().state(), SpeedTrial::Idle);
        open();
        trial().start(5);
        QTRY_COMPARE_WITH_TIMEOUT(trial().state(), SpeedTrial::Running, 10000);
        m_case->fetching.reset();  // the program ends
        QVERIFY(leftIn("made").isEmpty());
        QVERIFY(headerFolders().isEmpty());
    }

    // What was foretold is what is tried.
    void placesAsTheChatWould()
    {
        m_case->machine.program = script("echo \"error: $*\" >&2; exit 1\n");
        m_case->startAllowed();
        open();
        engine::LoadRequest request;
        auto& placement = request.placement;
        placement.device = engine::PlacementOptions::Device::Emulated;
        placement.emulated.vram_bytes = 1 << 30;
        placement.emulated.link_bytes_per_s = 3e9;
        placement.device_layers = 1;
        placement.host_expert_layers = engine::PlacementOptions::kAllLayers;
        placement.expert_cache_bytes = 4096;
        FetchingWorld world;
        world.request = [&] { return request; };
        world.memory = [] { return engine::MachineMemory{std::int64_t(16e9), std::int64_t(8e9)}; };
        world.machine = m_case->machine;
        SpeedTrial alone(world);
        LookedAt subject;
        subject.header = std::filesystem::path((test_support::own_models_folder() + "/llama.gguf").toStdU16String());
        subject.info = *engine::inspect_model(subject.header);
        alone.show(subject);
        QVERIFY(alone.bytes() >= double(subject.info.weight_bytes));
        alone.start(5);
        QTRY_COMPARE_WITH_TIMEOUT(alone.state(), SpeedTrial::Failed, 20000);
        for (const char* words : {"--n-gpu-layers 1", "--n-cpu-moe all", "--expert-cache 4096", "--link 3000000000"})
            QVERIFY2(alone.trouble().contains(words), qPrintable(alone.trouble()));
        // A model is made with the size of the whole file, what it does not use included.
        subject.info.file_bytes = std::int64_t(20e9);
        alone.show(subject);
        alone.start(5);
        QVERIFY2(alone.trouble().contains("is not tried"), qPrintable(alone.trouble()));
    }

    void whatGoesWrongIsASentence_data()
    {
        QTest::addColumn<QByteArray>("commands");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("a reason") << QByteArray("echo 'error: there is no room' >&2; exit 1\n")
                                  << "It could not run: there is no room.";
        QTest::newRow("none") << QByteArray("exit 3\n") << "It ended and gave no reason.";
        QTest::newRow("garbage") << QByteArray("echo nonsense\n") << "It printed something that is no measurement.";
        QTest::newRow("no speed") << QByteArray("echo '{\"rows\": [{\"test\": \"decode\", \"tok_s_median\": 0}]}'\n")
                                  << "It printed something that is no measurement.";
        QTest::newRow("a crash") << QByteArray("kill -ABRT $$\n") << "The process crashed.";
    }
    void whatGoesWrongIsASentence()
    {
        QFETCH(QByteArray, commands);
        QFETCH(QString, sentence);
        m_case->machine.program = script(commands);
        m_case->startAllowed();
        open();
        trial().start(5);
        QTRY_COMPARE_WITH_TIMEOUT(trial().state(), SpeedTrial::Failed, 20000);
        QCOMPARE(trial().trouble(), sentence);
    }

    void whatWouldNotFitIsNotTried()
    {
        m_case->availableBytes = 1'000'000'000;  // less than is left to the rest of the machine
        m_case->startAllowed();
        open();
        trial().start(5);
        QCOMPARE(trial().state(), SpeedTrial::Failed);
        QVERIFY2(trial().trouble().contains("is not tried") && trial().trouble().contains("1.0 GB are free"),
                 qPrintable(trial().trouble()));
        QVERIFY(!QFileInfo::exists(m_case->machine.folder));
        m_busy = true;
        trial().start(5);
        QVERIFY(trial().trouble().contains("being computed"));
        // A folder in which nothing can be made; a program that is not there.
        m_busy = false;
        m_case->availableBytes = std::int64_t(8e9);
        QFile blocked(m_case->machine.folder);
        QVERIFY(blocked.open(QFile::WriteOnly));
        trial().start(5);
        QTRY_COMPARE_WITH_TIMEOUT(trial().state(), SpeedTrial::Failed, 10000);
        QVERIFY(trial().trouble().endsWith('.'));
        blocked.remove();
        m_case->machine.program = m_case->folder.filePath("nobody");
        m_case->start();
        open();
        trial().start(5);
        QTRY_COMPARE_WITH_TIMEOUT(trial().trouble(), "spillway-cli could not be started.", 10000);
        m_case->machine.program.clear();
        m_case->start();
        open();
        QVERIFY(!trial().possible());
    }
};

SPILLWAY_TEST(QGuiApplication, TestSpeedHere)
#include "tst_speed_here.moc"
