// Guards of mapped files on Windows. While we hold the file open without sharing writes, no program can cut it off;
// what remains are in-page errors: a share or a stick that is gone.
//
// A view cannot be replaced page by page. The first thread that meets an in-page error takes the whole view away and
// reserves its addresses; pages then become zeros (committed memory) as they are touched. A thread that comes in
// between sees an access violation inside the range, waits for the first one and tries again. Should another thread
// of the process be given just these addresses in that moment, the fault goes on to whoever handles it next.
#include "engine/files/guard_registry.h"

#include <windows.h>

namespace engine {
namespace {

constexpr std::uintptr_t kCommitBytes = 64 * 1024;  // at a time; addresses of views are multiples of it

enum Replaced : int { kMapped, kReplacing, kReserved, kFailed };

GuardRegistry* g_registry = nullptr;

/// Leaves `slot->replaced` at kReserved or kFailed, whichever thread does it.
void replace_view(const GuardedRange& range)
{
    int state = kMapped;
    if (range.slot->replaced.compare_exchange_strong(state, kReplacing)) {
        void* view = reinterpret_cast<void*>(range.begin);
        const bool reserved = ::UnmapViewOfFile(view) &&
                              ::VirtualAlloc(view, range.end - range.begin, MEM_RESERVE, PAGE_READONLY) == view;
        range.slot->replaced.store(reserved ? kReserved : kFailed);
        return;
    }
    while (range.slot->replaced.load() == kReplacing)
        ::SwitchToThread();
}

LONG CALLBACK on_exception(EXCEPTION_POINTERS* exception)
{
    const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
    const bool in_page_error = record.ExceptionCode == static_cast<DWORD>(EXCEPTION_IN_PAGE_ERROR);
    const bool access_violation = record.ExceptionCode == static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION);
    if ((!in_page_error && !access_violation) || record.NumberParameters < 2)
        return EXCEPTION_CONTINUE_SEARCH;
    constexpr ULONG_PTR kRead = 0;
    const auto address = static_cast<std::uintptr_t>(record.ExceptionInformation[1]);
    const GuardedRange range = g_registry->find(address);
    if (!range.slot || record.ExceptionInformation[0] != kRead)
        return EXCEPTION_CONTINUE_SEARCH;
    if (access_violation && range.slot->replaced.load() == kMapped)
        return EXCEPTION_CONTINUE_SEARCH;  // not of our making

    range.slot->lost.store(true);
    replace_view(range);
    if (range.slot->replaced.load() != kReserved)
        return EXCEPTION_CONTINUE_SEARCH;
    const std::uintptr_t chunk = address / kCommitBytes * kCommitBytes;
    const std::uintptr_t end = chunk + kCommitBytes < range.end ? chunk + kCommitBytes : range.end;
    void* zeros = ::VirtualAlloc(reinterpret_cast<void*>(chunk), end - chunk, MEM_COMMIT, PAGE_READONLY);
    return zeros ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

void install_fault_handler()
{
    g_registry = &guard_registry();
    ::AddVectoredExceptionHandler(1, on_exception);
}

}  // namespace engine
