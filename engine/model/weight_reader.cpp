#include "engine/model/weight_reader.h"

#include "kernels/cpu.h"

namespace engine {

Matrix WeightReader::matrix(const std::string& name, int n, std::int64_t rows, int stack, Need need)
{
    const GgufTensor* tensor = find(name, n, stack == 1 ? rows : rows * stack, need);
    if (!tensor)
        return {};
    const auto type = tensor->type;
    if (n % kernels::type_traits(type).block_len != 0) {
        wrong(Error::Code::BadFile, name + " has rows that are not a whole number of blocks");
        return {};
    }
    Matrix m{type, n, int(rows), tensor->bytes.data()};
    if (const GgufTensor* scale = file_.scale_of(*tensor))
        m.scale = vector(scale->name, stack);
    return m;
}

Vector WeightReader::vector(const std::string& name, std::int64_t n, Need need)
{
    const GgufTensor* tensor = find(name, 0, n, need);
    if (!tensor)
        return nullptr;
    if (tensor->type == kernels::TensorType::F32 && std::uintptr_t(tensor->bytes.data()) % alignof(float) == 0)
        return reinterpret_cast<const float*>(tensor->bytes.data());
    if (n % kernels::type_traits(tensor->type).block_len != 0) {
        wrong(Error::Code::BadFile, name + " is not a whole number of blocks");
        return nullptr;
    }
    auto& values = weights_.converted_.emplace_back(std::size_t(n));
    kernels::cpu_kernels().dequantize(tensor->type, int(n), tensor->bytes.data(), values.data());
    return values.data();
}

Vector WeightReader::taps(const std::string& name, int width, int channels, int apart)
{
    const Vector by_channel = vector(name, std::int64_t(width) * channels);
    if (!by_channel)
        return nullptr;
    const int rows = (width - 1) * apart + 1;
    auto& values = weights_.converted_.emplace_back(std::size_t(rows) * std::size_t(channels));
    for (int c = 0; c < channels; ++c)
        for (int j = 0; j < width; ++j)
            values[std::size_t(j * apart) * std::size_t(channels) + std::size_t(c)] = by_channel[c * width + j];
    return values.data();
}

Matrix WeightReader::rows_of(const Matrix& m, int period, std::initializer_list<Run> runs)
{
    const std::size_t bytes = kernels::row_bytes(m.type, m.n);
    auto& rows = weights_.gathered_.emplace_back();
    for (const Run& run : runs)
        for (int begin = run.first; begin < m.rows; begin += period)
            rows.insert(rows.end(), m.data + std::size_t(begin) * bytes,
                        m.data + std::size_t(begin + run.count) * bytes);
    return {m.type, m.n, int(rows.size() / bytes), rows.data(), false, m.scale};
}

Matrix WeightReader::turned_over(const Matrix& m, int stack, int n)
{
    const int period = m.rows / stack;
    auto& values = weights_.converted_.emplace_back(std::size_t(stack) * std::size_t(m.n) * std::size_t(n));
    weights_.bytes += std::int64_t(values.size() * sizeof(float));
    std::vector<float> row(static_cast<std::size_t>(m.n));
    for (int s = 0; s < stack; ++s)
        for (int i = 0; i < n; ++i) {
            const auto at = std::size_t(s * period + i) * kernels::row_bytes(m.type, m.n);
            kernels::cpu_kernels().dequantize(m.type, m.n, m.data + at, row.data());
            for (int c = 0; c < m.n; ++c)
                values[(std::size_t(s) * std::size_t(m.n) + std::size_t(c)) * std::size_t(n) + std::size_t(i)] =
                    row[std::size_t(c)] * (m.scale ? *m.scale : 1.0f);
        }
    return {kernels::TensorType::F32, n, m.n, reinterpret_cast<const std::byte*>(values.data())};
}

const GgufTensor* WeightReader::find(const std::string& name, int n, std::int64_t count, Need need)
{
    const GgufTensor* tensor = file_.tensor(name);
    if (!tensor) {
        if (need == Need::Required)
            wrong(Error::Code::BadFile, "the tensor " + name + " is missing from the model file");
        return nullptr;
    }
    if (!tensor->can_compute()) {
        wrong(Error::Code::Unsupported, "the tensor " + name + " has the type " + tensor->type_name() +
                                            ", which this version cannot compute with");
        return nullptr;
    }
    const auto& d = tensor->dims;
    const bool fits = n == 0 ? d[0] * d[1] * d[2] * d[3] == count : d[0] == n && d[1] * d[2] * d[3] == count;
    if (!fits) {
        wrong(Error::Code::BadFile, "the tensor " + name + " does not have the shape the model's numbers call for");
        return nullptr;
    }
    read_.insert(tensor);
    return tensor;
}

}  // namespace engine
