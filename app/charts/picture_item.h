// PictureItem paints a picture on the UI thread and hands it to the scene as a texture.
#pragma once

#include <QImage>
#include <QQuickItem>

/// An item whose picture is made on the UI thread, when something has changed and the item is seen; the scene gets it
/// as a texture. A QQuickPaintedItem would paint on the render thread, where neither a widget nor a model may be
/// touched. Lives on the UI thread.
class PictureItem : public QQuickItem
{
    Q_OBJECT

public:
    explicit PictureItem(QQuickItem* parent = nullptr);

    const QImage& picture() const { return m_picture; }

protected:
    /// Paints onto a transparent picture of the item's size, in the pixels of its screen.
    virtual void paint(QImage& picture) = 0;
    void redrawSoon();

    void updatePolish() override;
    QSGNode* updatePaintNode(QSGNode* old, UpdatePaintNodeData*) override;
    void itemChange(ItemChange change, const ItemChangeData& data) override;
    void geometryChange(const QRectF& now, const QRectF& before) override;

private:
    QImage m_picture;
    bool m_pictureIsNew = false;
};
