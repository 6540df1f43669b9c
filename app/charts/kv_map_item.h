// KvMapItem draws where each KV block of the conversation lies.
#pragma once

#include "app/charts/kv_map_layout.h"
#include "app/charts/monitor_item.h"

#include <QColor>
#include <QtQml/qqmlregistration.h>

#include <cstdint>
#include <memory>
#include <optional>

class QPainter;

/// Draws a cell for each block column and band of layers, coloured by where they lie; where a band's layers lie in
/// several places the colours are mixed. Left of them is a cell for each band with recurrent layers, filled as far as
/// their states lie on the device. A band whose layers have no KV is a thin line. A range of tokens can be lit. The
/// picture is made again when a block has moved, not with every token. Lives on the UI thread.
class KvMapItem : public MonitorItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QColor deviceColor MEMBER m_deviceColor NOTIFY looksChanged)
    Q_PROPERTY(QColor hostColor MEMBER m_hostColor NOTIFY looksChanged)
    Q_PROPERTY(QColor movingColor MEMBER m_movingColor NOTIFY looksChanged)
    Q_PROPERTY(QColor windowColor MEMBER m_windowColor NOTIFY looksChanged)
    Q_PROPERTY(QColor stateColor MEMBER m_stateColor NOTIFY looksChanged)
    Q_PROPERTY(QColor emptyColor MEMBER m_emptyColor NOTIFY looksChanged)
    Q_PROPERTY(QColor pinColor MEMBER m_pinColor NOTIFY looksChanged)
    Q_PROPERTY(QColor lightColor MEMBER m_lightColor NOTIFY looksChanged)
    Q_PROPERTY(double unit MEMBER m_unit NOTIFY looksChanged)
    Q_PROPERTY(double mostHeight MEMBER m_mostHeight NOTIFY looksChanged)
    Q_PROPERTY(int lightFirst MEMBER m_lightFirst NOTIFY looksChanged)
    Q_PROPERTY(int lightLast MEMBER m_lightLast NOTIFY looksChanged)
    Q_PROPERTY(int columns READ columns NOTIFY mapChanged)
    Q_PROPERTY(int blockTokens READ blockTokens NOTIFY mapChanged)
    Q_PROPERTY(int nextToLeave READ nextToLeave NOTIFY mapChanged)
    Q_PROPERTY(bool windowed READ windowed NOTIFY mapChanged)
    Q_PROPERTY(int statesOnDevice READ statesOnDevice NOTIFY mapChanged)
    Q_PROPERTY(int statesOnHost READ statesOnHost NOTIFY mapChanged)
    Q_PROPERTY(double stateBytes READ stateBytes NOTIFY mapChanged)
    Q_PROPERTY(QVariantMap pointed READ pointed NOTIFY pointedChanged)
    Q_PROPERTY(QRectF mark READ mark NOTIFY pointedChanged)

public:
    explicit KvMapItem(QQuickItem* parent = nullptr);

    int columns() const { return m_map ? m_map->columns : 0; }
    /// Returns the column that leaves the device first when there is no room: the oldest one there that is not pinned,
    /// never the first or the last (engine/kv/eviction.h). -1: none.
    int nextToLeave() const;
    bool windowed() const;  // some blocks lie behind a sliding window
    int blockTokens() const { return m_map ? m_map->block_tokens : 0; }
    // These tell of the states of the conversation's recurrent layers, each of which has one.
    int statesOnDevice() const { return allStates().device; }
    int statesOnHost() const { return allStates().host; }
    double stateBytes() const { return double(allStates().bytes); }
    /// Returns what is known of the cell that the pointer or the keyboard points at: column, firstToken, lastToken,
    /// firstLayer, lastLayer, host, device, moving, window (layers there), pinned, bytes; and of what moved it last:
    /// movedAt, movedHow, movedWhy, absent where nothing has. Of a states' cell: states, firstLayer, lastLayer, host,
    /// device, bytes. Empty: none is pointed at.
    QVariantMap pointed() const;
    QRectF mark() const;  // where that cell lies in this item; empty: none is pointed at
    /// Does the same for any cell, for tests; `column` -1: the cell of the band's states.
    Q_INVOKABLE QVariantMap cell(int column, int band) const;
    /// Points at another cell, this many columns and bands further; at the first if none was pointed at.
    Q_INVOKABLE void step(int columns, int bands);
    /// Points at none any more: the item was moved away from under the pointer, or the keyboard left it.
    Q_INVOKABLE void forgetPointer();

Q_SIGNALS:
    void looksChanged();
    void mapChanged();
    void pointedChanged();

protected:
    void onMeasured() override { takeMap(); }
    void paint(QImage& picture) override;
    void geometryChange(const QRectF& now, const QRectF& before) override;
    void hoverMoveEvent(QHoverEvent* event) override;
    void hoverLeaveEvent(QHoverEvent* event) override;

private:
    struct Layers {
        int host = 0, device = 0, moving = 0, window = 0;
        int count() const { return host + device + moving + window; }
    };
    struct States {
        int host = 0, device = 0;
        std::int64_t bytes = 0;
        int count() const { return host + device; }
    };
    void takeMap();
    void layOut();
    void point(std::optional<KvMapLayout::Cell> cell);
    Layers layersOf(KvMapLayout::Cell cell) const;
    States statesOf(int firstLayer, int lastLayer) const;
    States allStates() const { return m_map ? statesOf(0, m_map->layers - 1) : States(); }
    QVariantMap stateCell(int band) const;
    void paintState(QPainter& painter, int band) const;
    void paintBlock(QPainter& painter, KvMapLayout::Cell cell) const;
    QColor colorOf(const Layers& layers) const;
    bool lit(int column) const;

    std::shared_ptr<const engine::KvMap> m_map;
    KvMapLayout m_layout;
    QColor m_deviceColor, m_hostColor, m_movingColor, m_windowColor, m_stateColor, m_emptyColor, m_pinColor,
        m_lightColor;
    double m_unit = 4;
    double m_mostHeight = 120;
    int m_lightFirst = -1, m_lightLast = -1;  // tokens; -1: none
    std::optional<KvMapLayout::Cell> m_pointed;
};
