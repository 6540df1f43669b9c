// StreamParameters describes the residual streams of models that have several side by side.
#pragma once

namespace engine {

constexpr int kMostStreams = 8;

struct StreamParameters {
    int count = 1;  // residual streams
    int rank = 0;   // values of a row between the two products that mix it; 0: there are none

    bool several() const { return count > 1; }
};

}  // namespace engine
