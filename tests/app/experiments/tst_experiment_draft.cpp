// Tests that a plan for an experiment takes contexts as people type them, or refuses them with a sentence, and offers
// what the chosen models can do.
#include "app/experiments/experiment_draft.h"
#include "app/experiments/experiment_files.h"
#include "app/experiments/experiment_json.h"
#include "engine/placement_text.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTemporaryFile>
#include <QTest>

#include <algorithm>

class TestExperimentDraft : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // Whoever only presses the button sees what it costs to outgrow a device, and what each strategy makes of it.
    void whatIsOfferedFirstOutgrowsItsDevice()
    {
        ExperimentDraft draft({});
        draft.setCandidates({{{"guide", "/guide.gguf", {}}, {}}});
        QCOMPARE(draft.obstacle(), QString());
        const ExperimentPlan plan = draft.plan();
        QCOMPARE(plan.device, "emulated");
        engine::PlacementText text;
        text.device = "emulated";
        text.vram = plan.memory.toStdString();
        const auto placement = engine::parse_placement(text);
        QVERIFY(placement);
        const int room = placement->emulated.fit_tokens;
        QVERIFY(room > 0);
        QVERIFY(plan.contexts.first() <= room);
        QVERIFY(plan.contexts.last() >= 2 * room);
        for (const Strategy::Name strategy : {Strategy::Resident, Strategy::Stream, Strategy::Merge, Strategy::Auto})
            QVERIFY(plan.strategies.contains(strategy));
    }

    /// Files are told apart by the ids that the catalogue knows. To ask the disk for hundreds of them would hold the
    /// window up.
    void eachFileIsOfferedOnce()
    {
        const auto entry = [](const QString& id, const QString& path) {
            ModelEntry made;
            made.id = id;
            made.path = path;
            made.title = path;
            return made;
        };
        const QList<ModelEntry> found{entry("/nowhere/blob1", "/nowhere/a.gguf"),
                                      entry("/nowhere/blob1", "/nowhere/b.gguf"),
                                      entry("/nowhere/blob2", "/nowhere/c.gguf")};
        const auto paths = [&](const ModelFacts& open, const QString& openId) {
            QStringList all;
            for (const ExperimentDraft::Candidate& file : experimentFiles(open, openId, {}, found))
                all.append(file.model.path);
            return all;
        };
        QCOMPARE(paths({}, {}), QStringList({"/nowhere/a.gguf", "/nowhere/c.gguf"}));
        ModelFacts open;
        open.name = open.fileName = open.path = QStringLiteral("/elsewhere/link.gguf");
        QCOMPARE(paths(open, "/nowhere/blob2"), QStringList({"/elsewhere/link.gguf", "/nowhere/a.gguf"}));
        open.server = QStringLiteral("a.example");  // its speed is no matter of this machine
        QCOMPARE(paths(open, "/nowhere/blob2"), QStringList({"/nowhere/a.gguf", "/nowhere/c.gguf"}));
    }

    // A program that was moved, or is started from another place each time, leaves copies of its guide behind.
    void theGuideIsOfferedOnce()
    {
        QTemporaryFile guide;
        QVERIFY(guide.open());
        QCOMPARE(guide.write(QByteArray(1000, 'g')), 1000);
        QVERIFY(guide.flush());
        ModelFacts facts;
        facts.name = QStringLiteral("Spillway guide");
        facts.fileName = QStringLiteral("guide.gguf");
        facts.path = QStringLiteral("/before/guide.gguf");
        facts.fileBytes = 1000;
        ModelEntry copy;
        copy.id = copy.path = facts.path;
        copy.title = facts.name;
        copy.facts = facts;
        ModelEntry older = copy;  // its answers are others, and so may be its speed
        older.id = older.path = QStringLiteral("/older/guide.gguf");
        older.facts.fileBytes = 900;
        const auto paths = [&](const ModelFacts& open) {
            QStringList all;
            for (const ExperimentDraft::Candidate& file :
                 experimentFiles(open, open.path, guide.fileName(), {copy, older}))
                all.append(file.model.path);
            return all;
        };
        QCOMPARE(paths({}), QStringList({guide.fileName(), older.path}));
        QCOMPARE(paths(facts), QStringList({copy.path, older.path}));
    }

    void typedContextsAreOfferedAndChosen_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QList<int>>("chosen");
        QTest::addRow("commas") << "600, 3000,12K" << QList<int>{600, 1024, 2048, 3000, 4096, 12288};
        QTest::addRow("spaces and lines") << "  600\t3000\n 12k " << QList<int>{600, 1024, 2048, 3000, 4096, 12288};
        QTest::addRow("semicolons") << "600;;3000;" << QList<int>{600, 1024, 2048, 3000, 4096};
        QTest::addRow("a unit apart") << "12 K 3000" << QList<int>{1024, 2048, 3000, 4096, 12288};
        QTest::addRow("twice, and chosen before") << "1K 3000 3000" << QList<int>{1024, 2048, 3000, 4096};
        QTest::addRow("an offered one") << "512" << QList<int>{512, 1024, 2048, 4096};
        QTest::addRow("the bounds") << "64 1M" << QList<int>{64, 1024, 2048, 4096, 1 << 20};
    }
    void typedContextsAreOfferedAndChosen()
    {
        QFETCH(QString, text);
        QFETCH(QList<int>, chosen);
        ExperimentDraft draft({});
        const QSignalSpy changed(&draft, &ExperimentDraft::changed);
        QCOMPARE(draft.addContexts(text), QString());
        QCOMPARE(draft.chosenContexts(), chosen);
        QCOMPARE(changed.size(), 1);
        const QList<int> offered = draft.contexts();
        QVERIFY(std::is_sorted(offered.begin(), offered.end()));
        for (const int tokens : chosen)
            QCOMPARE(offered.count(tokens), 1);

        // The chosen contexts are those of the plan that is measured and kept.
        ExperimentRun run;
        run.plan = draft.plan();
        const auto kept = ExperimentJson::read(ExperimentJson::write(run));
        QVERIFY(kept);
        QCOMPARE(kept->plan.contexts, chosen);
    }

    void whatCannotBeAContextIsRefused_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("sentence");
        QTest::addRow("nothing") << ""
                                 << "Type how many tokens: 3000, or 12K.";
        QTest::addRow("commas only") << " , ; "
                                     << "Type how many tokens: 3000, or 12K.";
        QTest::addRow("a word") << "3000, lots"
                                << "“lots” is no number of tokens: type 3000, or 12K.";
        QTest::addRow("a fraction") << "1.5K"
                                    << "“1.5K” is no number of tokens: type 3000, or 12K.";
        QTest::addRow("negative") << "-512"
                                  << "“-512” is no number of tokens: type 3000, or 12K.";
        QTest::addRow("small") << "3000 63"
                               << "“63” is too small: a context has 64 tokens at least.";
        QTest::addRow("none") << "0"
                              << "“0” is too small: a context has 64 tokens at least.";
        QTest::addRow("large") << "1025K"
                               << "“1025K” is too large: a context has 1024K tokens at most.";
        QTest::addRow("one too large") << "1048577"
                                       << "“1048577” is too large: a context has 1024K tokens at most.";
        QTest::addRow("beyond numbers") << QString(30, '9') + 'M'
                                        << "“" + QString(24, '9') +
                                               "” is too large: a context has 1024K tokens at most.";
    }
    void whatCannotBeAContextIsRefused()
    {
        QFETCH(QString, text);
        QFETCH(QString, sentence);
        ExperimentDraft draft({});
        const QList<int> offered = draft.contexts(), chosen = draft.chosenContexts();
        QCOMPARE(draft.addContexts(text), sentence);
        QCOMPARE(draft.contexts(), offered);  // of several, none is taken
        QCOMPARE(draft.chosenContexts(), chosen);
    }

    // A choice that is only there for models that have experts: what is measured of others stays as it was.
    void expertsArePlacedWhereThereAreSome()
    {
        ExperimentDraft draft({});
        draft.setCandidates({{{"dense", "/dense.gguf", {}}, {}}, {{"mixture", "/mixture.gguf", {}, true}, {}}});
        for (const int context : {1024, 4096})
            draft.toggleContext(context);  // 2048 is left
        QCOMPARE(draft.rows(), 5);
        draft.toggleExpertsInRam(true);
        QVERIFY(!draft.hasExperts());
        QCOMPARE(draft.rows(), 5);

        draft.toggleModel(1);
        QVERIFY(draft.hasExperts());
        draft.toggleExpertCopies("auto");
        QCOMPARE(draft.addExpertCopies("64 MiB, 2GiB"), QString());
        QCOMPARE(draft.expertCopies(), (QStringList{"off", "auto", "64MiB", "2GiB"}));
        QCOMPARE(draft.chosenExpertCopies(), draft.expertCopies());
        // Five of the dense model; of the mixture one on the CPU, and four policies with 2 places and 4 rooms.
        QCOMPARE(draft.rows(), 5 + 1 + 4 * 2 * 4);
        const QList<ExperimentCell> cells = draft.plan().cells();
        QCOMPARE(cells[5], (ExperimentCell{1, 2048, Strategy::CpuOnly, {}}));
        QCOMPARE(cells[6], (ExperimentCell{1, 2048, Strategy::Resident, {false, "off"}}));
        QCOMPARE(cells.last(), (ExperimentCell{1, 2048, Strategy::Auto, {true, "2GiB"}}));

        draft.toggleExpertCopies("off");
        draft.toggleExpertCopies("off");  // back in its place
        QCOMPARE(draft.chosenExpertCopies(), draft.expertCopies());
        draft.toggleExpertsInRam(false);
        QCOMPARE(draft.expertsInRam(), QList<bool>{true});
        draft.toggleExpertsInRam(true);
        QCOMPARE(draft.obstacle(), QStringLiteral("Choose where experts lie."));
        draft.toggleExpertsInRam(false);
        for (const QString& copies : draft.expertCopies())
            draft.toggleExpertCopies(copies);
        QCOMPARE(draft.obstacle(), QStringLiteral("Choose what room experts have for copies."));
        draft.toggleModel(1);  // without it, that does not matter
        QCOMPARE(draft.obstacle(), QString());
    }

    void aShapeIsKnownToHaveExperts()
    {
        ExperimentDraft draft({});
        draft.addShape(int(draft.shapes().indexOf("tiny-llama")), 0);
        QVERIFY(!draft.hasExperts());
        draft.addShape(int(draft.shapes().indexOf("tiny-qwen3moe-128")), 0);
        QVERIFY(draft.hasExperts());
    }

    void whatIsNoRoomForCopiesIsRefused()
    {
        ExperimentDraft draft({});
        QCOMPARE(draft.addExpertCopies(" , "), QStringLiteral("Type how much memory: 512MiB, or 2GiB."));
        for (const char* const word : {"lots", "0", "-1GiB", "auto", "2 GiB of it"})
            QVERIFY2(draft.addExpertCopies(word).contains("is no size of a memory"), word);
        QStringList many;
        for (int i = 1; i < ExperimentPlan::kMostCopies; ++i)
            many.append(QStringLiteral("%1MiB").arg(i));
        QCOMPARE(draft.addExpertCopies(many.join(',')), QStringLiteral("Those are too many: type 14 sizes at most."));
        QCOMPARE(draft.expertCopies(), (QStringList{"off", "auto"}));
        many.removeLast();
        QCOMPARE(draft.addExpertCopies(many.join(',')), QString());
        QCOMPARE(draft.expertCopies().size(), ExperimentPlan::kMostCopies);
    }

    void thereIsAMostOfThem()
    {
        ExperimentDraft draft({});
        QStringList many;
        for (int i = 0; i < ExperimentPlan::kMostContexts; ++i)
            many.append(QString::number(3000 + i));
        QCOMPARE(draft.addContexts(many.join(',')), QStringLiteral("Those are too many: choose 32 contexts at most."));
        QCOMPARE(draft.chosenContexts().size(), 3);
        for (const int tokens : draft.chosenContexts())
            draft.toggleContext(tokens);
        QCOMPARE(draft.addContexts(many.join(',')), QString());
        QCOMPARE(draft.chosenContexts().size(), ExperimentPlan::kMostContexts);
        draft.setCandidates({{{"m", "/m.gguf", {}}, {}}});
        QCOMPARE(draft.obstacle(), QString());
        draft.toggleContext(512);  // one that was offered anyway
        QCOMPARE(draft.obstacle(), QStringLiteral("Choose 32 contexts at most."));
        draft.toggleContext(3000);
        QCOMPARE(draft.obstacle(), QString());
        QVERIFY(draft.contexts().contains(3000));  // it can be chosen again

        // Contexts that were added and are chosen no more go when others are added, so that they do not pile up.
        for (const int tokens : draft.chosenContexts())
            draft.toggleContext(tokens);
        QCOMPARE(draft.addContexts("5000 5001"), QString());
        QCOMPARE(draft.chosenContexts(), (QList<int>{5000, 5001}));
        QVERIFY(!draft.contexts().contains(3000));
    }
};

SPILLWAY_TEST(QCoreApplication, TestExperimentDraft)
#include "tst_experiment_draft.moc"
