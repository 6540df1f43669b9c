// What tells one model from another.
#include "engine/files/checksum.h"
#include "engine/gguf/gguf_file.h"

#include <algorithm>

namespace engine {

std::uint64_t GgufFile::fingerprint() const
{
    constexpr std::size_t kSample = 512;  // at the beginning, the middle and the end of a tensor
    std::uint64_t sum = 0;
    for (const MappedFile& part : parts_) {
        const std::byte* const begin = part.bytes().data();
        std::size_t head = part.bytes().size();  // all before the first tensor's bytes
        for (const GgufTensor& tensor : tensors_)
            if (!tensor.bytes.empty() && part_of(tensor.bytes) == &part)
                head = std::min(head, std::size_t(tensor.bytes.data() - begin));
        sum = checksum(part.bytes().first(head), sum ^ part.bytes().size());
    }
    for (const GgufTensor& tensor : tensors_) {
        const std::size_t sample = std::min(kSample, tensor.bytes.size());
        for (const std::size_t at : {std::size_t(0), (tensor.bytes.size() - sample) / 2, tensor.bytes.size() - sample})
            sum = checksum(tensor.bytes.subspan(at, sample), sum);
    }
    return sum;
}

}  // namespace engine
