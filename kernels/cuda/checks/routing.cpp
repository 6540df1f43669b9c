#include "kernels/cuda/checks/routing.h"

#include "kernels/cuda/checks/checks.h"
#include "kernels/cuda/checks/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace kernels::cuda {

namespace {

constexpr RoutingShape kShapes[] = {{1, 1, 1}, {2, 5, 5}, {3, 4, 32}, {40, 8, 128}, {150, 2, 5}};

/// Returns the scores of one row, in double precision.
std::vector<double> scores_of(const float* logits, int experts, Choice::Scores scores)
{
    std::vector<double> out(static_cast<std::size_t>(experts));
    double sum = 0;
    for (std::size_t e = 0; e < out.size(); ++e)
        sum += out[e] =
            scores == Choice::Scores::Sigmoid ? 1 / (1 + std::exp(-double(logits[e]))) : std::exp(double(logits[e]));
    if (scores == Choice::Scores::Softmax)
        for (double& score : out)
            score /= sum;
    return out;
}

double weight_error(const std::vector<float>& logits, const std::vector<int>& chosen, const std::vector<float>& weights,
                    const Choice& choice, const RoutingShape& s)
{
    double worst = 0;
    for (int r = 0; r < s.rows; ++r) {
        const auto scores = scores_of(&logits[std::size_t(r * s.experts)], s.experts, choice.scores);
        const auto score = [&](int slot) { return scores[std::size_t(chosen[std::size_t(r * s.used + slot)])]; };
        double sum = 0;
        for (int slot = 0; slot < s.used; ++slot)
            sum += score(slot);
        for (int slot = 0; slot < s.used; ++slot) {
            // Exponentials of 8 at most, wrong by a few units in the last place, and sums of as many.
            const double divisor = choice.sum_to_one ? std::max(sum, double(choice.least_sum)) : 1;
            const double expected = double(choice.scale) * score(slot) / divisor;
            const double tolerance = (s.experts + 32) * kHalfEpsilon * expected;
            worst = std::max(worst, share_of(tolerance, double(weights[std::size_t(r * s.used + slot)]), expected));
        }
    }
    return worst;
}

Checked check_route(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const RoutingShape& s : kShapes) {
        DeviceMemory on(driver);
        const Choice choice{.scale = 2.5f};
        const std::vector<float> logits = random_logits(s, random);
        const Routing routing = room_for_routing(on, s);
        on.keep(route(driver, on.queue(), {on.put(logits), s.experts}, choice, routing));
        const std::vector<int> best = best_of_each_row(logits, s);
        const auto weights = on.get<float>(routing.weights, best.size());
        note(checked, on, share_of_same(on.get<int>(routing.chosen, best.size()), best), name_of(s));
        note(checked, on, weight_error(logits, best, weights, choice, s), name_of(s));
        if (s.rows <= kFewTokens)
            continue;
        std::vector<int> sorted(best.size());
        std::iota(sorted.begin(), sorted.end(), 0);
        std::stable_sort(sorted.begin(), sorted.end(),
                         [&](int a, int b) { return best[std::size_t(a)] < best[std::size_t(b)]; });
        std::vector<int> begin{0};
        for (int e = 0; e < s.experts; ++e)
            begin.push_back(begin.back() + int(std::count(best.begin(), best.end(), e)));
        note(checked, on, share_of_same(on.get<int>(routing.sorted, sorted.size()), sorted), name_of(s));
        note(checked, on, share_of_same(on.get<int>(routing.begin, begin.size()), begin), name_of(s));
    }
    return checked;
}

/// Checks the choice of experts. A bias that is added to their scores is of whole numbers, further apart than scores
/// are large, so that it alone decides.
Checked check_choice(const Driver& driver, unsigned seed, Choice choice)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const RoutingShape& s : {RoutingShape{1, 2, 5}, {3, 4, 40}, {20, 8, 128}})
        for (const bool biased : {false, true}) {
            DeviceMemory on(driver);
            const std::vector<float> logits = random_logits(s, random);
            std::vector<float> by = logits;  // scores are in their order
            std::vector<float> bias;
            for (int e = 0; e < s.experts; ++e)
                bias.push_back(2.0f * float(e * 7 % s.experts));
            for (std::size_t i = 0; biased && i < by.size(); ++i)
                by[i] = bias[i % bias.size()];
            choice.bias = biased ? on.put(bias) : 0;
            const Routing routing = room_for_routing(on, s);
            on.keep(route(driver, on.queue(), {on.put(logits), s.experts}, choice, routing));
            const std::vector<int> best = best_of_each_row(by, s);
            const std::string name = name_of(s) + (biased ? ", with a bias" : "");
            note(checked, on, share_of_same(on.get<int>(routing.chosen, best.size()), best), name);
            note(checked, on, weight_error(logits, best, on.get<float>(routing.weights, best.size()), choice, s), name);
        }
    return checked;
}

/// Returns what experts in groups are chosen by, (rows, experts): -inf for those whose group does not compete.
std::vector<float> without_lesser_groups(std::vector<float> choices, const RoutingShape& s, const Choice& choice)
{
    const int size = s.experts / choice.groups;
    for (int r = 0; r < s.rows; ++r) {
        const auto row = choices.begin() + r * s.experts;
        std::vector<std::pair<float, int>> worth;  // less of it first, and the later ones first among equals
        for (int g = 0; g < choice.groups; ++g) {
            std::vector<float> group(row + g * size, row + (g + 1) * size);
            std::ranges::sort(group, std::greater<>());
            worth.emplace_back(size > 1 ? group[0] + group[1] : group[0], -g);
        }
        std::ranges::sort(worth);
        for (int i = 0; i < choice.groups - choice.groups_used; ++i)
            std::fill_n(row - worth[std::size_t(i)].second * size, size, -std::numeric_limits<float>::infinity());
    }
    return choices;
}

/// Checks the choice among groups: with a bias that alone decides, also between groups, as in check_choice; and by
/// scores of which no two are near.
Checked check_groups(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    struct Case {
        RoutingShape shape;
        int groups, groups_used;
    };
    std::normal_distribution<float> normal;
    for (const auto& [s, groups, used] : {Case{{1, 2, 8}, 4, 2}, {{3, 8, 256}, 8, 4}, {{20, 3, 12}, 12, 5}})
        for (const bool biased : {true, false}) {
            DeviceMemory on(driver);
            std::vector<float> logits(std::size_t(s.rows * s.experts));
            std::ranges::generate(logits, [&] { return normal(random); });
            std::vector<float> bias, by;
            for (int e = 0; e < s.experts; ++e)
                bias.push_back(4.0f *
                               float(e * 7 % s.experts + 2 * s.experts * (e / (s.experts / groups) * 5 % groups)));
            for (int r = 0; r < s.rows; ++r) {
                const auto scores = scores_of(&logits[std::size_t(r * s.experts)], s.experts, Choice::Scores::Sigmoid);
                for (std::size_t e = 0; e < scores.size(); ++e)
                    by.push_back(biased ? bias[e] : float(scores[e]));
            }
            Choice choice{.scores = Choice::Scores::Sigmoid, .least_sum = 0x1p-14f, .scale = 2.5f};
            choice.bias = biased ? on.put(bias) : 0;
            choice.groups = groups;
            choice.groups_used = used;
            const Routing routing = room_for_routing(on, s);
            on.keep(route(driver, on.queue(), {on.put(logits), s.experts}, choice, routing));
            const std::vector<int> best = best_of_each_row(without_lesser_groups(by, s, choice), s);
            const std::string name =
                name_of(s) + ", " + std::to_string(groups) + (biased ? " groups, with a bias" : " groups");
            note(checked, on, share_of_same(on.get<int>(routing.chosen, best.size()), best), name);
            note(checked, on, weight_error(logits, best, on.get<float>(routing.weights, best.size()), choice, s), name);
        }
    return checked;
}

Checked check_scale_weights(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const RoutingShape& s : kShapes) {
        std::vector<float> scale(std::size_t(s.experts)), weights(std::size_t(s.rows * s.used));
        std::vector<int> chosen(weights.size());
        std::ranges::generate(scale, [&] { return float(1 + random() % 100) / 16.0f; });
        std::ranges::generate(weights, [&] { return float(random() % 100) / 64.0f; });
        std::ranges::generate(chosen, [&] { return int(random() % unsigned(s.experts)); });
        DeviceMemory on(driver);
        Routing routing = room_for_routing(on, s);
        routing.chosen = on.put(chosen);
        routing.weights = on.put(weights);
        on.keep(scale_weights(driver, on.queue(), on.put(scale), routing));
        std::vector<float> expected = weights;
        for (std::size_t pair = 0; pair < expected.size(); ++pair)
            expected[pair] *= scale[std::size_t(chosen[pair])];
        note(checked, on, share_of_same(on.get<float>(routing.weights, expected.size()), expected), name_of(s));
    }
    return checked;
}

}  // namespace

void add_routing_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"choice of experts", check_route});
    checks.push_back({"factors of experts", check_scale_weights});
    struct Named {
        const char* name;
        Choice choice;
    };
    static constexpr Named kChoices[] = {
        {"by their softmax", {.sum_to_one = false}},
        {"by their softmax, made one", {.least_sum = 0x1p-14f, .scale = 1.5f}},
        {"by sigmoids", {.scores = Choice::Scores::Sigmoid, .sum_to_one = false}},
        {"by sigmoids, made one", {.scores = Choice::Scores::Sigmoid, .least_sum = 2.0f, .scale = 2.5f}}};
    for (const Named& c : kChoices)
        checks.push_back({std::string("choice of experts ") + c.name,
                          [&c](const Driver& d, unsigned seed) { return check_choice(d, seed, c.choice); }});
    checks.push_back({"choice of experts in groups", check_groups});
}

}  // namespace kernels::cuda
