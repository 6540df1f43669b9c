// A GGUF model file: the header, the parts of a split model, the index of tensors.
#include "engine/gguf/gguf_file.h"

#include "engine/caught.h"
#include "engine/files/checksum.h"
#include "engine/gguf/ollama_spelling.h"
#include "engine/gguf/printable.h"
#include "engine/gguf/tensor_list.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <new>
#include <numeric>

namespace engine {
namespace {

constexpr std::size_t kHeaderBytes = 4 + 4 + 8 + 8;
constexpr std::int64_t kDefaultAlignment = 32;
constexpr std::int64_t kMaxAlignment = 1 << 20;

/// The beginning of one file, checked; the reader stands before the list of tensors.
struct Opened {
    MappedFile file;
    Metadata metadata;
    ByteReader reader;
    std::uint64_t tensor_count = 0;
};

Error at(const std::filesystem::path& path, const Error& error)
{
    return {error.code, path_text(path) + ": " + error.what};
}

Result<std::uint64_t> check_mark_and_version(ByteReader& reader)
{
    const auto mark = *reader.number<std::array<char, 4>>();
    if (std::string_view(mark.data(), mark.size()) != "GGUF")
        return fail(Error::Code::BadFile, "this is not a GGUF model, the file does not begin with the GGUF mark");
    const auto version = *reader.number<std::uint32_t>();
    if (version == 1)
        return fail(Error::Code::Unsupported, "this is a GGUF file of version 1, which nobody writes any more");
    if (version != 0 && (version & 0xffff) == 0)
        return fail(Error::Code::Unsupported, "this is a GGUF file for big-endian machines");
    if (version != 2 && version != 3)
        return fail(Error::Code::Unsupported,
                    "this is a GGUF file of version " + std::to_string(version) + ", versions 2 and 3 can be read");
    return version;
}

Result<Opened> open_one(const std::filesystem::path& path, HeaderLimits& limits)
{
    auto file = MappedFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    ByteReader reader(file->bytes());
    if (reader.left() < kHeaderBytes) {
        const std::string_view start(reinterpret_cast<const char*>(file->bytes().data()),
                                     std::min<std::size_t>(4, reader.left()));
        return tl::unexpected(at(path, {Error::Code::BadFile,
                                        std::string_view("GGUF").starts_with(start)
                                            ? "the file ends inside the GGUF header"
                                            : "this is not a GGUF model, the file does not begin with the GGUF mark"}));
    }
    if (auto version = check_mark_and_version(reader); !version)
        return tl::unexpected(at(path, version.error()));
    const auto tensor_count = *reader.number<std::uint64_t>();
    const auto key_count = *reader.number<std::uint64_t>();
    auto metadata = Metadata::read(reader, key_count, limits);
    if (!metadata)
        return tl::unexpected(at(path, metadata.error()));
    return Opened{std::move(*file), std::move(*metadata), reader, tensor_count};
}

/// "-00001-of-00003.gguf"
std::string part_ending(std::int64_t part, std::int64_t count)
{
    char text[64];
    std::snprintf(text, sizeof text, "-%05d-of-%05d.gguf", static_cast<int>(part + 1), static_cast<int>(count));
    return text;
}

/// Returns the path of another part of the same model, where this part's name has the usual form.
std::optional<std::filesystem::path> sibling(const std::filesystem::path& path, std::int64_t part, std::int64_t other,
                                             std::int64_t count)
{
    std::u8string name = path.filename().u8string();
    const std::string old_ending = part_ending(part, count);
    const std::string new_ending = part_ending(other, count);
    if (!name.ends_with(std::u8string(old_ending.begin(), old_ending.end())))
        return {};
    name.resize(name.size() - old_ending.size());
    name.append(new_ending.begin(), new_ending.end());
    return path.parent_path() / std::filesystem::path(name);
}

struct Split {
    std::int64_t part = 0;
    std::int64_t count = 1;
};

Result<Split> read_split(const Metadata& metadata)
{
    const Split split = {metadata.integer("split.no").value_or(0), metadata.integer("split.count").value_or(1)};
    if (split.count == 0)  // written by some programs for "not split"
        return Split{};
    if (split.count < 1 || split.count > 99999 || split.part < 0 || split.part >= split.count)
        return fail(Error::Code::BadFile, "the file says it is part " + std::to_string(split.part) + " of " +
                                              std::to_string(split.count) + " of a split model");
    return split;
}

}  // namespace

Result<GgufFile> GgufFile::open(const std::filesystem::path& path, const std::stop_token& stop)
try {
    HeaderLimits limits{stop};
    std::filesystem::path first_path = path;
    auto first = open_one(path, limits);
    if (!first)
        return tl::unexpected(first.error());
    auto split = read_split(first->metadata);
    if (!split)
        return tl::unexpected(at(path, split.error()));

    if (split->part != 0) {
        const std::string part = "this is part " + std::to_string(split->part + 1) + " of " +
                                 std::to_string(split->count) + " of a split model";
        const auto found = sibling(path, split->part, 0, split->count);
        if (!found)
            return tl::unexpected(at(path, {Error::Code::BadFile, part + ", open its first part"}));
        const std::int64_t count = split->count;
        first_path = *found;
        limits = {stop};
        first = open_one(first_path, limits);
        if (!first)
            return fail(first.error().code, part + ", and the first cannot be opened: " + first.error().what);
        split = read_split(first->metadata);
        if (!split || split->part != 0 || split->count != count)
            return tl::unexpected(
                at(first_path, {Error::Code::BadFile, "this is not the first part of the same model"}));
    }

    GgufFile gguf;
    if (auto added = gguf.add_part(first_path, std::move(first->file), std::move(first->metadata), first->reader,
                                   first->tensor_count, limits);
        !added)
        return tl::unexpected(added.error());
    if (split->count > 1)
        if (auto added = gguf.add_other_parts(split->count, limits); !added)
            return tl::unexpected(added.error());
    read_ollama_spelling(gguf.metadata_, gguf.tensors_);
    if (auto indexed = gguf.index_tensors(); !indexed)
        return tl::unexpected(indexed.error());
    if (auto whole = gguf.still_whole(); !whole)
        return tl::unexpected(whole.error());
    return gguf;
} catch (...) {
    return caught("to read the file's header");
}

Status GgufFile::add_part(const std::filesystem::path& path, MappedFile file, Metadata metadata, ByteReader reader,
                          std::uint64_t tensor_count, HeaderLimits& limits)
{
    const std::int64_t alignment = metadata.integer("general.alignment").value_or(kDefaultAlignment);
    if (alignment < 1 || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0)
        return tl::unexpected(
            at(path, {Error::Code::BadFile, "the alignment " + std::to_string(alignment) +
                                                " is not a power of two up to " + std::to_string(kMaxAlignment)}));
    auto tensors = read_tensor_list(reader, file.bytes(), tensor_count, static_cast<std::uint64_t>(alignment),
                                    static_cast<int>(parts_.size()), limits);
    if (!tensors)
        return tl::unexpected(at(path, tensors.error()));
    if (parts_.empty())
        metadata_ = std::move(metadata);
    std::move(tensors->begin(), tensors->end(), std::back_inserter(tensors_));
    parts_.push_back(std::move(file));
    paths_.push_back(path);
    return {};
}

Status GgufFile::add_other_parts(std::int64_t part_count, HeaderLimits& limits)
{
    const std::filesystem::path first = paths_.front();
    for (std::int64_t part = 1; part < part_count; ++part) {
        const auto path = sibling(first, 0, part, part_count);
        if (!path)
            return tl::unexpected(
                at(first, {Error::Code::BadFile, "this is the first part of a split model, its name should end in '" +
                                                     part_ending(0, part_count) + "'"}));
        auto opened = open_one(*path, limits);
        if (!opened)
            return fail(opened.error().code, "part " + std::to_string(part + 1) + " of " + std::to_string(part_count) +
                                                 " cannot be opened: " + opened.error().what);
        const auto split = read_split(opened->metadata);
        if (!split || split->part != part || split->count != part_count)
            return tl::unexpected(at(*path, {Error::Code::BadFile, "this is not part " + std::to_string(part + 1) +
                                                                       " of the same split model"}));
        if (auto added = add_part(*path, std::move(opened->file), std::move(opened->metadata), opened->reader,
                                  opened->tensor_count, limits);
            !added)
            return added;
    }
    const auto expected = metadata_.integer("split.tensors.count");
    if (expected && *expected != static_cast<std::int64_t>(tensors_.size()))
        return tl::unexpected(
            at(first, {Error::Code::BadFile, "the parts hold " + std::to_string(tensors_.size()) +
                                                 " tensors together, there should be " + std::to_string(*expected)}));
    return {};
}

Status GgufFile::index_tensors()
{
    by_name_.resize(tensors_.size());
    std::iota(by_name_.begin(), by_name_.end(), 0u);
    const auto name = [this](std::uint32_t i) -> const std::string& { return tensors_[i].name; };
    std::sort(by_name_.begin(), by_name_.end(), [&](auto a, auto b) { return name(a) < name(b); });
    const auto twice =
        std::adjacent_find(by_name_.begin(), by_name_.end(), [&](auto a, auto b) { return name(a) == name(b); });
    if (twice != by_name_.end())
        return tl::unexpected(at(
            paths_.front(), {Error::Code::BadFile, "there are two tensors named '" + printable(name(*twice)) + "'"}));
    return {};
}

const GgufTensor* GgufFile::tensor(std::string_view name) const
{
    const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                        [this](auto i, std::string_view wanted) { return tensors_[i].name < wanted; });
    return found != by_name_.end() && tensors_[*found].name == name ? &tensors_[*found] : nullptr;
}

const GgufTensor* GgufFile::scale_of(const GgufTensor& weights) const
{
    constexpr std::string_view kWeight = ".weight", kScale = ".scale";
    if (weights.type != kernels::TensorType::NVFP4 || !weights.name.ends_with(kWeight))
        return nullptr;
    const std::string_view name(weights.name);
    const GgufTensor* scale = tensor(std::string(name.substr(0, name.size() - kWeight.size())) += kScale);
    return scale ? scale : tensor(std::string(name) += kScale);
}

std::uint64_t GgufFile::file_bytes() const
{
    std::uint64_t bytes = 0;
    for (const MappedFile& part : parts_)
        bytes += part.bytes().size();
    return bytes;
}

Status GgufFile::still_whole() const
{
    for (std::size_t i = 0; i < parts_.size(); ++i)
        if (parts_[i].lost())
            return tl::unexpected(
                at(paths_[i], {Error::Code::CannotRead, "the file was cut off or went away while it was in use"}));
    return {};
}

const MappedFile* GgufFile::part_of(std::span<const std::byte> bytes) const
{
    for (const MappedFile& part : parts_) {
        const std::byte* begin = part.bytes().data();
        const std::less_equal<const std::byte*> ordered;  // unrelated pointers have an order only with this
        if (ordered(begin, bytes.data()) && ordered(bytes.data() + bytes.size(), begin + part.bytes().size()))
            return &part;
    }
    return nullptr;
}

void GgufFile::release_pages(std::span<const std::byte> bytes) const
{
    if (const MappedFile* part = part_of(bytes))
        part->release(static_cast<std::size_t>(bytes.data() - part->bytes().data()), bytes.size());
}

void GgufFile::prefetch_pages(std::span<const std::byte> bytes) const
{
    if (const MappedFile* part = part_of(bytes))
        part->prefetch(static_cast<std::size_t>(bytes.data() - part->bytes().data()), bytes.size());
}

std::uint64_t GgufFile::fingerprint() const
{
    constexpr std::size_t kSample = 512;  // at the beginning, the middle and the end of a tensor
    std::uint64_t sum = 0;
    std::vector<std::size_t> heads;  // (parts,) bytes before the first tensor's
    for (const MappedFile& part : parts_)
        heads.push_back(part.bytes().size());
    for (const GgufTensor& tensor : tensors_) {
        const auto part = std::size_t(tensor.file);
        if (!tensor.bytes.empty())
            heads[part] = std::min(heads[part], std::size_t(tensor.bytes.data() - parts_[part].bytes().data()));
    }
    for (std::size_t part = 0; part < heads.size(); ++part) {
        const auto bytes = parts_[part].bytes();
        sum = checksum(bytes.first(heads[part]), sum ^ bytes.size());
    }
    for (const GgufTensor& tensor : tensors_) {
        const std::size_t sample = std::min(kSample, tensor.bytes.size());
        for (const std::size_t at : {std::size_t(0), (tensor.bytes.size() - sample) / 2, tensor.bytes.size() - sample})
            sum = checksum(tensor.bytes.subspan(at, sample), sum);
    }
    return sum;
}

}  // namespace engine
