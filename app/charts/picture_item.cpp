#include "app/charts/picture_item.h"

#include <QQuickWindow>
#include <QSGImageNode>

PictureItem::PictureItem(QQuickItem* parent)
    : QQuickItem(parent)
{
    setFlag(ItemHasContents);
    connect(this, &QQuickItem::visibleChanged, this, &PictureItem::redrawSoon);
}

void PictureItem::redrawSoon()
{
    if (isVisible())
        polish();
}

void PictureItem::updatePolish()
{
    const qreal ratio = window() ? window()->effectiveDevicePixelRatio() : 1;
    const QSize pixels = (size() * ratio).toSize();
    if (!isVisible() || pixels.isEmpty())
        return;
    m_picture = QImage(pixels, QImage::Format_ARGB32_Premultiplied);
    m_picture.setDevicePixelRatio(ratio);
    m_picture.fill(Qt::transparent);
    paint(m_picture);
    m_pictureIsNew = true;
    update();
}

QSGNode* PictureItem::updatePaintNode(QSGNode* old, UpdatePaintNodeData*)
{
    auto* node = static_cast<QSGImageNode*>(old);
    if (m_picture.isNull()) {
        delete node;
        return nullptr;
    }
    if (!node) {
        node = window()->createImageNode();
        node->setOwnsTexture(true);
        m_pictureIsNew = true;
    }
    if (m_pictureIsNew)
        node->setTexture(window()->createTextureFromImage(m_picture));
    m_pictureIsNew = false;
    node->setRect(0, 0, width(), height());
    return node;
}

void PictureItem::itemChange(ItemChange change, const ItemChangeData& data)
{
    if (change == ItemDevicePixelRatioHasChanged || change == ItemSceneChange)
        redrawSoon();
    QQuickItem::itemChange(change, data);
}

void PictureItem::geometryChange(const QRectF& now, const QRectF& before)
{
    QQuickItem::geometryChange(now, before);
    if (now.size() != before.size())
        redrawSoon();
}

#include "moc_picture_item.cpp"
