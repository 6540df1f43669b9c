#include "app/blocks/formula_layer.h"

#include "app/blocks/formula_character.h"

#include <QAbstractTextDocumentLayout>
#include <QQuickWindow>
#include <QSGImageNode>

#include <cmath>

FormulaLayer::FormulaLayer(QQuickItem* parent)
    : QQuickItem(parent)
{
    setFlag(ItemHasContents);
}

void FormulaLayer::setDocument(QQuickTextDocument* document)
{
    if (m_document == document)
        return;
    if (m_document)
        disconnect(m_document->textDocument()->documentLayout(), nullptr, this, nullptr);
    m_document = document;
    if (m_document) {
        const auto* const layout = m_document->textDocument()->documentLayout();
        connect(layout, &QAbstractTextDocumentLayout::update, this, [this] { update(); });
        connect(layout, &QAbstractTextDocumentLayout::documentSizeChanged, this, [this] { update(); });
    }
    Q_EMIT documentChanged();
    update();
}

/// Qt calls this on the render thread while the UI thread waits, so the document can be read.
QSGNode* FormulaLayer::updatePaintNode(QSGNode* node, UpdatePaintNodeData*)
{
    delete node;
    if (!m_document || !window())
        return nullptr;
    const QList<PlacedFormula> formulas = formulasIn(*m_document->textDocument());
    if (formulas.isEmpty())
        return nullptr;
    auto* const root = new QSGNode;
    const double scale = window()->effectiveDevicePixelRatio();
    for (const PlacedFormula& formula : formulas) {
        QSGImageNode* const image = window()->createImageNode();
        image->setTexture(
            window()->createTextureFromImage(formula.picture.image, QQuickWindow::TextureHasAlphaChannel));
        image->setOwnsTexture(true);
        // At whole pixels of the screen the picture is sharp.
        const QPointF corner(std::round(formula.topLeft.x() * scale) / scale,
                             std::round(formula.topLeft.y() * scale) / scale);
        image->setRect(QRectF(corner, QSizeF(formula.picture.size)));
        root->appendChildNode(image);
    }
    return root;
}

#include "moc_formula_layer.cpp"
