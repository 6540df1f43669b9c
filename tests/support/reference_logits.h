// Reads float32 references of models, and compares the engine's results with them.
#pragma once

#include "engine/evaluate.h"
#include "tests/support/models.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace test_support {

struct Reference {
    std::vector<int> tokens, positions, argmax, greedy;
    std::vector<double> gap, greedy_gap;
    double error = 0;  // expected, relative
    double bound = 0;  // allowed
    // Where experts are chosen a near tie that falls the other way moves a whole row: then errors are the median of the
    // rows', and so few rows in a hundred may have another argmax.
    bool by_median = false;
    int percent_otherwise = 0;
    double bound_f32_kv = 0, bound_q8_0_kv = 0;
    int context = 0;  // tokens to open the model with; 0: its own
    std::vector<float> logits;
};

inline Reference read_reference(const QString& base)
{
    std::ifstream file((base + ".json").toStdString());
    const auto json = nlohmann::json::parse(file);
    Reference r;
    r.tokens = json.at("tokens").get<std::vector<int>>();
    r.positions = json.at("positions").get<std::vector<int>>();
    r.argmax = json.at("argmax").get<std::vector<int>>();
    r.greedy = json.at("greedy").get<std::vector<int>>();
    r.gap = json.at("gap").get<std::vector<double>>();
    r.greedy_gap = json.at("greedy_gap").get<std::vector<double>>();
    const bool own = json.contains("tolerance");
    r.by_median = !own && json.contains("router_margin");
    r.percent_otherwise = r.by_median ? 5 : 0;
    const char* const expected = own           ? "tolerance"
                                 : r.by_median ? "llama_cpp_median_row_error"
                                               : "llama_cpp_relative_error";
    r.error = json.at(expected).get<double>();
    r.bound = own ? r.error : (r.by_median ? 1.5 : 1.2) * r.error;
    r.bound_f32_kv = own ? json.at("tolerance_f32_kv").get<double>() : r.bound;
    r.bound_q8_0_kv = own ? json.at("tolerance_q8_0_kv").get<double>() : 0;
    r.context = json.value("context", 0);
    r.logits.resize(r.positions.size() * json.at("n_vocab").get<std::size_t>());
    std::ifstream logits((base + ".f32").toStdString(), std::ios::binary);
    logits.read(reinterpret_cast<char*>(r.logits.data()), std::streamsize(r.logits.size() * sizeof(float)));
    if (!logits)
        r.logits.clear();
    return r;
}

/// One model may have several results, NAME.json and NAME-variant.json.
inline QString model_of(const QString& base)
{
    QString file = base;
    while (!QFileInfo::exists(file + ".gguf") && file.contains('-'))
        file.truncate(file.lastIndexOf('-'));
    return file + ".gguf";
}

/// All rows, one after another, of the prompt and the expected ids that follow it.
inline std::vector<float> run(const QString& base, const Reference& r, const std::vector<int>& tokens,
                              const engine::LoadRequest& with)
{
    engine::LoadRequest request = with;
    request.model = model_of(base).toStdString();
    request.context_tokens = r.context;
    auto model = engine::Evaluator::open(request, {});
    if (!model) {
        qWarning("%s", model.error().what.c_str());
        return {};
    }
    std::vector<float> rows;
    const engine::Status done = model->logits(tokens, [&](int, std::span<const float> row) {
        rows.insert(rows.end(), row.begin(), row.end());
        return true;
    });
    if (!done)
        qWarning("%s", done.error().what.c_str());
    return done ? rows : std::vector<float>{};
}

inline double relative_error(const std::vector<float>& rows, const Reference& r)
{
    const std::size_t n = r.logits.size() / r.positions.size();
    double difference = 0, size = 0;
    for (std::size_t p = 0; p < r.positions.size(); ++p)
        for (std::size_t i = 0; i < n; ++i) {
            const double truth = r.logits[p * n + i];
            const double d = rows[std::size_t(r.positions[p]) * n + i] - truth;
            difference += d * d;
            size += truth * truth;
        }
    return std::sqrt(difference / size);
}

/// Returns the median error of the rows that are stored.
inline double median_row_error(const std::vector<float>& rows, const Reference& r)
{
    const std::size_t n = r.logits.size() / r.positions.size();
    std::vector<double> errors;
    for (std::size_t p = 0; p < r.positions.size(); ++p) {
        Reference one;
        one.positions = {r.positions[p]};
        one.logits.assign(r.logits.begin() + std::ptrdiff_t(p * n), r.logits.begin() + std::ptrdiff_t((p + 1) * n));
        errors.push_back(relative_error(rows, one));
    }
    std::ranges::nth_element(errors, errors.begin() + std::ptrdiff_t(errors.size() / 2));
    return errors[errors.size() / 2];
}

/// Returns the error that the reference bounds: of all rows together, or the median of the rows' errors.
inline double error_of(const std::vector<float>& rows, const Reference& r)
{
    return r.by_median ? median_row_error(rows, r) : relative_error(rows, r);
}

inline int argmax(std::span<const float> row)
{
    return int(std::max_element(row.begin(), row.end()) - row.begin());
}

}  // namespace test_support
