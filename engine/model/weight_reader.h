// WeightReader finds the tensors of a model by name and checks their shapes; it remembers the first thing that was
// wrong.
#pragma once

#include "engine/model/weights.h"

#include <initializer_list>
#include <string>
#include <unordered_set>

namespace engine {

class WeightReader
{
public:
    WeightReader(const GgufFile& file, Weights& weights)
        : file_(file)
        , weights_(weights)
    {
    }

    enum class Need { Required, Optional };

    bool has(const std::string& name) const { return file_.tensor(name) != nullptr; }
    bool has_read(const GgufTensor& tensor) const { return read_.contains(&tensor); }

    /// Reads a tensor of `rows` rows of n, `stack` of them one after another.
    Matrix matrix(const std::string& name, int n, std::int64_t rows, int stack = 1, Need need = Need::Required);

    Vector vector(const std::string& name, std::int64_t n, Need need = Need::Required);

    /// Reads the taps of a convolution, (width, channels) as the kernels read them; the file has them by channel. Where
    /// they are more than one token apart there are zeros between them: ((width - 1) * apart + 1, channels).
    Vector taps(const std::string& name, int width, int channels, int apart = 1);

    /// Rows [first, first + count).
    struct Run {
        int first, count;
    };
    /// Makes a matrix of those rows of every `period` rows of another: all of the first run, then all of the next.
    Matrix rows_of(const Matrix& m, int period, std::initializer_list<Run> runs);

    /// Transposes the first n rows of each of the `stack` matrices that lie one after another in m: their columns are
    /// the rows of the result, which are floats.
    Matrix turned_over(const Matrix& m, int stack, int n);

    /// Returns n times the same value.
    Vector repeated(float value, int n) { return weights_.converted_.emplace_back(std::size_t(n), value).data(); }

    /// Returns what a norm without weights multiplies by.
    Vector ones(std::int64_t n) { return weights_.converted_.emplace_back(std::size_t(n), 1.0f).data(); }

    /// Returns n values times a factor.
    Vector scaled(Vector values, std::int64_t n, float factor)
    {
        if (!values || factor == 1.0f)
            return values;
        auto& out = weights_.converted_.emplace_back(values, values + n);
        for (float& v : out)
            v *= factor;
        return out.data();
    }

    /// Returns a matrix times a factor.
    Matrix scaled(Matrix m, float factor)
    {
        if (m)
            m.scale = weights_.converted_.emplace_back(1, factor * (m.scale ? *m.scale : 1.0f)).data();
        return m;
    }

    std::vector<float> optional_values(const std::string& name, int n)
    {
        const Vector values = vector(name, n, Need::Optional);
        return values ? std::vector<float>(values, values + n) : std::vector<float>{};
    }

    void wrong(Error::Code code, std::string sentence)
    {
        if (error_.what.empty())
            error_ = {code, std::move(sentence)};
    }
    bool failed() const { return !error_.what.empty(); }
    const Error& error() const { return error_; }

private:
    /// Finds a tensor. n = 0: any shape with `count` elements; else rows of n, `count` of them.
    const GgufTensor* find(const std::string& name, int n, std::int64_t count, Need need);

    const GgufFile& file_;
    Weights& weights_;
    Error error_;
    std::unordered_set<const GgufTensor*> read_;
};

/// Reads layer l of the model. `prefix`: what the names of its tensors begin with.
void read_layer(WeightReader& in, const std::string& prefix, const Hyperparameters& h, int l, LayerWeights& layer);

}  // namespace engine
