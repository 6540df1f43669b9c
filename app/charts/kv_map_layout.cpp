#include "app/charts/kv_map_layout.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr double kWidest = 4;   // of a cell, in units
constexpr double kHighest = 2;  // the same
constexpr int kMostBands = 64;
constexpr double kStateWidth = 3, kStateGap = 1;  // of a states' cell, and of the gap right of it, in units

}  // namespace

KvMapLayout::KvMapLayout(int columns, int layers, double width, double mostHeight, double unit, States states)
    : m_margin(states == States::Shown ? (kStateWidth + kStateGap) * unit : 0)
    , m_columns(columns)
    , m_layers(layers)
{
    const double room = width - m_margin;
    if (columns <= 0 || layers <= 0 || room < unit || unit <= 0)
        return;
    const double cellWidth = std::clamp(room / columns, unit, kWidest * unit);
    m_perLine = std::max(1, int(room / cellWidth));
    m_lines = (columns + m_perLine - 1) / m_perLine;
    m_gap = m_lines > 1 ? unit : 0;
    const double height = mostHeight / m_lines - m_gap;  // of a line's bands
    m_bands = std::clamp(int(height / unit), 1, std::min(layers, kMostBands));
    m_cell = {cellWidth, std::clamp(height / m_bands, unit, kHighest * unit)};
    if (states == States::Shown)
        m_state = {kStateWidth * unit, m_cell.height()};
}

QRectF KvMapLayout::rect(Cell cell) const
{
    if (cell.column == kState)
        return {{0, cell.band * m_cell.height()}, m_state};
    const int line = cell.column / m_perLine;
    return {m_margin + cell.column % m_perLine * m_cell.width(), line * lineHeight() + cell.band * m_cell.height(),
            m_cell.width(), m_cell.height()};
}

std::optional<KvMapLayout::Cell> KvMapLayout::at(QPointF point) const
{
    if (m_lines == 0 || point.x() < 0 || point.y() < 0)
        return {};
    const int line = int(point.y() / lineHeight());
    const int band = int((point.y() - line * lineHeight()) / m_cell.height());
    if (point.x() < m_margin) {
        const bool onState = point.x() < m_state.width() && line == 0 && band < m_bands;
        return onState ? std::optional(Cell{kState, band}) : std::nullopt;
    }
    const int inLine = int((point.x() - m_margin) / m_cell.width());
    const int column = line * m_perLine + inLine;
    if (line >= m_lines || inLine >= m_perLine || band >= m_bands || column >= m_columns)
        return {};
    return Cell{column, band};
}
