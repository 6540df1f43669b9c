#include "engine/exec/rows.h"

namespace engine {

RowMemory& host_row_memory()
{
    class HostMemory final : public RowMemory
    {
    public:
        std::byte* take(std::size_t bytes) override { return aligned_array<std::byte>(bytes).release(); }
        void give_back(std::byte* memory) override { FreeAligned64()(memory); }
    };
    static HostMemory memory;
    return memory;
}

}  // namespace engine
