// PagePool keeps the books of one pool of the paged KV cache: which pages are free and how many sequences read each
// one. A page is a run of tokens in all layers (a block column). Owns no tensor memory; where a block's bytes are is
// the residency table's business.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace engine {

using PageId = std::int32_t;

class PagePool
{
public:
    PagePool(int page_count, int tokens_per_page);

    /// Takes a page with one owner, or nothing when the pool is exhausted. Never waits, never throws.
    std::optional<PageId> take();

    /// Lets one more sequence read the page (shared prefix). Each share() needs its own give_back().
    void share(PageId page);
    void give_back(PageId page);

    int owners(PageId page) const { return owners_[std::size_t(page)]; }
    int free_pages() const { return int(free_.size()); }
    /// Returns the i-th page that take() would give next, if there are so many.
    std::optional<PageId> free_page(int i) const;
    int page_count() const { return int(owners_.size()); }
    int used_pages() const { return page_count() - free_pages(); }
    int tokens_per_page() const { return tokens_per_page_; }
    int pages_for(int tokens) const { return (tokens + tokens_per_page_ - 1) / tokens_per_page_; }

private:
    int tokens_per_page_;
    std::vector<std::int32_t> owners_;  // (page_count,) sequences reading each page; 0 = free
    std::vector<PageId> free_;          // taken from the back: the lowest free page first on a fresh pool
};

}  // namespace engine
