// Tests that the panel shows and changes the settings of a conversation, and that changes reach the conversation.
#include "app/tuning/conversation_settings_controller.h"
#include "app/tuning/template_argument.h"
#include "engine/template/chat_template.h"
#include "tests/support/fake_engine.h"
#include "tests/support/models.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTranslator>

namespace {

struct Room {
    QTemporaryDir folder;
    std::shared_ptr<FakeScript> script = std::make_shared<FakeScript>();
    EngineThread engine{[this] { return std::make_unique<FakeEngine>(script); }};
    ConversationStore store{folder.path()};
    OpenConversations open{store};
    TurnRunner turns{engine, store, open, engine::Request()};
    ChatController chat{engine, store, open, turns};
    ConversationSettingsController settings{chat, store, engine::Request()};
    QAbstractItemModelTester samplingTester{settings.sampling()};
    QAbstractItemModelTester argumentsTester{settings.templateArguments()};
    QAbstractItemModelTester presetsTester{settings.presets()};

    int row(const char* key)
    {
        for (int row = 0; row < settings.sampling()->rowCount(); ++row)
            if (sampling(row, SamplingModel::KeyRole).toString() == QLatin1String(key))
                return row;
        return -1;
    }
    QVariant sampling(int row, SamplingModel::Role role)
    {
        return settings.sampling()->data(settings.sampling()->index(row), role);
    }
    QVariant argument(int row, TemplateArgumentModel::Role role)
    {
        return settings.templateArguments()->data(settings.templateArguments()->index(row), role);
    }
    QString preset(int row)
    {
        return settings.presets()->data(settings.presets()->index(row), PresetModel::NameRole).toString();
    }
    void openModelThatTakes(std::vector<std::string> arguments)
    {
        engine::ModelInfo info;
        info.template_arguments = std::move(arguments);
        settings.onModelReady(info);
    }
};

}  // namespace

class ConversationSettingsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void beginsWithTheProgramsOwn()
    {
        Room room;
        QCOMPARE(room.settings.changedCount(), 0);
        const int temperature = room.row("temperature");
        QCOMPARE(room.sampling(temperature, SamplingModel::TextRole), "0.8");
        QCOMPARE(room.sampling(temperature, SamplingModel::DefaultTextRole), "0.8");
        QVERIFY(!room.sampling(temperature, SamplingModel::ChangedRole).toBool());
        QCOMPARE(room.sampling(room.row("seed"), SamplingModel::TextRole), "");
        QCOMPARE(room.sampling(room.row("seed"), SamplingModel::DefaultTextRole), "random");
        QVERIFY(!room.sampling(room.row("seed"), SamplingModel::ValueRole).isValid());
    }

    void aChangeReachesTheConversationAndGoesBack()
    {
        Room room;
        const int row = room.row("temperature");
        QCOMPARE(room.settings.sampling()->setText(row, " 0.25 "), "");
        QCOMPARE(room.chat.settings().sampling.value("temperature"), 0.25);
        QVERIFY(room.sampling(row, SamplingModel::ChangedRole).toBool());
        QCOMPARE(room.settings.changedCount(), 1);
        room.settings.sampling()->reset(row);
        QVERIFY(room.chat.settings().sampling.isEmpty());
        QCOMPARE(room.settings.changedCount(), 0);
        QCOMPARE(room.settings.sampling()->setText(row, "0,5"), "");  // as many people write it
        QCOMPARE(room.chat.settings().sampling.value("temperature"), 0.5);
        QCOMPARE(room.settings.sampling()->setText(row, ""), "");
        QVERIFY(room.chat.settings().sampling.isEmpty());
    }

    /// The field shows fewer decimals than a number may have.
    void aFieldThatWasOnlyVisitedChangesNothing()
    {
        Room room;
        const int row = room.row("temperature");
        QCOMPARE(room.settings.sampling()->setText(row, "0.8"), "");
        QVERIFY(room.chat.settings().sampling.isEmpty());
        ConversationSettings settings;
        settings.sampling = {{"temperature", 0.333}};
        room.chat.setSettings(settings);
        QCOMPARE(room.sampling(row, SamplingModel::TextRole), "0.33");
        QCOMPARE(room.settings.sampling()->setText(row, " 0.33"), "");
        QCOMPARE(room.chat.settings().sampling.value("temperature"), 0.333);
    }

    void anotherLanguageNamesTheArgumentsAnew()
    {
        class Words : public QTranslator
        {
        public:
            QString translate(const char*, const char* text, const char*, int) const override
            {
                return qstrcmp(text, "Thinking") == 0 ? QStringLiteral("Denken") : QString();
            }
            bool isEmpty() const override { return false; }
        };
        Room room;
        room.openModelThatTakes({"enable_thinking"});
        QCOMPARE(room.argument(0, TemplateArgumentModel::LabelRole), "Thinking");
        Words words;
        QCoreApplication::installTranslator(&words);
        room.settings.retranslate();
        QCOMPARE(room.argument(0, TemplateArgumentModel::LabelRole), "Denken");
    }

    void refusesNumbers_data()
    {
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("sentence");
        const QString temperature = "Temperature is a number from 0 to 5.";
        QTest::newRow("word") << QByteArray("temperature") << "hot" << temperature;
        QTest::newRow("below") << QByteArray("temperature") << "-0.1" << temperature;
        QTest::newRow("above") << QByteArray("temperature") << "5.01" << temperature;
        QTest::newRow("nan") << QByteArray("temperature") << "nan" << temperature;
        QTest::newRow("infinite") << QByteArray("temperature") << "inf" << temperature;
        QTest::newRow("fraction") << QByteArray("top_k") << "1.5"
                                  << "Top-k is a whole number from 0 to 1000.";
        QTest::newRow("no tokens") << QByteArray("max_tokens") << "0"
                                   << "Answer length is a whole number from 1 to 1000000.";
        QTest::newRow("seed") << QByteArray("seed") << "99999999999999999999"
                              << "Seed is a whole number from 0 to 4294967295.";
    }

    void refusesNumbers()
    {
        QFETCH(QByteArray, key);
        QFETCH(QString, text);
        QFETCH(QString, sentence);
        Room room;
        QCOMPARE(room.settings.sampling()->setText(room.row(key.constData()), text), sentence);
        QVERIFY(room.chat.settings().sampling.isEmpty());
    }

    void readsNumbersAsTheyAreWrittenHere_data()
    {
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("value");
        QTest::newRow("comma") << QByteArray("temperature") << "2,5" << 2.5;
        QTest::newRow("point") << QByteArray("temperature") << "2.5" << 2.5;
        QTest::newRow("thousands") << QByteArray("max_tokens") << "4.096" << 4096.0;
        QTest::newRow("thousands of thousands") << QByteArray("seed") << "1.234.567" << 1234567.0;
        QTest::newRow("ungrouped") << QByteArray("max_tokens") << "4096" << 4096.0;
    }
    void readsNumbersAsTheyAreWrittenHere()
    {
        QFETCH(const QByteArray, key);
        QFETCH(const QString, text);
        QFETCH(const double, value);
        QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
        const auto back = qScopeGuard([] { QLocale::setDefault(QLocale::c()); });
        Room room;
        QCOMPARE(room.settings.sampling()->setText(room.row(key.constData()), text), "");
        QCOMPARE(room.chat.settings().sampling.value(QLatin1String(key)).toDouble(), value);
        QVERIFY(!room.settings.sampling()->setText(room.row("top_k"), "12.5").isEmpty());
    }

    void sliderValuesKeepToTheirSteps()
    {
        Room room;
        room.settings.sampling()->setValue(room.row("temperature"), 0.7000000001);
        QCOMPARE(room.chat.settings().sampling.value("temperature").toDouble(), 0.7);
        room.settings.sampling()->setValue(room.row("top_k"), 12.4);
        QCOMPARE(room.chat.settings().sampling.value("top_k").toDouble(), 12.0);
        QCOMPARE(room.sampling(room.row("top_k"), SamplingModel::TextRole), "12");
    }

    void systemPromptIsKept()
    {
        Room room;
        QSignalSpy changed(&room.settings, &ConversationSettingsController::changed);
        room.settings.setSystemPrompt("Be brief.");
        QCOMPARE(room.chat.settings().systemPrompt, "Be brief.");
        QCOMPARE(room.settings.changedCount(), 1);
        QVERIFY(!changed.isEmpty());
    }

    void anotherConversationHasItsOwn()
    {
        Room room;
        room.settings.setSystemPrompt("Be brief.");
        room.settings.sampling()->setText(room.row("top_k"), "3");
        room.chat.setDraft("one that is kept");
        room.chat.newConversation();
        QCOMPARE(room.settings.systemPrompt(), "");
        QCOMPARE(room.sampling(room.row("top_k"), SamplingModel::TextRole), "40");
        QCOMPARE(room.settings.changedCount(), 0);
    }

    // ---- template arguments ----

    void argumentsBecomeControls()
    {
        Room room;
        QCOMPARE(room.settings.templateArguments()->count(), 0);
        room.openModelThatTakes({"documents", "own_thing", "enable_thinking", "reasoning_effort", "add_vision_id"});
        QCOMPARE(room.settings.templateArguments()->count(), 3);
        QCOMPARE(room.argument(0, TemplateArgumentModel::LabelRole), "Thinking");
        QCOMPARE(room.argument(0, TemplateArgumentModel::ChoicesRole).toStringList(),
                 QStringList({"Default", "On", "Off"}));
        QCOMPARE(room.argument(1, TemplateArgumentModel::ChoicesRole).toStringList(),
                 QStringList({"Default", "Low", "Medium", "High"}));
        QCOMPARE(room.argument(2, TemplateArgumentModel::KeyRole), "own_thing");
        QVERIFY(room.argument(2, TemplateArgumentModel::ChoicesRole).toStringList().isEmpty());

        room.settings.templateArguments()->choose(0, 2);
        room.settings.templateArguments()->choose(1, 3);
        room.settings.templateArguments()->setText(2, " 17 ");
        const QJsonObject expected{{"enable_thinking", false}, {"reasoning_effort", "high"}, {"own_thing", 17}};
        QCOMPARE(room.chat.settings().templateArguments, expected);
        QCOMPARE(room.argument(0, TemplateArgumentModel::CurrentRole), 2);
        QCOMPARE(room.argument(2, TemplateArgumentModel::TextRole), "17");
        QCOMPARE(room.settings.changedCount(), 3);
        room.settings.templateArguments()->choose(0, 0);
        room.settings.templateArguments()->setText(2, "");
        QCOMPARE(room.chat.settings().templateArguments, QJsonObject({{"reasoning_effort", "high"}}));
        room.settings.onModelGone();
        QCOMPARE(room.settings.templateArguments()->count(), 0);
        QCOMPARE(room.chat.settings().templateArguments, QJsonObject({{"reasoning_effort", "high"}}));
    }

    void twoNamesForOneThingAreOneControl()
    {
        Room room;
        room.openModelThatTakes({"thinking", "enable_thinking"});
        QCOMPARE(room.settings.templateArguments()->count(), 1);
        QCOMPARE(room.argument(0, TemplateArgumentModel::KeyRole), "thinking");
    }

    // What real templates take is a choice in words, or one of a few texts; nothing is shown by its bare name.
    void argumentsOfEachFamilyAreControls_data()
    {
        QTest::addColumn<QString>("path");
        const QDir folder(test_support::golden_folder() + QStringLiteral("/chat-templates"));
        if (test_support::golden_folder().isEmpty())
            QSKIP("SPILLWAY_GOLDEN is not set: the templates of real models are not tested");
        for (const QString& name : folder.entryList({QStringLiteral("*.jinja")}, QDir::Files))
            QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }
    void argumentsOfEachFamilyAreControls()
    {
        QFETCH(QString, path);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto parsed = engine::ChatTemplate::parse(file.readAll().toStdString());
        QVERIFY(parsed);
        QSet<QString> labels;
        for (const TemplateArgument& argument : templateArguments(parsed->arguments())) {
            QVERIFY2(argument.label != argument.key, qPrintable(argument.key));
            QVERIFY2(!argument.choices.isEmpty() ||
                         QStringList({"thinking_budget", "model_identity", "date_string", "datetime"})
                             .contains(argument.key),
                     qPrintable(argument.key));
            QVERIFY2(!labels.contains(argument.label), qPrintable(argument.label));
            labels.insert(argument.label);
        }
    }

    void aHostileTemplateDoesNotFillThePanel()
    {
        Room room;
        std::vector<std::string> names = {"a b", "<b>x</b>", "", std::string(5000, 'x'), "\xE2\x80\xAEx"};
        for (int i = 0; i < 1000; ++i)
            names.push_back("n" + std::to_string(i));
        room.openModelThatTakes(names);
        QCOMPARE(room.settings.templateArguments()->count(), 8);
    }

    // ---- presets ----

    void builtInPresetsLeaveTheRestAlone()
    {
        Room room;
        QCOMPARE(room.preset(0), "Balanced");
        QCOMPARE(room.preset(1), "Precise");
        QCOMPARE(room.preset(2), "Creative");
        QCOMPARE(room.settings.preset(), -1);
        room.settings.setSystemPrompt("Be brief.");
        room.settings.sampling()->setText(room.row("seed"), "7");
        room.settings.applyPreset(1);
        QCOMPARE(room.settings.preset(), 1);
        QVERIFY(!room.settings.presetChanged());
        QCOMPARE(room.sampling(room.row("temperature"), SamplingModel::TextRole), "0.2");
        QCOMPARE(room.sampling(room.row("seed"), SamplingModel::TextRole), "7");
        QCOMPARE(room.settings.systemPrompt(), "Be brief.");
        room.settings.sampling()->setText(room.row("temperature"), "0.3");
        QVERIFY(room.settings.presetChanged());
        room.settings.applyPreset(0);
        QCOMPARE(room.sampling(room.row("temperature"), SamplingModel::TextRole), "0.8");
        QCOMPARE(room.sampling(room.row("seed"), SamplingModel::TextRole), "7");
    }

    void ownPresetsAreKeptAppliedRenamedAndRemoved()
    {
        Room room;
        room.settings.setSystemPrompt("Be brief.");
        room.settings.sampling()->setText(room.row("top_k"), "3");
        QCOMPARE(room.settings.savePreset("  Short  answers "), "");
        QCOMPARE(room.preset(3), "Short answers");
        QCOMPARE(room.settings.preset(), 3);
        QVERIFY(!room.settings.presetChanged());

        room.chat.setDraft("one that is kept");
        room.chat.newConversation();
        QCOMPARE(room.settings.preset(), -1);
        room.settings.applyPreset(3);
        QCOMPARE(room.settings.systemPrompt(), "Be brief.");
        QCOMPARE(room.chat.settings().sampling.value("top_k"), 3);

        QCOMPARE(room.settings.renamePreset(3, "Terse"), "");
        QCOMPARE(room.preset(3), "Terse");
        QCOMPARE(room.settings.presets()->count(), 4);
        QCOMPARE(room.settings.preset(), 3);
        room.store.flush();
        QCOMPARE(PresetModel(room.store).count(), 4);

        room.settings.removePreset(3);
        QCOMPARE(room.settings.presets()->count(), 3);
        QCOMPARE(room.settings.preset(), -1);
        QCOMPARE(room.settings.systemPrompt(), "Be brief.");  // it was a copy
    }

    void namesOfPresetsAreChecked()
    {
        Room room;
        QCOMPARE(room.settings.savePreset("  "), "A preset needs a name.");
        QCOMPARE(room.settings.savePreset("precise"), "“precise” is built in; choose another name.");
        QCOMPARE(room.settings.savePreset(QString(61, 'x')), "A preset's name has 60 characters at most.");
        QCOMPARE(room.settings.presets()->count(), 3);
        QCOMPARE(room.settings.renamePreset(0, "Mine"), "A preset that is built in keeps its name.");
        QCOMPARE(room.settings.savePreset("One"), "");
        QCOMPARE(room.settings.savePreset("Two"), "");
        QCOMPARE(room.settings.renamePreset(4, "One"), "There is a preset “One” already.");
        QCOMPARE(room.settings.savePreset("One"), "");  // saved again
        QCOMPARE(room.settings.presets()->count(), 5);
        room.settings.removePreset(1);  // built in: nothing happens
        QCOMPARE(room.settings.presets()->count(), 5);
    }

    void resetAllIsTheProgramsOwn()
    {
        Room room;
        room.openModelThatTakes({"enable_thinking"});
        room.settings.setSystemPrompt("x");
        room.settings.applyPreset(2);
        room.settings.templateArguments()->choose(0, 1);
        QVERIFY(room.settings.changedCount() > 0);
        room.settings.resetAll();
        QCOMPARE(room.settings.changedCount(), 0);
        QVERIFY(room.chat.settings() == ConversationSettings());
    }
};

QTEST_MAIN(ConversationSettingsTest)
#include "tst_conversation_settings.moc"
