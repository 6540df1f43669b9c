// Whose work the program stands on: each with a text that is there.
#include "app/about/licence_model.h"

#include <QAbstractItemModelTester>
#include <QTest>

class TestLicenceModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyTextIsThere()
    {
        LicenceModel licences;
        const QAbstractItemModelTester tester(&licences, QAbstractItemModelTester::FailureReportingMode::Fatal);
        QVERIFY(licences.rowCount() > 10);
        for (int row = 0; row < licences.rowCount(); ++row) {
            const QString name = licences.index(row).data(LicenceModel::NameRole).toString();
            QVERIFY2(licences.text(row).size() > 100, qPrintable(name));
            QVERIFY2(!licences.index(row).data(LicenceModel::PurposeRole).toString().isEmpty(), qPrintable(name));
        }
        QVERIFY(licences.text(0).contains("GNU GENERAL PUBLIC LICENSE"));
        QVERIFY(licences.text(-1).isEmpty() && licences.text(1000).isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestLicenceModel)
#include "tst_licence_model.moc"
