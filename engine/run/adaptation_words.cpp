#include "engine/run/adaptation_words.h"

#include <cstdio>

namespace engine {

namespace {

std::string decimal(double value, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

std::string ms(double seconds)
{
    return decimal(seconds * 1e3, 2) + " ms";
}

/// Writes why it has changed: which assumptions turned out to be wrong.
std::string reasons(const Assumptions& before, const Assumptions& after)
{
    std::string text;
    const auto add = [&](std::string reason) { text += (text.empty() ? "" : ", ") + std::move(reason); };
    if (after.errors.cpu_attention != before.errors.cpu_attention)
        add("the CPU attends " + decimal(after.errors.cpu_attention, 2) + " times as long as its rate says");
    if (after.errors.link != before.errors.link)
        add("the link takes " + decimal(after.errors.link, 2) + " times as long");
    if (after.expert_skew != before.expert_skew)
        add("experts without a copy are missed " + decimal(after.expert_skew, 1) + " times as rarely as by chance");
    return text;
}

}  // namespace

std::string sentence_of(const AdaptationStep& step, const Assumptions& before, const Assumptions& after)
{
    const std::string then = ms(step.before_s), expected = ms(step.expected_s);
    if (step.what == AdaptationStep::What::Changed) {
        if (step.trial)
            return "auto tries to divide the KV in RAM otherwise: a token might take " + expected + " instead of " +
                   then;
        const bool experts = after.expert_skew != before.expert_skew;
        return std::string("auto divides ") + (experts ? "the device's memory" : "the KV in RAM") +
               " anew: a token should take " + expected + " instead of " + then + " (" + reasons(before, after) + ")";
    }
    const std::string numbers =
        ms(step.measured_s.value_or(0)) + " instead of " + then + ", " + expected + " were expected";
    return step.what == AdaptationStep::What::Kept ? "auto keeps its change: a token takes " + numbers
                                                   : "auto takes its change back: a token took " + numbers;
}

}  // namespace engine
