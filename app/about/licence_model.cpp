#include "app/about/licence_model.h"

#include <QCoreApplication>
#include <QFile>

#include <span>

namespace {

struct LicenceRow {
    const char* name;
    const char* purpose;
    const char* licence;
    const char* files;  // of resources/licences, one after the other
};

const LicenceRow kLicenceRows[] = {
    {"Spillway", QT_TRANSLATE_NOOP("LicenceModel", "this program"), "GPL-3.0-or-later", "GPL-3.txt"},
    {"Inter", QT_TRANSLATE_NOOP("LicenceModel", "the typeface"), "OFL-1.1", "Inter.txt"},
    {"Qt 6", QT_TRANSLATE_NOOP("LicenceModel", "window, models, database access"), "LGPL-3.0 or GPL-3.0",
     "LGPL-3.txt GPL-3.txt"},
    {"Qt PDF and PDFium", QT_TRANSLATE_NOOP("LicenceModel", "text of PDF files"), "LGPL-3.0 or GPL-3.0; BSD-3-Clause",
     "LGPL-3.txt PDFium.txt"},
    {"QCustomPlot", QT_TRANSLATE_NOOP("LicenceModel", "the charts"), "GPL-3.0-or-later", "GPL-3.txt"},
    {"SQLite", QT_TRANSLATE_NOOP("LicenceModel", "the database of conversations"),
     QT_TRANSLATE_NOOP("LicenceModel", "public domain"), "SQLite.txt"},
    {"spdlog", QT_TRANSLATE_NOOP("LicenceModel", "the log"), "MIT", "spdlog.txt"},
    {"fmt", QT_TRANSLATE_NOOP("LicenceModel", "the log's numbers"), "MIT", "fmt.txt"},
    {"tl::expected", QT_TRANSLATE_NOOP("LicenceModel", "results and errors of the engine"), "CC0-1.0", "expected.txt"},
    {"JSON for Modern C++", QT_TRANSLATE_NOOP("LicenceModel", "JSON in the engine"), "MIT", "nlohmann-json.txt"},
    {"curl", QT_TRANSLATE_NOOP("LicenceModel", "fetching models, asking servers"), "curl", "curl.txt"},
    {"OpenSSL", QT_TRANSLATE_NOOP("LicenceModel", "checksums of fetched files"), "Apache-2.0", "OpenSSL.txt"},
    {"PCRE2", QT_TRANSLATE_NOOP("LicenceModel", "patterns of the tokenizers"), "BSD-3-Clause", "PCRE2.txt"},
    {"CLI11", QT_TRANSLATE_NOOP("LicenceModel", "options of spillway-cli"), "BSD-3-Clause", "CLI11.txt"},
    {"KaTeX", QT_TRANSLATE_NOOP("LicenceModel", "formulas in answers, and their fonts"), "MIT; OFL-1.1", "KaTeX.txt"},
    {"MD4C", QT_TRANSLATE_NOOP("LicenceModel", "Markdown of answers"), "MIT", "md4c.txt"},
    {"GNU Readline", QT_TRANSLATE_NOOP("LicenceModel", "typing in spillway-cli"), "GPL-3.0-or-later", "GPL-3.txt"},
};

}  // namespace

LicenceModel::LicenceModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

int LicenceModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(std::size(kLicenceRows));
}

QVariant LicenceModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const LicenceRow& row = kLicenceRows[index.row()];
    switch (role) {
    case Qt::DisplayRole:
    case NameRole:
        return QString::fromUtf8(row.name);
    case PurposeRole:
        return QCoreApplication::translate("LicenceModel", row.purpose);
    case LicenceRole:
        return QCoreApplication::translate("LicenceModel", row.licence);
    default:
        return {};
    }
}

QHash<int, QByteArray> LicenceModel::roleNames() const
{
    return {{NameRole, "name"}, {PurposeRole, "purpose"}, {LicenceRole, "licence"}};
}

QString LicenceModel::text(int row) const
{
    if (row < 0 || row >= rowCount())
        return {};
    QString text;
    for (const QString& name : QString::fromLatin1(kLicenceRows[row].files).split(QLatin1Char(' '))) {
        QFile file(QStringLiteral(":/licences/") + name);
        if (file.open(QFile::ReadOnly))
            text += QString::fromUtf8(file.readAll()) + QLatin1Char('\n');
    }
    return text;
}

#include "moc_licence_model.cpp"
