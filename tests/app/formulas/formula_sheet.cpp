// Draws a file of formulas, one a line, as sheets to be looked at: formula_sheet FILE FOLDER [dark]
#include "app/formulas/formula_picture.h"
#include "app/formulas/katex.h"

#include <QFile>
#include <QGuiApplication>
#include <QPainter>
#include <QTextStream>

#include <algorithm>

namespace {

constexpr int kColumns = 2, kRows = 25;
constexpr int kWidth = 1500, kRowHeight = 76;
constexpr double kPixels = 20;

struct Sheet {
    QImage image = QImage(kWidth, kRows* kRowHeight, QImage::Format_RGB32);
    int used = 0;
};

}  // namespace

int main(int argc, char* argv[])
{
    QGuiApplication app(argc, argv);
    QTextStream err(stderr);
    QFile file(app.arguments().value(1));
    const QString folder = app.arguments().value(2);
    if (folder.isEmpty() || !file.open(QIODevice::ReadOnly | QIODevice::Text)) {
        err << "formula_sheet FILE FOLDER [dark]\n";
        return 2;
    }
    const bool dark = app.arguments().value(3) == QLatin1String("dark");
    const QColor ground = dark ? QColor(0x1b, 0x1d, 0x21) : Qt::white, text = dark ? Qt::white : Qt::black;

    Katex katex;
    FormulaFonts fonts;
    int sheets = 0, unset = 0;
    Sheet sheet;
    const auto save = [&] {
        if (sheet.used > 0)
            sheet.image.save(QStringLiteral("%1/formulas-%2.png").arg(folder).arg(++sheets, 2, 10, QChar(u'0')));
        sheet.image.fill(ground);
        sheet.used = 0;
    };
    save();
    for (const QString& line : QString::fromUtf8(file.readAll()).split(u'\n', Qt::SkipEmptyParts)) {
        if (line.startsWith(u'#'))
            continue;
        const bool display = !line.startsWith(u'~');  // ~: in running text
        const QString latex = display ? line : line.mid(1);
        const int column = sheet.used / kRows, row = sheet.used % kRows;
        QPainter painter(&sheet.image);
        painter.translate(column * (kWidth / kColumns) + 8, row * kRowHeight);
        painter.setPen(Qt::gray);
        QFont small(QStringLiteral("DejaVu Sans Mono"));
        small.setPixelSize(10);
        painter.setFont(small);
        painter.drawText(0, 10, latex.left(110));
        if (const auto boxes = readFormulaBoxes(katex.boxes(latex, display))) {
            const FormulaPicture picture = paintFormula(layOut(*boxes, fonts), kPixels, {text, Qt::red}, 1);
            painter.drawImage(10, 14, picture.image);
        } else {
            ++unset;
            painter.setPen(Qt::red);
            painter.drawText(10, 40, QStringLiteral("not set"));
        }
        if (++sheet.used == kColumns * kRows)
            save();
    }
    save();
    err << sheets << " sheets, " << unset << " formulas not set\n";
    return 0;
}
