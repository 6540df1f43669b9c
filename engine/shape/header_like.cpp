#include "engine/shape/header_like.h"

#include "engine/files/mapped_file.h"
#include "engine/gguf/gguf_file.h"
#include "engine/shape/random_weights.h"
#include "engine/shape/tensor_writer.h"

#include <algorithm>
#include <string_view>

namespace engine {

namespace {

constexpr std::size_t kMarkAndVersion_bytes = 4 + 4;
/// The longest vector that is made: that happens in memory as a whole. No model has a vector nearly as long.
constexpr std::int64_t kMostVectorElements = std::int64_t(16) << 20;

template <class T>
void put(std::string& to, T value)
{
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& to, std::string_view value)
{
    put(to, std::uint64_t(value.size()));
    to += value;
}

/// Returns the keys of the first part as they stand there, but for those that speak of parts, and their number. The
/// file has been checked.
Result<std::pair<std::string, std::uint64_t>> keys_of(const std::filesystem::path& first)
{
    const auto file = MappedFile::open(first);
    if (!file)
        return tl::unexpected(file.error());
    ByteReader reader(file->bytes(), kMarkAndVersion_bytes);
    (void)reader.number<std::uint64_t>();  // of tensors
    const std::uint64_t count = reader.number<std::uint64_t>().value_or(0);
    HeaderLimits limits;
    std::string keys;
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t begin = reader.position();
        const auto one = Metadata::read(reader, 1, limits);
        if (!one)
            return tl::unexpected(one.error());
        if (one->integer("split.no") || one->integer("split.count") || one->integer("split.tensors.count"))
            continue;
        const auto bytes = file->bytes().subspan(begin, reader.position() - begin);
        keys.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        ++kept;
    }
    if (file->lost())
        return fail(Error::Code::CannotRead, "the file was cut off while its header was read");
    return std::pair(std::move(keys), kept);
}

/// Says what values a tensor of vectors has, so that what flows through the model keeps its size.
Fill fill_of(const GgufTensor& tensor)
{
    const std::string_view name = tensor.name;
    const auto holds = [name](std::string_view part) { return name.find(part) != name.npos; };
    if (tensor.type != kernels::TensorType::F32)
        return Fill::Matrix;
    if (holds("rope_freqs") || holds("rope_factors"))
        return Fill::RopeFactors;
    if (name.ends_with("ssm_a"))
        return Fill::Decay;
    if (holds("ssm_dt") && name.ends_with(".bias"))
        return Fill::TimeStep;
    if (name.ends_with(".bias") || holds("attn_sinks"))
        return Fill::Bias;
    return tensor.num_dims < 2 ? Fill::Norm : Fill::Matrix;
}

}  // namespace

Result<HeaderLike> header_like(const std::filesystem::path& model)
{
    const auto file = GgufFile::open(model);
    if (!file)
        return tl::unexpected(file.error());
    auto keys = keys_of(file->paths().front());
    if (!keys)
        return tl::unexpected(keys.error());

    HeaderLike made;
    made.alignment = file->integer("general.alignment").value_or(made.alignment);
    std::string list;
    std::int64_t data_bytes = 0;
    for (const GgufTensor& tensor : file->tensors()) {
        if (!tensor.can_compute() || !can_fill(tensor.type))
            return fail(Error::Code::Unsupported, "no random weights of type " + tensor.type_name() + " can be made");
        const Fill fill = fill_of(tensor);
        if (fill != Fill::Matrix && tensor.elements() > kMostVectorElements)
            return fail(Error::Code::Unsupported, "the vector '" + tensor.name.substr(0, 60) + "' has " +
                                                      std::to_string(tensor.elements()) +
                                                      " elements, too many to be made");
        const std::int64_t length = tensor.dims[0];
        made.tensors.push_back({tensor.name, tensor.type, fill == Fill::Matrix ? length : tensor.elements(),
                                fill == Fill::Matrix ? tensor.elements() / length : 0, fill});
        put_text(list, tensor.name);
        put(list, std::uint32_t(tensor.num_dims));
        for (int d = 0; d < tensor.num_dims; ++d)
            put(list, std::uint64_t(tensor.dims[std::size_t(d)]));
        put(list, std::uint32_t(tensor.type));
        put(list, std::uint64_t(data_bytes));
        data_bytes += aligned_to(made.alignment, made.tensors.back().bytes());
    }
    made.bytes = "GGUF";
    put(made.bytes, std::uint32_t(3));
    put(made.bytes, std::uint64_t(made.tensors.size()));
    put(made.bytes, keys->second);
    made.bytes += keys->first;
    made.bytes += list;
    made.bytes.resize(std::size_t(aligned_to(made.alignment, std::int64_t(made.bytes.size()))));
    return made;
}

}  // namespace engine
