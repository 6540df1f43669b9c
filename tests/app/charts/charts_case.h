// Shows one chart in a window that is never seen, for tests of what it draws.
#pragma once

#include "app/pressure/pressure_monitor.h"

#include <QColor>
#include <QImage>
#include <QQuickWindow>
#include <QTest>

namespace charts_case {

inline const QColor kWeights("#0072b2"), kKv("#009e73"), kExperts("#5b2a86"), kState("#56b4e9"), kScratch("#cc79a7"),
    kOthers("#999999"), kGround("#ffffff");

inline engine::Telemetry frameAt(double seconds, int contextTokens, std::int64_t kvBytes)
{
    engine::Telemetry frame;
    frame.time_us = std::int64_t(seconds * 1e6);
    frame.context_tokens = contextTokens;
    frame.context_limit = 8192;
    frame.device.emplace();
    frame.device->id = "emulated";
    frame.device->total_bytes = 1000;
    frame.device->budget_bytes = 900;
    frame.device->watermark_bytes = 800;
    frame.device->weight_bytes = 300;
    frame.device->kv_bytes = kvBytes;
    frame.device->scratch_bytes = 100;
    return frame;
}

/// A window that is never seen, with one item that fills it.
template <class Item>
struct Shown {
    Shown()
    {
        window.resize(400, 200);
        window.create();
        item.setParentItem(window.contentItem());
        item.setSize({400, 200});
        item.setMonitor(&monitor);
    }
    QImage picture()
    {
        QTest::qWait(150);  // what the monitor gathers
        item.ensurePolished();
        return item.picture();
    }

    PressureMonitor monitor;
    QQuickWindow window;
    Item item;
};

inline int pixelsOf(const QImage& picture, const QColor& color)
{
    int count = 0;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            count += picture.pixelColor(x, y) == color ? 1 : 0;
    return count;
}

}  // namespace charts_case
