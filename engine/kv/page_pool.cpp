#include "engine/kv/page_pool.h"

#include <cassert>

namespace engine {

PagePool::PagePool(int page_count, int tokens_per_page)
    : tokens_per_page_(tokens_per_page)
    , owners_(std::size_t(page_count), 0)
{
    free_.reserve(owners_.size());
    for (PageId page = page_count - 1; page >= 0; --page)
        free_.push_back(page);
}

std::optional<PageId> PagePool::take()
{
    if (free_.empty())
        return std::nullopt;
    const PageId page = free_.back();
    free_.pop_back();
    owners_[std::size_t(page)] = 1;
    return page;
}

std::optional<PageId> PagePool::free_page(int i) const
{
    return i < free_pages() ? std::optional(free_[free_.size() - 1 - std::size_t(i)]) : std::nullopt;
}

void PagePool::share(PageId page)
{
    assert(owners(page) > 0);
    ++owners_[std::size_t(page)];
}

void PagePool::give_back(PageId page)
{
    assert(owners(page) > 0);
    if (--owners_[std::size_t(page)] == 0)
        free_.push_back(page);
}

}  // namespace engine
