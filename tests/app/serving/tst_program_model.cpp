// Tests that a program which stays connected keeps its row, whichever others come and go.
#include "app/serving/program_model.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QPersistentModelIndex>
#include <QSignalSpy>
#include <QtTest>

#include <random>

class TestProgramModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void onlyWhatIsOtherIsTold()
    {
        ProgramModel model;
        model.show({client(1), client(2), client(3)});
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
        QSignalSpy counted(&model, &ProgramModel::countChanged);
        server::ConnectedClient busy = client(2);
        busy.requests = 1;
        busy.answered = true;
        QVERIFY(!model.anyAnswered());
        model.show({client(1), busy, client(3)});
        QVERIFY(model.anyAnswered());
        QCOMPARE(changed.size(), 1);
        QCOMPARE(changed[0][0].toModelIndex().row(), 1);
        QCOMPARE(model.index(1).data(ProgramModel::RequestsRole).toInt(), 1);
        QVERIFY(inserted.isEmpty() && removed.isEmpty() && counted.isEmpty());
    }

    void anAddressThatComesAgainIsAnotherProgram()
    {
        ProgramModel model;
        model.show({client(1), client(2)});
        const QPersistentModelIndex first(model.index(0));
        server::ConnectedClient again = client(1);
        again.since += std::chrono::seconds(5);
        model.show({client(2), again});
        QVERIFY(!first.isValid());
        QCOMPARE(model.index(0).data(ProgramModel::ClientRole).toString(), QString("127.0.0.1:2"));
        QCOMPARE(model.index(1).data(ProgramModel::ClientRole).toString(), QString("127.0.0.1:1"));
    }

    void rowsAreWhatIsConnected()
    {
        ProgramModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        std::mt19937 random(7);
        std::vector<server::ConnectedClient> connected;
        for (int round = 0; round < 300; ++round) {
            std::erase_if(connected, [&](const auto&) { return random() % 4 == 0; });
            for (unsigned come = random() % 4; come > 0; --come)
                connected.push_back(client(round * 4 + int(come)));
            for (auto& one : connected)
                one.requests += int(random() % 2);
            model.show(connected);
            QCOMPARE(model.rowCount(), int(connected.size()));
            for (int row = 0; row < model.rowCount(); ++row) {
                QCOMPARE(model.index(row).data(ProgramModel::ClientRole).toString(),
                         QString::fromStdString(connected[std::size_t(row)].client));
                QCOMPARE(model.index(row).data(ProgramModel::RequestsRole).toInt(),
                         connected[std::size_t(row)].requests);
            }
        }
    }

    void whatAClientSaysIsMadeSafeToShow()
    {
        ProgramModel model;
        server::ConnectedClient strange = client(1);
        strange.client = "a\u202Eb";
        model.show({strange});
        QVERIFY(!model.index(0).data(ProgramModel::ClientRole).toString().contains(QChar(0x202E)));
    }

private:
    static server::ConnectedClient client(int number)
    {
        server::ConnectedClient made;
        made.client = "127.0.0.1:" + std::to_string(number);
        made.since = std::chrono::system_clock::time_point(std::chrono::seconds(1000 + number));
        return made;
    }
};

SPILLWAY_TEST(QCoreApplication, TestProgramModel)
#include "tst_program_model.moc"
