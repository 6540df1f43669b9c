// DXGI's budget of one adapter: IDXGIAdapter3::QueryVideoMemoryInfo, Windows 10 and later.
#include "engine/device/video_memory.h"

#include <dxgi1_4.h>
#include <windows.h>

#include <cstring>
#include <string>
#include <vector>

namespace engine {

namespace {

/// Owns a COM object and releases it at the end.
template <class T>
struct Held {
    T* at = nullptr;
    Held() = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held()
    {
        if (at)
            at->Release();
    }
    void** place() { return reinterpret_cast<void**>(&at); }
};

std::string utf8(const wchar_t* text)
{
    const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
    std::string out(std::size_t(bytes > 0 ? bytes : 1), '\0');
    WideCharToMultiByte(CP_UTF8, 0, text, -1, out.data(), bytes, nullptr, nullptr);
    out.pop_back();  // the final zero
    return out;
}

/// Lists the adapters in the order of their numbers; one that does not describe itself has no name.
std::vector<AdapterName> adapters_of(IDXGIFactory1& factory)
{
    std::vector<AdapterName> adapters;
    for (UINT i = 0;; ++i) {
        Held<IDXGIAdapter1> adapter;
        if (FAILED(factory.EnumAdapters1(i, &adapter.at)))
            return adapters;
        AdapterName& named = adapters.emplace_back();
        DXGI_ADAPTER_DESC1 described = {};
        if (FAILED(adapter.at->GetDesc1(&described)))
            continue;
        named.name = utf8(described.Description);
        static_assert(sizeof described.AdapterLuid == sizeof named.luid);
        std::memcpy(&named.luid, &described.AdapterLuid, sizeof named.luid);
    }
}

class DxgiProbe final : public VideoMemoryProbe
{
public:
    /// Says whether the adapter has answers; else the object is of no use.
    bool open(IDXGIAdapter1& adapter)
    {
        return SUCCEEDED(adapter.QueryInterface(__uuidof(IDXGIAdapter3), adapter_.place()));
    }
    std::optional<VideoMemory> ask() const override
    {
        DXGI_QUERY_VIDEO_MEMORY_INFO info = {};
        if (FAILED(adapter_.at->QueryVideoMemoryInfo(0, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, &info)))
            return std::nullopt;
        return VideoMemory{std::int64_t(info.Budget), std::int64_t(info.CurrentUsage)};
    }

private:
    Held<IDXGIAdapter3> adapter_;
};

}  // namespace

std::unique_ptr<VideoMemoryProbe> find_system_video_memory(const AdapterName& gpu)
{
    Held<IDXGIFactory1> factory;
    if (FAILED(CreateDXGIFactory1(__uuidof(IDXGIFactory1), factory.place())))
        return nullptr;
    const std::optional<std::size_t> found = find_adapter(adapters_of(*factory.at), gpu);
    Held<IDXGIAdapter1> chosen;
    if (!found || FAILED(factory.at->EnumAdapters1(UINT(*found), &chosen.at)))
        return nullptr;
    auto probe = std::make_unique<DxgiProbe>();
    return probe->open(*chosen.at) ? std::move(probe) : nullptr;
}

}  // namespace engine
