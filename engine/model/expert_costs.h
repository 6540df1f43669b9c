// ExpertCosts says what an expert of one layer costs in a step of many rows, where it lies on the host: computed there,
// or brought over the link and computed on the device. So it says for which experts that pays. Pure arithmetic.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace engine {

struct ExpertCosts {
    // Seconds for one expert.
    double here = 0;  // reading its weights on the host
    double here_per_row = 0;
    double there = 0;  // bringing it over the link
    double there_per_row = 0;
    double slower_beside = 1;  // how many times as long the host takes while weights leave it

    double here_s(int rows) const { return std::max(here, rows * here_per_row); }
    double there_s(int rows) const { return std::max(there, rows * there_per_row); }

    /// Leaves in `order` the experts that it pays to bring, in the order of their numbers. Host and device compute at
    /// the same time: experts that most rows have chosen go first, as long as both then end sooner. rows: (experts,)
    /// that have chosen each. Returns the seconds.
    double choose(std::span<const int> rows, std::vector<int>& order) const
    {
        std::ranges::sort(order, [&](int a, int b) {
            return rows[std::size_t(a)] != rows[std::size_t(b)] ? rows[std::size_t(a)] > rows[std::size_t(b)] : a < b;
        });
        double on_host = 0, on_device = 0;
        for (const int e : order)
            on_host += here_s(rows[std::size_t(e)]);
        const double alone = on_host;
        double best = slower_beside * on_host;
        std::size_t count = 0;
        for (; count < order.size(); ++count) {
            const int of = rows[std::size_t(order[count])];
            on_host -= here_s(of);
            on_device += there_s(of);
            const double both = std::max(on_device, slower_beside * on_host);
            if (both >= best)
                break;
            best = both;
        }
        order.resize(best < alone ? count : 0);
        std::ranges::sort(order);
        return std::min(best, alone);
    }
};

}  // namespace engine
