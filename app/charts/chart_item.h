// ChartItem shows a QCustomPlot in the window, with zooming, dragging and a cursor.
#pragma once

#include "app/charts/monitor_item.h"

#include <QColor>
#include <QJSValue>
#include <QList>
#include <QStringList>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <memory>
#include <optional>

class QCPAxis;
class QCPPainter;
class QCPRange;
class QCustomPlot;

/// Shows one QCustomPlot as an item in the window's colours: zoomed with Ctrl and the wheel, moved by dragging, back
/// with a double click or Home, with a cursor that follows the pointer. The page's functions `xText` and `yText` write
/// the axes' numbers. Lives on the UI thread.
class ChartItem : public MonitorItem
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("there are charts of several kinds")
    Q_PROPERTY(QColor ink MEMBER m_ink NOTIFY looksChanged)
    Q_PROPERTY(QColor mutedInk MEMBER m_mutedInk NOTIFY looksChanged)
    Q_PROPERTY(QColor grid MEMBER m_grid NOTIFY looksChanged)
    Q_PROPERTY(QColor ground MEMBER m_ground NOTIFY looksChanged)
    Q_PROPERTY(QString fontFamily MEMBER m_fontFamily NOTIFY looksChanged)
    Q_PROPERTY(int fontPixels MEMBER m_fontPixels NOTIFY looksChanged)
    Q_PROPERTY(QJSValue xText READ xText WRITE setXText NOTIFY looksChanged)
    Q_PROPERTY(QJSValue yText READ yText WRITE setYText NOTIFY looksChanged)
    Q_PROPERTY(QStringList hidden MEMBER m_hidden NOTIFY looksChanged)
    Q_PROPERTY(QVariant cursor READ cursor NOTIFY cursorChanged)
    Q_PROPERTY(double pointerX READ pointerX NOTIFY cursorChanged)
    Q_PROPERTY(bool zoomed READ zoomed NOTIFY zoomChanged)
    Q_PROPERTY(bool empty READ empty NOTIFY emptyChanged)

public:
    explicit ChartItem(QQuickItem* parent = nullptr);
    ~ChartItem() override;

    QJSValue xText() const { return m_xText; }
    void setXText(const QJSValue& write);
    QJSValue yText() const { return m_yText; }
    void setYText(const QJSValue& write);
    QVariant cursor() const;  // where the pointer stands on the x axis; undefined: nowhere
    double pointerX() const { return m_cursorPixel.value_or(0); }  // in pixels
    bool zoomed() const { return m_zoom.has_value(); }
    bool empty() const
    {
        return m_empty;
    }  // nothing is drawn; the y axis then has no numbers, which would mean nothing

    Q_INVOKABLE void resetZoom();
    /// Zooms the x axis around the cursor, else around the middle. `factor` above 1: closer.
    Q_INVOKABLE void zoom(double factor);
    /// Moves the visible range by a share of its width.
    Q_INVOKABLE void pan(double share);
    /// Copies what is seen to the clipboard.
    Q_INVOKABLE void copyPicture() const;

    /// Draws the whole chart, however it is zoomed, with another painter: into a picture of any size or a vector file.
    void drawWhole(QCPPainter& painter, const QSize& size);
    QColor mutedInk() const { return m_mutedInk; }
    QColor ink() const { return m_ink; }
    QColor ground() const { return m_ground; }
    QString fontFamily() const { return m_fontFamily; }

Q_SIGNALS:
    void looksChanged();
    void cursorChanged();
    void zoomChanged();
    void emptyChanged();

protected:
    /// Puts the data into the plot and sets the axes' ranges; a zoom then overrides that of the x axis.
    virtual void fill(QCustomPlot& plot) = 0;
    /// Returns the places at which the x axis has numbers, within the visible range; empty: at round ones.
    virtual QList<double> ticksX(double from, double to) const;
    /// Returns the point whose numbers are shown at x, which is then marked; empty: they belong to no single point.
    virtual std::optional<QPointF> pointNear(double x) const;
    /// Begins to drag the line under the pointer. False: there is none, so that the chart is moved.
    virtual bool dragBegins(double x, double y);
    virtual void dragGoesOn(double x, double y);
    /// `chosen`: the user has let the line go there; false: the drag was interrupted.
    virtual void dragEnds(bool chosen);
    bool shows(const char* series) const { return !m_hidden.contains(QLatin1String(series)); }
    const QStringList& hidden() const { return m_hidden; }
    /// fill() calls it in charts that may have nothing to show.
    void setEmpty(bool empty);
    /// Returns the place of a value on the y axis, in pixels of the item.
    double yPixel(double value) const;

    void onMeasured() override { redrawSoon(); }
    void onModelChanged() override { resetZoom(); }
    void paint(QImage& picture) override;
    void hoverMoveEvent(QHoverEvent* event) override;
    void hoverLeaveEvent(QHoverEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseUngrabEvent() override;
    void wheelEvent(QWheelEvent* event) override;

private:
    struct Span {
        double from = 0, to = 0;
    };
    enum class Drag { None, Line, Chart };
    void fillWhole();
    void style(QCustomPlot& plot) const;
    void labelAxes() const;
    void label(QCPAxis& axis, const QJSValue& text, const QList<double>& ticks) const;
    void drawCursor(QImage& picture) const;
    void setZoom(std::optional<Span> zoom);
    void setCursor(std::optional<double> pixel);
    double xValue(double pixel) const;
    double yValue(double pixel) const;

    std::unique_ptr<QCustomPlot> m_plot;
    QColor m_ink = Qt::black, m_mutedInk = Qt::darkGray, m_grid = Qt::lightGray, m_ground = Qt::white;
    QString m_fontFamily;
    int m_fontPixels = 12;
    QJSValue m_xText, m_yText;
    QStringList m_hidden;
    std::optional<double> m_cursorPixel;
    std::optional<Span> m_zoom;
    Span m_whole;  // of the x axis, without a zoom
    bool m_empty = false;
    Drag m_drag = Drag::None;
    double m_dragFrom = 0;  // pixel
    Span m_zoomAtDrag;
};
