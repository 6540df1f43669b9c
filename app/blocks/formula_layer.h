// FormulaLayer paints the formulas of a TextEdit over it.
#pragma once

#include <QPointer>
#include <QQuickItem>
#include <QQuickTextDocument>

/// Lies over a TextEdit of the same size and paints the formulas where its text has kept room for them. A TextEdit
/// itself can paint nothing below a baseline, and pictures only in pixels of the page (Qt 6.4). UI thread; the page
/// owns it.
class FormulaLayer : public QQuickItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QQuickTextDocument* document READ document WRITE setDocument NOTIFY documentChanged)

public:
    explicit FormulaLayer(QQuickItem* parent = nullptr);

    QQuickTextDocument* document() const { return m_document; }
    void setDocument(QQuickTextDocument* document);

Q_SIGNALS:
    void documentChanged();

protected:
    QSGNode* updatePaintNode(QSGNode* node, UpdatePaintNodeData*) override;

private:
    QPointer<QQuickTextDocument> m_document;
};
