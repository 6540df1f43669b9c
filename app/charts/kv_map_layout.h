// KvMapLayout computes where the cells of a KV map lie.
#pragma once

#include <QRectF>
#include <QSizeF>

#include <optional>

/// Block columns run from left to right, in as many lines as they need, like text; a line is as many bands high as
/// there is room for, and a band stands for some layers. The states of recurrent layers, which have the same size at
/// any length, have cells of their own left of the first line. A plain value; lengths in pixels.
class KvMapLayout
{
public:
    enum class States { None, Shown };
    struct Cell {
        int column = 0;  // kState: none, but the states of the band's recurrent layers
        int band = 0;
        bool operator==(const Cell&) const = default;
    };
    static constexpr int kState = -1;

    /// `unit`: the least width and height of a cell.
    KvMapLayout() = default;
    KvMapLayout(int columns, int layers, double width, double mostHeight, double unit, States states = States::None);

    int columns() const { return m_columns; }
    int bands() const { return m_bands; }
    int firstLayer(int band) const { return int(qint64(m_layers) * band / m_bands); }
    int lastLayer(int band) const { return firstLayer(band + 1) - 1; }
    double height() const { return m_lines > 0 ? m_lines * lineHeight() - m_gap : 0; }
    QRectF rect(Cell cell) const;
    std::optional<Cell> at(QPointF point) const;

private:
    double lineHeight() const { return m_bands * m_cell.height() + m_gap; }

    QSizeF m_state;       // of a states' cell; empty: there are none
    double m_margin = 0;  // left of the columns
    int m_columns = 0;
    int m_layers = 0;
    int m_bands = 1;
    int m_perLine = 1;
    int m_lines = 0;
    QSizeF m_cell;
    double m_gap = 0;  // between lines
};
