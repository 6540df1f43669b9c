// Tests that servers which the user adds are asked and kept, and that their models are in the list.
#include "app/catalogue/catalogue_controller.h"
#include "app/catalogue/start_model.h"
#include "app/chat/sampling_control.h"
#include "app/fetching/contacted_hosts.h"
#include "app/net/http_status.h"
#include "app/remote/server_failure.h"
#include "app/system/remote_path.h"
#include "app/text/known_sentence.h"
#include "app/translation.h"
#include "app/tuning/sampling_model.h"
#include "tests/app/servers/servers_case.h"
#include "tests/support/plain_user.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QSignalSpy>
#include <QTest>

using support::LookAlike;
using support::WebAnswer;
using test_support::List;
using test_support::Talk;
using test_support::urlOf;

class TestServers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void addsAServerThatAnswers()
    {
        LookAlike server;
        List list;
        QCOMPARE(list.servers->hostOf(urlOf(server) + "/v1/"), urlOf(server).mid(7));
        QVERIFY(list.servers->hostOf("no address").isEmpty());
        QVERIFY(!list.servers->inClear(urlOf(server)));
        QVERIFY(list.servers->inClear("192.168.0.5:8000"));
        QVERIFY(server.server().requests().empty());  // to look at an address asks nobody

        const QSignalSpy models(list.servers.get(), &Servers::modelsChanged);
        list.add("  My  tower ", urlOf(server) + "/v1");
        QCOMPARE(list.servers->trouble(), QString());
        QCOMPARE(models.size(), 1);
        const ServerEntry entry = list.servers->all().value(0);
        QCOMPARE(entry.name, QString("My tower"));
        QCOMPARE(entry.models, 1);
        QVERIFY(!entry.hasKey);
        const ModelEntry model = list.servers->models().value(0);
        QCOMPARE(model.title, QString("org/model"));
        QCOMPARE(model.storeName(), QString("My tower"));
        QVERIFY(model.openable() && isElsewhere(model.path));
        QCOMPARE(model.facts.server, entry.name);

        list.add({}, urlOf(server));  // once more: another name
        QCOMPARE(list.servers->all().size(), 1);
        QCOMPARE(list.servers->all().value(0).name, entry.host);
    }

    void whatDoesNotAnswerIsNotAdded()
    {
        QString gone;
        {
            LookAlike server;
            gone = urlOf(server);
        }
        List list;
        list.add("gone", gone);
        QVERIFY2(list.servers->trouble().contains("refuses the connection"), qPrintable(list.servers->trouble()));
        QVERIFY(list.servers->all().isEmpty());
        list.servers->dismissTrouble();
        list.add({}, "not an address");
        QVERIFY(list.servers->trouble().contains("no address"));
        LookAlike server;
        list.add({}, urlOf(server), "two\nlines");
        QVERIFY(list.servers->trouble().contains("one word"));
        QVERIFY(server.server().requests().empty());
        QVERIFY(!QFile::exists(list.file));
    }

    void addingCanBeStopped()
    {
        LookAlike slow;
        slow.server().answer_by([](const support::WebRequest&) {
            return WebAnswer{200, {}, std::string(100, ' '), WebAnswer::End::Stall, 1};
        });
        List list;
        list.servers->add({}, urlOf(slow), {});
        QVERIFY(list.servers->adding());
        list.servers->stopAdding();
        QVERIFY(!list.servers->adding());
        LookAlike server;
        list.add({}, urlOf(server));
        QCOMPARE(list.servers->all().size(), 1);
    }

    void whatListensHereIsFound()
    {
        LookAlike open, closed, known;
        closed.wants("secret");
        support::WebServer other([](const support::WebRequest&) { return WebAnswer{200, {}, "<html>"}; });
        int gone = 0;
        {
            LookAlike server;
            gone = server.server().port();
        }
        List list;
        list.add("known", urlOf(known));
        list.servers->lookAt({open.server().port(), closed.server().port(), known.server().port(), other.port(), gone});
        QVERIFY(list.servers->looking());
        QTRY_VERIFY(list.servers->looked());
        const QList<ServerEntry> found = list.servers->found();
        QCOMPARE(found.size(), 2);
        QCOMPARE(found[0].url, urlOf(open));
        QCOMPARE(found[0].trouble, QString());
        QVERIFY(found[1].trouble.contains("asks for a key"));
        QCOMPARE(list.servers->all().size(), 1);  // found is not added
        list.add({}, found[0].url);
        QCOMPARE(list.servers->found().size(), 1);
        list.servers->lookAt({open.server().port()});
        list.servers->stopLooking();
        QVERIFY(!list.servers->looking() && !list.servers->looked());
    }

    void theKeyIsTheUsersAlone()
    {
        LookAlike server;
        server.wants("secret");
        List list;
        list.add({}, urlOf(server));
        QVERIFY(list.servers->trouble().contains("asks for a key"));
        list.add({}, urlOf(server), " secret ");
        QCOMPARE(list.servers->all().size(), 1);
        QVERIFY(list.servers->all().value(0).hasKey);
        QFile file(list.file);
        QVERIFY(file.open(QFile::ReadOnly));
        QVERIFY(file.readAll().contains("secret"));
        const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
        QVERIFY(!(file.permissions() & others));
        // Also where it was open to others before.
        QVERIFY(file.setPermissions(file.permissions() | others));
        list.add("renamed", urlOf(server), "secret");
        QVERIFY(!(QFile(list.file).permissions() & others));
    }

    void theyAreThereAgainAfterARestart()
    {
        LookAlike server({"{\"data\":[{\"id\":\"a\",\"owned_by\":\"vllm\",\"max_model_len\":512},{\"id\":\"b\"}]}",
                          "/version", "{\"version\":\"0.30\"}"});
        server.wants("secret");
        List list;
        list.add("tower", urlOf(server), "secret");
        const ServerEntry before = list.servers->all().value(0);
        QCOMPARE(before.program, QString("vLLM 0.30"));
        const std::size_t asked = server.server().requests().size();
        list.restart();
        QCOMPARE(list.servers->all().value(0), before);
        QCOMPARE(list.servers->models().size(), 2);
        QCOMPARE(list.servers->models().value(0).facts.contextTokens, 512);
        QCOMPARE(server.server().requests().size(), asked);  // nobody is asked before the user wants it
        list.servers->refresh();
        QVERIFY(list.servers->all().value(0).asking);
        QTRY_VERIFY(!list.servers->all().value(0).asking);
        QVERIFY(server.server().requests().size() > asked);
        list.servers->remove(urlOf(server));
        list.restart();
        QVERIFY(list.servers->all().isEmpty());
        QFile file(list.file);
        QVERIFY(file.open(QFile::ReadOnly) && !file.readAll().contains("secret"));
    }

    void oneThatIsGoneKeepsItsModels()
    {
        List list;
        LookAlike other;
        {
            LookAlike server;
            list.add("tower", urlOf(server));
            list.add("other", urlOf(other));
        }
        list.servers->refresh();
        QTRY_VERIFY(!list.servers->all().value(0).trouble.isEmpty());
        QTRY_VERIFY(!list.servers->all().value(1).asking);
        QVERIFY(list.servers->all().value(1).trouble.isEmpty());
        QCOMPARE(list.servers->models().size(), 2);
    }

    void aFileFromElsewhereIsReadWithCare_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("servers");
        QTest::newRow("nothing") << QByteArray() << 0;
        QTest::newRow("no JSON") << QByteArray("{\"servers\":[") << 0;
        QTest::newRow("another kind") << QByteArray("{\"servers\":{\"url\":\"http://a\"}}") << 0;
        QTest::newRow("no address") << QByteArray("{\"servers\":[{\"url\":\"file:///etc\"},{\"url\":7},3]}") << 0;
        QTest::newRow("twice") << QByteArray("{\"servers\":[{\"url\":\"http://a\"},{\"url\":\"http://a\"}]}") << 1;
        QTest::newRow("odd models") << QByteArray(
                                           "{\"servers\":[{\"url\":\"http://a\",\"kind\":\"x\",\"models\":[{\"id\":"
                                           "\"m\",\"context\":-5},{\"id\":\"\"},7]}]}")
                                    << 1;
    }
    void aFileFromElsewhereIsReadWithCare()
    {
        QFETCH(QByteArray, text);
        List list;
        QVERIFY(QDir().mkpath(list.folder.filePath("profile")));
        QFile file(list.file);
        QVERIFY(file.open(QFile::WriteOnly) && file.write(text) == text.size());
        file.close();
        list.restart();
        QTEST(int(list.servers->all().size()), "servers");
        for (const ModelEntry& model : list.servers->models())
            QCOMPARE(model.facts.contextTokens, 0);
        // What cannot be read may have keys in it: it is not written over.
        QFile aside(list.file + ".bad");
        QCOMPARE(aside.exists(), QJsonDocument::fromJson(text).isNull());
        if (!aside.open(QFile::ReadOnly))
            return;
        QCOMPARE(aside.readAll(), text);
        QVERIFY2(list.servers->trouble().contains(aside.fileName()), qPrintable(list.servers->trouble()));
        // Nor is what went aside before.
        QVERIFY(file.open(QFile::WriteOnly) && file.write("{{") == 2);
        file.close();
        list.restart();
        QVERIFY(aside.seek(0) && aside.readAll() == text && QFile::exists(aside.fileName() + '2'));
    }

    void aFileThatCannotBeReadIsNotWrittenOver()
    {
#ifdef __linux__
        LookAlike kept, other;
        List list;
        list.add("kept", urlOf(kept));
        {
            const support::PlainUser notRoot;
            QVERIFY(QFile::setPermissions(list.file, QFile::WriteOwner));
            list.restart();
            QVERIFY2(list.servers->trouble().contains("cannot be read"), qPrintable(list.servers->trouble()));
            list.add("other", urlOf(other));
            QCOMPARE(list.servers->all().size(), 1);
            QVERIFY2(list.servers->trouble().contains("holds for this run"), qPrintable(list.servers->trouble()));
            QVERIFY(QFile::setPermissions(list.file, QFile::ReadOwner | QFile::WriteOwner));
        }
        list.restart();
        QCOMPARE(list.servers->all().value(0).name, QString("kept"));
#endif
    }

    void whatServersAnswerIsSaidInOneLanguage()
    {
        const Translation translation("de");
        for (int status = 300; status < 600; ++status)
            for (const char* code : {"", "GatedRepo", "RepoNotFound", "RevisionNotFound"})
                for (const bool known : {false, true}) {
                    net::HttpHead head{
                        status, "http://127.0.0.1:8000/a", {{"x-error-code", code}, {"retry-after", "7"}}};
                    const std::string body = known ? "{\"error\":{\"message\":\"reason\"}}" : "";
                    for (const net::Failure& failure :
                         {net::failure_of(head, known, body, net::Asked::File),
                          net::failure_of(head, known, body, net::Asked::Page), remote::refusal_of(head, known, body)})
                        QVERIFY2(!knownSentence(QString::fromStdString(failure.what)).isEmpty(), failure.what.c_str());
                }
    }

    void theirModelsAreRowsOfTheList()
    {
        LookAlike server;
        List list;
        list.add("tower", urlOf(server));
        Talk talk(list);
        CatalogueController::World world;
        world.inspect = [&](const auto& path, const auto&) { return inspect_fake(*talk.script, path); };
        world.otherPlaces = [] { return QList<StoreFolder>(); };
        world.memory = [] { return engine::MachineMemory{std::int64_t(16e9), std::int64_t(8e9)}; };
        CatalogueController catalogue(talk.models, world);
        catalogue.setElsewhere(list.servers->models());
        QCOMPARE(catalogue.total(), 1);
        catalogue.rescan();
        QTRY_VERIFY(!catalogue.scanning());
        QCOMPARE(catalogue.total(), 1);  // a scan does not take it away
        QVERIFY(catalogue.measurable().isEmpty());
        QVERIFY(catalogue.open(list.path()));
        QTRY_VERIFY(talk.models.current().known());
        QCOMPARE(talk.models.current().server, list.servers->all().value(0).host);
        QVERIFY(!talk.models.reloadNeeded());
        QCOMPARE(catalogue.recent().size(), 1);
        catalogue.lookAtRecent();
        QTest::qWait(50);
        QVERIFY(catalogue.recent().value(0).there);
        QCOMPARE(StartModel::choose({.last = list.path(), .guide = "guide.gguf"}).file, list.path());
        catalogue.setElsewhere({});
        QCOMPARE(catalogue.total(), 0);
    }

    void aModelIsCalledByItsFileAndItsServerByItsName_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("name");
        QTest::newRow("a file") << "/home/me/models/Guide-Q8_0.gguf"
                                << "Guide-Q8_0";
        QTest::newRow("of Windows") << R"(C:\models\guide.GGUF)"
                                    << "guide";
        QTest::newRow("without a folder") << "guide.gguf"
                                          << "guide";
        QTest::newRow("a folder") << "/srv/Qwen3-8B/"
                                  << "Qwen3-8B";
        QTest::newRow("a name") << "org/model"
                                << "org/model";
        QTest::newRow("with a tag") << "qwen2.5:7b"
                                    << "qwen2.5:7b";
    }
    void aModelIsCalledByItsFileAndItsServerByItsName()
    {
        QFETCH(QString, id);
        QFETCH(QString, name);
        LookAlike server({nlohmann::json{{"data", {{{"id", id.toStdString()}}}}}.dump()});
        List list;
        list.add("Workshop", urlOf(server));
        const ModelEntry entry = list.servers->models().value(0);
        QCOMPARE(entry.title, name);
        QCOMPARE(entry.shownPath(), id);
        QCOMPARE(entry.facts.server, "Workshop");

        Talk talk(list);
        const auto serverOf = [&](const QString& path) { return list.servers->serverOf(path); };
        talk.models.setServerOf(serverOf);
        talk.open(entry.path);
        QCOMPARE(talk.models.current().name, name);
        QCOMPARE(talk.models.current().fileName, id);
        QCOMPARE(talk.models.current().server, "Workshop");
        list.add("Attic", urlOf(server));
        talk.models.setServerOf(serverOf);
        QCOMPARE(talk.models.current().server, "Attic");
        QCOMPARE(list.servers->serverOf("http://127.0.0.1:1/#none"), "127.0.0.1:1");
    }

    void theListSaysWhoDidNotAnswer()
    {
        auto server = std::make_unique<LookAlike>();
        List list;
        list.add("tower", urlOf(*server));
        QVERIFY(!list.servers->models().value(0).silent);
        server.reset();
        list.servers->refresh();
        QTRY_VERIFY(list.servers->models().value(0).silent);
        QVERIFY(list.servers->models().value(0).remarks().join(' ').contains("refuses the connection"));
        QVERIFY(list.servers->models().value(0).openable());  // it may be back
    }

    void whatTheServerDoesNotKnowIsSaid()
    {
        LookAlike server;
        List list;
        list.add({}, urlOf(server));
        QStringList keys;
        for (const SamplingControl& control : samplingControls())
            keys.append(QLatin1String(control.key));
        const QStringList unknown = list.servers->unknown(list.path(), keys);
        QCOMPARE(unknown, (QStringList{"top_k", "min_p", "repeat_penalty"}));
        QVERIFY(list.servers->unknown("/here.gguf", keys).isEmpty());

        SamplingModel rows({});
        rows.setUnknown(unknown);
        for (int row = 0; row < rows.rowCount(); ++row) {
            const QModelIndex index = rows.index(row);
            QCOMPARE(rows.data(index, SamplingModel::KnownRole).toBool(),
                     !unknown.contains(rows.data(index, SamplingModel::KeyRole).toString()));
        }
    }

    void severalOfOneNameAreOneRow()
    {
        LookAlike first,
            second({"{\"data\":[{\"id\":\"org/model\",\"owned_by\":\"vllm\"},{\"id\":\"org/more\"}]}", "/version",
                    "{\"version\":\"1\"}"}),
            other;
        List list;
        list.add("cluster", urlOf(first));
        QVERIFY(list.servers->hasNamed(" cluster ", urlOf(second)));
        QVERIFY(!list.servers->hasNamed("cluster", urlOf(first)));  // it is that one
        QVERIFY(!list.servers->hasNamed({}, urlOf(second)) && !list.servers->hasNamed("cluster", "no address at all"));
        list.add("cluster", urlOf(second));
        list.add("tower", urlOf(other));
        QStringList rows;
        for (const ModelEntry& entry : list.servers->models())
            rows.append(entry.origin + ' ' + entry.facts.name + (entry.notes.isEmpty() ? "" : " *"));
        QCOMPARE(rows, (QStringList{"cluster org/model *", "cluster org/more", "tower org/model"}));
        const auto host = [](const LookAlike& its) { return urlOf(its).mid(7); };
        QCOMPARE(list.servers->hostsFor(list.path()), (QStringList{host(first), host(second)}));
        QCOMPARE(list.servers->hostsFor(list.path(1)), QStringList{host(second)});
        QCOMPARE(list.servers->hostsFor("/here.gguf"), QStringList());
        // The second one knows more of them than the first; either may answer.
        QCOMPARE(list.servers->unknown(list.path(), {"top_k", "temperature"}), QStringList{"top_k"});

        first.says({503, {}, {}});
        second.says(LookAlike::stream({LookAlike::content("from the second")}));
        Talk talk(list);
        talk.open(list.path());
        talk.say("Hello");
        QCOMPARE(talk.lastText(), QString("from the second"));
        list.servers->remove(urlOf(second));
        QCOMPARE(list.servers->models().size(), 2);
    }

    void theyAreOnTheListOfContacts()
    {
        LookAlike server;
        List list;
        ContactedHosts contacts(nullptr);
        contacts.addSource([&] { return list.servers->connections(); });
        contacts.refresh();
        QVERIFY(contacts.hosts().isEmpty());
        list.add({}, urlOf(server));
        contacts.refresh();
        QCOMPARE(contacts.hosts().size(), 1);
        QCOMPARE(contacts.hosts().value(0).host, list.servers->all().value(0).host);
    }

    void withoutTheNetworkThereAreNone()
    {
        Servers servers(nullptr, {});
        QVERIFY(!servers.available());
        servers.add({}, "localhost", {});
        servers.refresh();
        QVERIFY(servers.all().isEmpty() && servers.models().isEmpty());
        QVERIFY(servers.connections().empty() && servers.hostOf("localhost").isEmpty());
    }
};

SPILLWAY_TEST(QCoreApplication, TestServers)
#include "tst_servers.moc"
