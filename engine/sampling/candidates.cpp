#include "engine/sampling/candidates.h"

#include <algorithm>
#include <cmath>

namespace engine {

/// Says whether a comes before b, best first. It is a total order: no two tokens are equal.
static bool better(const Candidate& a, const Candidate& b)
{
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

Candidates::Candidates(int num_vocab)
{
    list_.reserve(static_cast<std::size_t>(std::max(num_vocab, 0)));
}

void Candidates::assign(std::span<const float> logits, int top_k)
{
    list_.clear();
    ordered_ = 0;
    if (top_k > 0 && static_cast<std::size_t>(top_k) < logits.size()) {
        select_top(logits, static_cast<std::size_t>(top_k));
        return;
    }
    for (std::size_t i = 0; i < logits.size(); ++i)
        list_.push_back({.id = static_cast<int>(i), .logit = logits[i]});
}

void Candidates::assign(std::span<const RankedLogit> largest)
{
    list_.clear();
    for (const RankedLogit& l : largest)
        list_.push_back({.id = l.id, .logit = l.logit});
    ordered_ = list_.size();
}

void Candidates::drop_forbidden()
{
    if (list_.empty() || !std::isfinite(largest_logit()))
        return;
    std::erase_if(list_, [](const Candidate& c) { return !std::isfinite(c.logit); });
    ordered_ = std::min(ordered_, list_.size());  // they stood behind all others
}

/// Selects the largest logits in one pass, with a heap of the best so far: nearly every logit takes one comparison with
/// the worst of those.
void Candidates::select_top(std::span<const float> logits, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
        list_.push_back({.id = static_cast<int>(i), .logit = logits[i]});
    std::make_heap(list_.begin(), list_.end(), better);  // the worst is at the front
    float worst = list_.front().logit;
    for (std::size_t i = count; i < logits.size(); ++i) {
        if (!(logits[i] > worst))  // an equal one has the larger id and loses
            continue;
        std::pop_heap(list_.begin(), list_.end(), better);
        list_.back() = {.id = static_cast<int>(i), .logit = logits[i]};
        std::push_heap(list_.begin(), list_.end(), better);
        worst = list_.front().logit;
    }
    std::sort_heap(list_.begin(), list_.end(), better);
    ordered_ = list_.size();
}

/// Makes the first `count` candidates the largest ones in descending order; what is ordered already stays.
void Candidates::order(std::size_t count)
{
    count = std::min(count, list_.size());
    if (count <= ordered_)
        return;
    const auto at = [this](std::size_t i) { return list_.begin() + static_cast<std::ptrdiff_t>(i); };
    if (count < list_.size())
        std::nth_element(at(ordered_), at(count), list_.end(), better);
    std::sort(at(ordered_), at(count), better);
    ordered_ = count;
}

float Candidates::largest_logit() const
{
    if (ordered_ > 0)
        return list_.front().logit;
    return std::min_element(list_.begin(), list_.end(), better)->logit;
}

/// Computes the softmax over the candidates. Returns the logarithm of the sum of their exponentials.
double Candidates::compute_probabilities()
{
    const double largest = largest_logit();
    double sum = 0.0;
    for (Candidate& c : list_)
        sum += c.probability = std::exp(static_cast<double>(c.logit) - largest);
    for (Candidate& c : list_)
        c.probability /= sum;  // the sum is at least 1: the largest one's part is exp(0)
    return largest + std::log(sum);
}

void Candidates::keep_typical(double p)
{
    if (p >= 1.0)
        return;
    const double log_sum = compute_probabilities();  // a token's surprise is log_sum - logit
    double entropy = 0.0;
    for (const Candidate& c : list_)
        entropy += c.probability * (log_sum - static_cast<double>(c.logit));
    const auto distance = [=](const Candidate& c) {
        return std::abs(log_sum - static_cast<double>(c.logit) - entropy);
    };
    std::sort(list_.begin(), list_.end(), [&](const Candidate& a, const Candidate& b) {
        const double da = distance(a);
        const double db = distance(b);
        return da != db ? da < db : better(a, b);
    });
    double sum = 0.0;
    std::size_t count = 0;
    while (count < list_.size() && sum <= p)
        sum += list_[count++].probability;
    list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(count), list_.end());
    ordered_ = 0;
}

void Candidates::keep_top_p(double p)
{
    if (p >= 1.0)
        return;
    compute_probabilities();
    constexpr std::size_t kFirstStep = 256;  // a peaked distribution never sorts more of the vocabulary
    double sum = 0.0;
    std::size_t count = 0;
    do {
        if (count == ordered_)
            order(std::max(kFirstStep, 4 * ordered_));
        sum += list_[count++].probability;
    } while (sum < p && count < list_.size());
    list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(count), list_.end());
    ordered_ = count;
}

void Candidates::keep_min_p(double p)
{
    if (p <= 0.0)
        return;
    // With p above 1 even the best one would go.
    const double least = static_cast<double>(largest_logit()) + std::log(std::min(p, 1.0));
    std::erase_if(list_, [least](const Candidate& c) { return static_cast<double>(c.logit) < least; });
    ordered_ = std::min(ordered_, list_.size());  // those in front are better than those behind, and so stay in front
}

void Candidates::exclude_top(double threshold)
{
    compute_probabilities();
    const Candidate* least = nullptr;  // the least probable of those above the threshold
    std::size_t count = 0;
    for (const Candidate& c : list_) {
        if (c.probability < threshold)
            continue;
        ++count;
        if (!least || better(*least, c))
            least = &c;
    }
    if (count < 2)
        return;
    std::erase_if(list_, [last = *least](const Candidate& c) { return better(c, last); });
    ordered_ -= std::min(ordered_, count - 1);
}

std::size_t Candidates::draw(double temperature, double u)
{
    const double largest = largest_logit();
    double sum = 0.0;
    for (Candidate& c : list_)
        sum += c.probability = std::exp((static_cast<double>(c.logit) - largest) / temperature);
    for (Candidate& c : list_)
        c.probability /= sum;
    double below = 0.0;
    std::size_t last = 0;  // the last one with a chance, should rounding leave u above the sum
    for (std::size_t i = 0; i < list_.size(); ++i) {
        if (!(list_[i].probability > 0.0))
            continue;
        last = i;
        below += list_[i].probability;
        if (u < below)
            break;
    }
    return last;
}

}  // namespace engine
