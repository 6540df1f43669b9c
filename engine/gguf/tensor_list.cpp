// The list of tensors in one GGUF file: reading and checking.
#include "engine/gguf/tensor_list.h"

#include "engine/gguf/printable.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace engine {
namespace {

constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 16;  // bytes of F64 fit as well

/// Types of the format that this program does not compute with: their sizes can still be checked (ggml's enum ggml_type
/// and block structs, ggml/src/ggml-common.h). 31 to 33 and 36 to 38 are no types any more: they were Q4_0 and IQ4_NL,
/// rearranged for some processors.
struct ForeignType {
    std::uint32_t id;
    const char* name;
    int block_len;
    int block_bytes;
};
constexpr ForeignType kForeignTypes[] = {
    {9, "Q8_1", 32, 36},        {15, "Q8_K", 256, 292},     {24, "I8", 1, 1},           {25, "I16", 1, 2},
    {26, "I32", 1, 4},          {27, "I64", 1, 8},          {28, "F64", 1, 8},          {41, "Q1_0", 128, 18},
    {42, "Q2_0", 64, 18},       {31, "Q4_0_4_4", 32, 18},   {32, "Q4_0_4_8", 32, 18},   {33, "Q4_0_8_8", 32, 18},
    {36, "IQ4_NL_4_4", 32, 18}, {37, "IQ4_NL_4_8", 32, 18}, {38, "IQ4_NL_8_8", 32, 18},
};

const ForeignType* foreign_type(std::uint32_t id)
{
    const auto* found = std::find_if(std::begin(kForeignTypes), std::end(kForeignTypes),
                                     [&](const ForeignType& type) { return type.id == id; });
    return found == std::end(kForeignTypes) ? nullptr : found;
}

struct BlockSize {
    std::int64_t len = 0;  // 0: not known
    std::int64_t bytes = 0;
};

BlockSize block_size(std::uint32_t type)
{
    if (const kernels::TypeTraits* traits = kernels::type_traits(type))
        return {traits->block_len, traits->block_bytes};
    if (const ForeignType* foreign = foreign_type(type))
        return {foreign->block_len, foreign->block_bytes};
    return {};
}

struct Described {
    GgufTensor tensor;
    std::uint64_t offset = 0;  // from the start of the data
    std::uint64_t bytes = 0;
};

const Error kListCutOff = {Error::Code::BadFile, "the file ends inside the list of tensors"};

Status read_dims(ByteReader& reader, GgufTensor& tensor, const std::string& name)
{
    const auto num_dims = reader.number<std::uint32_t>();
    if (!num_dims)
        return tl::unexpected(kListCutOff);
    if (*num_dims > tensor.dims.size())
        return fail(Error::Code::BadFile, name + "has " + std::to_string(*num_dims) + " dimensions");
    tensor.num_dims = static_cast<int>(*num_dims);
    std::int64_t elements = 1;
    for (std::uint32_t d = 0; d < *num_dims; ++d) {
        const auto length = reader.number<std::uint64_t>();
        if (!length)
            return tl::unexpected(kListCutOff);
        if (*length == 0)
            return fail(Error::Code::BadFile, name + "has a dimension of length 0");
        if (*length > static_cast<std::uint64_t>(kMaxElements / elements))
            return fail(Error::Code::BadFile, name + "has dimensions that are too large");
        tensor.dims[d] = static_cast<std::int64_t>(*length);
        elements *= tensor.dims[d];
    }
    return {};
}

Result<Described> read_tensor(ByteReader& reader, std::uint64_t alignment)
{
    Described described;
    GgufTensor& tensor = described.tensor;
    const auto text = reader.string();
    if (!text)
        return tl::unexpected(kListCutOff);
    if (text->empty() || text->size() > kMaxNameBytes)
        return fail(Error::Code::BadFile, "a tensor's name is " + std::to_string(text->size()) + " bytes long");
    tensor.name = *text;
    const std::string name = "tensor '" + printable(*text) + "' ";

    if (auto read = read_dims(reader, tensor, name); !read)
        return tl::unexpected(read.error());
    const auto type = reader.number<std::uint32_t>();
    const auto offset = reader.number<std::uint64_t>();
    if (!type || !offset)
        return tl::unexpected(kListCutOff);
    tensor.type = kernels::TensorType{*type};
    described.offset = *offset;
    if (*offset % alignment != 0)
        return fail(Error::Code::BadFile,
                    name + "does not lie on a multiple of " + std::to_string(alignment) + " bytes");

    const BlockSize block = block_size(*type);
    if (block.len != 0) {
        if (tensor.dims[0] % block.len != 0)
            return fail(Error::Code::BadFile, name + "has rows of " + std::to_string(tensor.dims[0]) + ", which " +
                                                  tensor.type_name() + " cannot divide into blocks of " +
                                                  std::to_string(block.len));
        const std::int64_t blocks = tensor.elements() / block.len;
        if (blocks > std::numeric_limits<std::int64_t>::max() / block.bytes)
            return fail(Error::Code::BadFile, name + "has dimensions that are too large");
        described.bytes = static_cast<std::uint64_t>(blocks * block.bytes);
    }
    return described;
}

}  // namespace

bool GgufTensor::of_encoder() const
{
    constexpr std::string_view kEncoders[] = {"v.", "mm.", "a.", "vision_", "audio_", "model.vision_tower."};
    return std::ranges::any_of(kEncoders, [&](std::string_view begin) { return name.starts_with(begin); });
}

bool GgufTensor::of_loose_mtp() const
{
    return name.starts_with("mtp.");
}

int GgufTensor::block() const
{
    constexpr std::string_view kPrefix = "blk.";
    int number = -1;
    if (std::string_view(name).starts_with(kPrefix))
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
    return number;
}

std::string GgufTensor::type_name() const
{
    const auto id = static_cast<std::uint32_t>(type);
    if (const kernels::TypeTraits* traits = kernels::type_traits(id))
        return traits->name;
    if (const ForeignType* foreign = foreign_type(id))
        return foreign->name;
    return "type " + std::to_string(id);
}

Result<std::vector<GgufTensor>> read_tensor_list(ByteReader& reader, std::span<const std::byte> file,
                                                 std::uint64_t count, std::uint64_t alignment, int part,
                                                 HeaderLimits& limits)
{
    constexpr std::size_t kLeastBytes = 8 + 1 + 4 + 4 + 8;  // of one description
    if (count > limits.tensors)
        return fail(Error::Code::BadFile, "the header claims " + std::to_string(count) + " tensors");
    if (count > reader.left() / kLeastBytes)
        return tl::unexpected(kListCutOff);
    limits.tensors -= count;
    std::vector<Described> list;
    list.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t start = reader.position();
        auto described = read_tensor(reader, alignment);
        if (!described)
            return tl::unexpected(described.error());
        if (Status ok = limits.take_bytes(reader.position() - start); !ok)
            return tl::unexpected(ok.error());
        if (i % 4096 == 0)
            if (Status ok = limits.go_on(); !ok)
                return tl::unexpected(ok.error());
        list.push_back(std::move(*described));
    }

    const std::uint64_t data_start = (reader.position() + alignment - 1) / alignment * alignment;
    std::uint64_t file_end = file.size();  // what the tensors need
    for (const Described& described : list) {
        const std::uint64_t start = data_start + described.offset;
        const std::uint64_t end = start + described.bytes;
        if (start < data_start || end < start || end > std::uint64_t{1} << 62)
            return fail(Error::Code::BadFile,
                        "tensor '" + printable(described.tensor.name) + "' lies outside of any possible file");
        file_end = std::max(file_end, end);
    }
    if (file_end > file.size())
        return fail(Error::Code::BadFile, "the file is cut off: " + byte_size(file_end - file.size()) + " of " +
                                              byte_size(file_end) + " are missing");

    std::vector<GgufTensor> tensors;
    tensors.reserve(list.size());
    for (Described& described : list) {
        if (described.bytes != 0)
            described.tensor.bytes = file.subspan(data_start + described.offset, described.bytes);
        described.tensor.file = part;
        tensors.push_back(std::move(described.tensor));
    }
    return tensors;
}

}  // namespace engine
