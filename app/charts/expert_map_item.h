// ExpertMapItem draws where each expert of each layer lies, and how often tokens chose it.
#pragma once

#include "app/charts/monitor_item.h"
#include "engine/expert_map.h"

#include <QColor>
#include <QElapsedTimer>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <cstdint>
#include <memory>
#include <optional>

/// Draws a line for each layer that has experts, and in it a cell for each expert: the cell's colour says where it
/// lies, the colour's strength how often it was chosen, compared with the one chosen most. Cells smaller than a pixel
/// share one. The picture is made again a few times a second at most. The pointer or the keyboard points at one cell.
/// Lives on the UI thread.
class ExpertMapItem : public MonitorItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QColor hostColor MEMBER m_hostColor NOTIFY looksChanged)
    Q_PROPERTY(QColor deviceColor MEMBER m_deviceColor NOTIFY looksChanged)
    Q_PROPERTY(QColor copyColor MEMBER m_copyColor NOTIFY looksChanged)
    Q_PROPERTY(QColor ground MEMBER m_ground NOTIFY looksChanged)
    Q_PROPERTY(QColor markColor MEMBER m_markColor NOTIFY looksChanged)
    Q_PROPERTY(double unit MEMBER m_unit NOTIFY looksChanged)
    Q_PROPERTY(double mostHeight MEMBER m_mostHeight NOTIFY looksChanged)
    Q_PROPERTY(Span span MEMBER m_span NOTIFY looksChanged)
    Q_PROPERTY(int layers READ layers NOTIFY mapChanged)
    Q_PROPERTY(int experts READ experts NOTIFY mapChanged)
    Q_PROPERTY(int onHost READ onHost NOTIFY mapChanged)
    Q_PROPERTY(int onDevice READ onDevice NOTIFY mapChanged)
    Q_PROPERTY(int copies READ copies NOTIFY mapChanged)
    Q_PROPERTY(bool countedOnDevice READ countedOnDevice NOTIFY mapChanged)
    Q_PROPERTY(QVariantMap pointed READ pointed NOTIFY pointedChanged)

public:
    /// Says which tokens' choices are counted.
    enum Span { Answer, Conversation };
    Q_ENUM(Span)

    explicit ExpertMapItem(QQuickItem* parent = nullptr);

    int layers() const { return int(m_layers.size()); }  // that have experts; 0: there is nothing to show
    int experts() const { return m_map ? m_map->experts : 0; }
    // Experts of all layers; one that has a copy on the device is not counted to those in RAM.
    int onHost() const { return m_onHost; }
    int onDevice() const { return m_onDevice; }
    int copies() const { return m_copies; }
    bool countedOnDevice() const { return !m_map || m_map->counted_on_device; }
    /// Returns the expert that the pointer or the keyboard points at: layer, expert, place ("host", "device", "copy"),
    /// counted, inAnswer, inConversation (tokens that chose it), and what share of the layer's choices that is:
    /// shareOfAnswer, shareOfConversation, absent where no choice was made. Empty: none is pointed at.
    QVariantMap pointed() const;
    /// Points at another expert, this many layers and experts further; at the first if none was pointed at.
    Q_INVOKABLE void step(int layers, int experts);
    /// Points at none any more: the item was moved away from under the pointer, or the keyboard left it.
    Q_INVOKABLE void forgetPointer();

Q_SIGNALS:
    void looksChanged();
    void mapChanged();
    void pointedChanged();

protected:
    void onMeasured() override { takeMap(); }
    void onModelChanged() override;
    void paint(QImage& picture) override;
    void geometryChange(const QRectF& now, const QRectF& before) override;
    void hoverMoveEvent(QHoverEvent* event) override;
    void hoverLeaveEvent(QHoverEvent* event) override;

private:
    struct Cell {
        int line = 0;  // of those that are drawn
        int expert = 0;
        bool operator==(const Cell&) const = default;
    };
    void takeMap();
    void take(std::shared_ptr<const engine::ExpertMap> map);
    void layOut();
    void point(std::optional<Cell> cell);
    QRectF rect(Cell cell) const;
    QImage cells() const;
    const std::vector<std::uint32_t>& chosen(Span span) const;

    std::shared_ptr<const engine::ExpertMap> m_map;
    std::vector<int> m_layers;  // those with experts
    int m_onHost = 0, m_onDevice = 0, m_copies = 0;
    QColor m_hostColor, m_deviceColor, m_copyColor, m_ground, m_markColor;
    double m_unit = 4;
    double m_mostHeight = 120;
    double m_lineHeight = 0;
    Span m_span = Answer;
    std::optional<Cell> m_pointed;
    QElapsedTimer m_taken;  // when the newest map was
    QTimer m_later;
};
