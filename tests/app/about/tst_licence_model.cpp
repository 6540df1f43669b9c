// Tests that the list of others' work in the program names all libraries that it is linked with, and has each licence's
// text.
#include "app/about/licence_model.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QHash>
#include <QRegularExpression>
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

    void whatIsLinkedIsThere()
    {
        const QHash<QString, QString> names{
            {"CLI11", "CLI11"},     {"CURL", "curl"},
            {"OpenSSL", "OpenSSL"}, {"QCustomPlotQt6", "QCustomPlot"},
            {"Qt6", "Qt 6"},        {"READLINE", "GNU Readline"},
            {"MD4C", "MD4C"},       {"PCRE2", "PCRE2"},
            {"Threads", {}},        {"nlohmann_json", "JSON for Modern C++"},
            {"spdlog", "spdlog"},   {"tl-expected", "tl::expected"},
        };
        const LicenceModel licences;
        QStringList listed;
        for (int row = 0; row < licences.rowCount(); ++row)
            listed.append(licences.index(row).data(LicenceModel::NameRole).toString());
        static const QRegularExpression found(
            QStringLiteral("^\\s*find_(?:package\\(([A-Za-z0-9_-]+)|library\\(([A-Z0-9]+)_LIBRARY)"),
            QRegularExpression::MultilineOption);
        int count = 0;
        for (const char* const folder : {"", "app/", "app/cli/", "app/net/", "app/text/", "engine/"}) {
            QFile file(QStringLiteral(SPILLWAY_SOURCE_DIR "/%1CMakeLists.txt").arg(QLatin1String(folder)));
            QVERIFY(file.open(QFile::ReadOnly));
            for (auto all = found.globalMatch(QString::fromUtf8(file.readAll())); all.hasNext(); ++count) {
                const QRegularExpressionMatch match = all.next();
                const QString work = match.captured(1) + match.captured(2);
                QVERIFY2(names.contains(work), qPrintable(work));
                QVERIFY2(names[work].isEmpty() || listed.contains(names[work]), qPrintable(work));
            }
        }
        QVERIFY(count >= names.size());
    }
};

QTEST_GUILESS_MAIN(TestLicenceModel)
#include "tst_licence_model.moc"
