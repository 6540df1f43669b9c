#include "engine/shape/tensor_writer.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace engine {

namespace {

constexpr std::size_t kChunkBytes = std::size_t(4) << 20;

}  // namespace

Status TensorWriter::write(const ShapeTensor& tensor)
{
    if (tensor.rows > 0)
        return write_matrix(tensor);
    const std::vector<float> values = vector_values(tensor);
    if (Status ok = file_.write(std::as_bytes(std::span(values))); !ok)
        return ok;
    return pad(tensor.bytes());
}

std::vector<float> TensorWriter::vector_values(const ShapeTensor& tensor)
{
    if (tensor.fill == Fill::RopeFactors && !form_.rope_factors.empty())
        return form_.rope_factors;
    std::vector<float> values(std::size_t(tensor.row_length), 1.0f);
    if (tensor.fill == Fill::FewPairsTurn)  // a quarter of them
        std::fill(values.begin() + std::ptrdiff_t(values.size() / 4), values.end(), 1e30f);
    else if (tensor.fill != Fill::RopeFactors)
        for (float& value : values)
            value = random_value(tensor);
    return values;
}

float TensorWriter::random_value(const ShapeTensor& tensor)
{
    const float x = random_.uniform();
    switch (tensor.fill) {
    case Fill::Norm:
        return tensor.mean * (1.0f + 0.1f * x);
    case Fill::Decay:  // as training begins: a state halves within some tokens to some hundred
        return -std::exp(0.35f + 1.05f * x);
    case Fill::TimeStep:
        return std::log(std::expm1(std::exp(-3.5f + 2.5f * x)));
    default:
        return 0.1f * x;
    }
}

Status TensorWriter::write_matrix(const ShapeTensor& tensor)
{
    const auto block = std::size_t(kernels::type_traits(tensor.type).block_bytes);
    buffer_.resize(kChunkBytes / block * block);
    const float deviation = 1 / std::sqrt(float(tensor.row_length));
    for (std::int64_t left = tensor.bytes(); left > 0;) {
        const auto piece = std::span(buffer_).first(std::size_t(std::min(left, std::int64_t(buffer_.size()))));
        fill_weights(tensor.type, deviation, random_, piece);
        if (Status ok = file_.write(piece); !ok)
            return ok;
        left -= std::int64_t(piece.size());
        done_ += std::int64_t(piece.size());
        if (on_progress_ && !on_progress_(double(done_) / double(all_bytes_)))
            return fail(Error::Code::Cancelled, "making the model was given up");
    }
    return pad(tensor.bytes());
}

Status TensorWriter::pad(std::int64_t written)
{
    const std::vector<std::byte> zeros(std::size_t(aligned_to(form_.alignment, written) - written));
    return file_.write(zeros);
}

}  // namespace engine
