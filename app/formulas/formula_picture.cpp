#include "app/formulas/formula_picture.h"

#include <QPainter>
#include <QSvgRenderer>
#include <QTransform>

#include <algorithm>
#include <cmath>

namespace {

constexpr double kEdge = 1;       // pixels around the formula, for symbols that reach out of their boxes
constexpr int kLargest = 16'000;  // pixels of the screen, each way
constexpr qint64 kMostPixels = 8 << 20;

/// Returns the rectangle at least one `pixel` (in the formula's unit) wide and high: a thinner line would vanish.
QRectF visible(QRectF rect, double pixel)
{
    if (rect.height() < pixel)
        rect.setTop(rect.bottom() - pixel);
    if (rect.width() < pixel)
        rect.setWidth(pixel);
    return rect;
}

void paintCurve(QPainter& painter, const FormulaLayout::Curve& curve, const QColor& color)
{
    const QRectF& view = curve.view;
    const QString svg = QStringLiteral("<svg xmlns='http://www.w3.org/2000/svg' viewBox='%1 %2 %3 %4'>"
                                       "<path fill='%5' d='%6'/></svg>")
                            .arg(view.x())
                            .arg(view.y())
                            .arg(view.width())
                            .arg(view.height())
                            .arg(color.name(), curve.path.toHtmlEscaped());
    QSvgRenderer renderer(svg.toUtf8());
    renderer.setAspectRatioMode(Qt::IgnoreAspectRatio);
    painter.save();
    painter.setClipRect(curve.target);
    renderer.render(&painter, curve.target);
    painter.restore();
}

void paint(QPainter& painter, const FormulaLayout& layout, const FormulaInk& ink, double pixel)
{
    const auto colored = [&ink](const QColor& color) {
        return !color.isValid() ? ink.text : color.rgba() == kErrorInk ? ink.error : color;
    };
    for (const FormulaLayout::Rule& ground : layout.grounds)
        painter.fillRect(ground.rect, ground.color);
    for (const FormulaLayout::Shape& shape : layout.shapes)
        painter.fillPath(shape.path, colored(shape.color));
    for (const FormulaLayout::Rule& rule : layout.rules)
        painter.fillRect(visible(rule.rect, pixel), colored(rule.color));
    for (const FormulaLayout::Curve& curve : layout.curves)
        paintCurve(painter, curve, colored(curve.color));
    for (const FormulaLayout::Stroke& stroke : layout.strokes) {
        painter.setPen(QPen(colored(stroke.color), std::max(stroke.thickness, pixel)));
        painter.drawLine(stroke.from, stroke.to);
    }
}

}  // namespace

FormulaPicture paintFormula(const FormulaLayout& layout, double pixels, const FormulaInk& ink, double scale)
{
    FormulaPicture picture;
    picture.depth = std::ceil(layout.depth * pixels) + kEdge;
    const double height = std::ceil(layout.height * pixels) + kEdge;
    picture.size = QSize(int(std::ceil(layout.width * pixels + 2 * kEdge)), int(height + picture.depth));
    const QSize screen = (QSizeF(picture.size) * scale).toSize();
    if (screen.isEmpty() || screen.width() > kLargest || screen.height() > kLargest ||
        qint64(screen.width()) * screen.height() > kMostPixels)
        return {};
    picture.image = QImage(screen, QImage::Format_ARGB32_Premultiplied);
    picture.image.fill(Qt::transparent);
    QPainter painter(&picture.image);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    painter.translate(kEdge, height);
    painter.scale(pixels, pixels);
    paint(painter, layout, ink, 1 / (pixels * scale));
    return picture;
}
