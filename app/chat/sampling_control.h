// samplingControls() lists the sampling options that a conversation may set: names, ranges and meanings.
#pragma once

#include "engine/engine.h"

#include <QJsonObject>
#include <QString>

#include <optional>
#include <span>

/// One option. Its key is that of ConversationSettings::sampling; a value outside the range is as good as none.
struct SamplingControl {
    const char* key;
    double from;
    double to;
    double sliderTo;  // most of the range is of no use to anybody: the slider ends here, the field does not
    double step;
    int decimals;  // 0: a whole number
    /// Returns the value of this option in a request; nothing: no limit, or a random seed.
    std::optional<double> (*valueOf)(const engine::Request&);
    void (*give)(engine::Request&, double value);
};

std::span<const SamplingControl> samplingControls();

/// Returns the value that is set, if it is within the range.
std::optional<double> samplingValue(const QJsonObject& sampling, const SamplingControl& control);
