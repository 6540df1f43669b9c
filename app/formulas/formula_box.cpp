#include "app/formulas/formula_box.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <cmath>

namespace {

constexpr double kLongest = 2000;  // em: a length beyond is nonsense

double lengthInEm(const QString& text, double missing)
{
    if (!text.endsWith(QLatin1String("em")))
        return missing;
    bool ok = false;
    const double value = QStringView(text).chopped(2).toDouble(&ok);
    return ok && std::isfinite(value) ? std::clamp(value, -kLongest, kLongest) : missing;
}

double partOf(const QString& text)
{
    return text.endsWith(u'%') ? QStringView(text).chopped(1).toDouble() / 100 : 0;
}

FormulaDrawing readDrawing(const QJsonObject& json)
{
    FormulaDrawing drawing;
    const QStringList view = json[QLatin1String("view")].toString().split(u' ');
    if (view.size() == 4) {
        drawing.viewWidth = view[2].toDouble();
        drawing.viewHeight = view[3].toDouble();
    }
    drawing.aspect = json[QLatin1String("aspect")].toString();
    for (const QJsonValue& path : json[QLatin1String("paths")].toArray())
        drawing.paths += path.toString();
    for (const QJsonValue& value : json[QLatin1String("lines")].toArray()) {
        const QJsonObject line = value.toObject();
        drawing.lines.append(
            {partOf(line[QLatin1String("x1")].toString()), partOf(line[QLatin1String("y1")].toString()),
             partOf(line[QLatin1String("x2")].toString()), partOf(line[QLatin1String("y2")].toString()),
             lengthInEm(line[QLatin1String("stroke-width")].toString(), 0.046)});
    }
    return drawing;
}

FormulaBox readBox(const QJsonObject& json)
{
    FormulaBox box;
    if (json.contains(QLatin1String("svg"))) {
        box.drawing = readDrawing(json[QLatin1String("svg")].toObject());
        return box;
    }
    for (const QJsonValue& name : json[QLatin1String("c")].toArray())
        box.classes += name.toString();
    const QJsonObject style = json[QLatin1String("s")].toObject();
    for (auto at = style.begin(); at != style.end(); ++at)
        box.style.insert(at.key(), at.value().toString());
    box.text = json[QLatin1String("t")].toString();
    box.height = json[QLatin1String("h")].toDouble();
    box.depth = json[QLatin1String("d")].toDouble();
    box.italic = json[QLatin1String("i")].toDouble();
    for (const QJsonValue& child : json[QLatin1String("k")].toArray())
        box.children.append(readBox(child.toObject()));
    return box;
}

}  // namespace

double FormulaBox::em(const char* name, double missing) const
{
    return lengthInEm(style.value(QLatin1String(name)), missing);
}

std::optional<FormulaBox> readFormulaBoxes(const QByteArray& json)
{
    const QJsonDocument document = QJsonDocument::fromJson(json);
    if (!document.isObject())
        return {};
    return readBox(document.object());
}
