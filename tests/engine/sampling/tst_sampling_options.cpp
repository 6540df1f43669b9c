// Tests that senseless sampling options are refused, each with its sentence.
#include "engine/sampling/sampler.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <limits>

using engine::SamplingOptions;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

}  // namespace

class TestSamplingOptions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void optionsAreChecked_data()
    {
        QTest::addColumn<SamplingOptions>("options");
        QTest::addColumn<QString>("sentence");  // empty: accepted
        const auto row = [](const char* name, auto change, const char* sentence) {
            SamplingOptions o;
            change(o);
            QTest::newRow(name) << o << sentence;
        };
        row(
            "defaults", [](SamplingOptions&) {}, "");
        row(
            "greedy", [](auto& o) { o.temperature = 0.0f; }, "");
        row(
            "edges", [](auto& o) { o.top_p = 0.0f, o.min_p = 1.0f, o.typical_p = 0.0f, o.xtc_threshold = 1.0f; }, "");
        row(
            "whole context", [](auto& o) { o.repeat_last_n = -1, o.dry_penalty_last_n = -1; }, "");
        row(
            "cold", [](auto& o) { o.temperature = -0.1f; }, "the temperature must be 0 (greedy) or more");
        row(
            "NaN", [](auto& o) { o.temperature = kNotANumber; }, "the temperature must be 0 (greedy) or more");
        row(
            "infinite", [](auto& o) { o.temperature = kInfinity; }, "the temperature must be 0 (greedy) or more");
        row(
            "top-k", [](auto& o) { o.top_k = -1; }, "the top-k must be 0 (off) or more");
        row(
            "top-p", [](auto& o) { o.top_p = 1.01f; }, "the top-p must be between 0 and 1");
        row(
            "top-p NaN", [](auto& o) { o.top_p = kNotANumber; }, "the top-p must be between 0 and 1");
        row(
            "min-p", [](auto& o) { o.min_p = -0.01f; }, "the min-p must be between 0 and 1");
        row(
            "typical", [](auto& o) { o.typical_p = 2.0f; }, "the typical-p must be between 0 and 1");
        row(
            "repeat", [](auto& o) { o.repeat_penalty = 0.0f; }, "the repeat penalty must be more than 0");
        row(
            "presence", [](auto& o) { o.presence_penalty = kNotANumber; }, "the presence penalty must be a number");
        row(
            "frequency", [](auto& o) { o.frequency_penalty = kInfinity; }, "the frequency penalty must be a number");
        row(
            "window", [](auto& o) { o.repeat_last_n = -2; },
            "the repeat penalty's window must be -1 (the whole context) or more");
        row(
            "DRY", [](auto& o) { o.dry_multiplier = -1.0f; }, "the DRY multiplier must be 0 (off) or more");
        row(
            "DRY base", [](auto& o) { o.dry_base = 0.5f; }, "the DRY base must be 1 or more");
        row(
            "DRY length", [](auto& o) { o.dry_allowed_length = 0; }, "the DRY allowed length must be 1 or more");
        row(
            "DRY window", [](auto& o) { o.dry_penalty_last_n = -5; },
            "the DRY window must be -1 (the whole context) or more");
        row(
            "biases", [](auto& o) { o.logit_bias.resize(4097); },
            "there may be at most 4096 logit biases, each token of a text counted");
        row(
            "bias", [](auto& o) { o.logit_bias = {{.id = 0, .bias = kNotANumber}}; },
            "a logit bias must be a number, or minus infinity");
        row(
            "endless bias", [](auto& o) { o.logit_bias = {{.id = 0, .bias = kInfinity}}; },
            "a logit bias must be a number, or minus infinity");
        row(
            "forbidden", [](auto& o) { o.logit_bias = {{.id = 0, .bias = -kInfinity}}; }, "");
        row(
            "breakers", [](auto& o) { o.dry_sequence_breakers.assign(65, "x"); },
            "there may be at most 64 DRY sequence breakers");
        row(
            "XTC", [](auto& o) { o.xtc_probability = 1.5f; }, "the XTC probability must be between 0 and 1");
        row(
            "XTC threshold", [](auto& o) { o.xtc_threshold = kNotANumber; },
            "the XTC threshold must be between 0 and 1");
    }

    void optionsAreChecked()
    {
        QFETCH(SamplingOptions, options);
        QFETCH(QString, sentence);
        const engine::Status status = engine::check(options);
        QCOMPARE(status ? QString() : QString::fromStdString(status.error().what), sentence);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestSamplingOptions)
#include "tst_sampling_options.moc"
