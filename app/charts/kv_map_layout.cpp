#include "app/charts/kv_map_layout.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr double kWidest = 4;   // of a cell, in units
constexpr double kHighest = 2;  // the same
constexpr int kMostBands = 64;

}  // namespace

KvMapLayout::KvMapLayout(int columns, int layers, double width, double mostHeight, double unit)
    : m_columns(columns)
    , m_layers(layers)
{
    if (columns <= 0 || layers <= 0 || width < unit || unit <= 0)
        return;
    const double cellWidth = std::clamp(width / columns, unit, kWidest * unit);
    m_perLine = std::max(1, int(width / cellWidth));
    m_lines = (columns + m_perLine - 1) / m_perLine;
    m_gap = m_lines > 1 ? unit : 0;
    const double room = mostHeight / m_lines - m_gap;  // of a line's bands
    m_bands = std::clamp(int(room / unit), 1, std::min(layers, kMostBands));
    m_cell = {cellWidth, std::clamp(room / m_bands, unit, kHighest * unit)};
}

QRectF KvMapLayout::rect(Cell cell) const
{
    const int line = cell.column / m_perLine;
    return {cell.column % m_perLine * m_cell.width(), line * lineHeight() + cell.band * m_cell.height(), m_cell.width(),
            m_cell.height()};
}

std::optional<KvMapLayout::Cell> KvMapLayout::at(QPointF point) const
{
    if (m_lines == 0 || point.x() < 0 || point.y() < 0)
        return {};
    const int line = int(point.y() / lineHeight());
    const int inLine = int(point.x() / m_cell.width());
    const int band = int((point.y() - line * lineHeight()) / m_cell.height());
    const int column = line * m_perLine + inLine;
    if (line >= m_lines || inLine >= m_perLine || band >= m_bands || column >= m_columns)
        return {};
    return Cell{column, band};
}
