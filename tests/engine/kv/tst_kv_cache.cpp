// Tests that the paged KV cache reserves room, shares prefixes, copies a shared page when it is written, and lays out
// its blocks as it says.
#include "engine/kv/kv_cache.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cstring>
#include <set>

using namespace engine;

namespace {

KvCache small_cache(int page_limit)
{
    const kernels::KvBlockLayout layout{kernels::KvType::F16, kernels::KvType::Q8_0, 8, 12, 16};
    return KvCache({{2, layout}, {1, layout}}, 16, page_limit);
}

void fill(KvSequence& sequence, int tokens)
{
    while (sequence.length() < tokens)
        sequence.ids.push_back(sequence.length());
}

}  // namespace

class TestKvCache : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aBlockHoldsKeysScalesAndValues()
    {
        const kernels::KvBlockLayout layout{kernels::KvType::F16, kernels::KvType::Q8_0, 8, 12, 32};
        QCOMPARE(layout.k_scales_offset(), std::size_t(32 * 8 * 2));
        QCOMPARE(layout.v_offset(), layout.k_scales_offset());  // f16 keys have no scales
        QCOMPARE(layout.v_scales_offset(), layout.v_offset() + 32 * 12);
        QCOMPARE(layout.bytes(), layout.v_scales_offset() + 32 * 4);
        std::set<std::size_t> indices;
        for (int t = 0; t < 32; ++t)
            for (int d = 0; d < 8; ++d)
                indices.insert(layout.k_index(t, d));
        QCOMPARE(indices.size(), std::size_t(32 * 8));
        QCOMPARE(*indices.rbegin(), std::size_t(32 * 8 - 1));
        QCOMPARE(layout.k_index(1, 0), std::size_t(4));   // the next token's four values follow
        QCOMPARE(layout.k_index(0, 4), std::size_t(64));  // the next four dimensions of the 16 tokens after them
    }

    void valuesInKeysTakeNoBytes()
    {
        const kernels::KvBlockLayout apart{kernels::KvType::Q8_0, kernels::KvType::Q8_0, 20, 16, 32};
        kernels::KvBlockLayout layout = apart;
        layout.values_in_keys = true;
        QCOMPARE(layout.bytes(), apart.v_offset());
        QCOMPARE(layout.bytes(), 32 * layout.token_bytes());
        QCOMPARE(apart.bytes(), 32 * apart.token_bytes());
        for (int t = 0; t < 32; ++t)
            for (int d = 0; d < 16; ++d)
                QCOMPARE(layout.v_offset() + layout.v_index(t, d), layout.k_index(t, d));
        QCOMPARE(layout.v_scales_offset(), layout.k_scales_offset());
        layout.set_types(kernels::KvType::F16, kernels::KvType::Q8_0);
        QCOMPARE(layout.v_type, kernels::KvType::F16);
        QVERIFY(layout.has_types(kernels::KvType::F16, kernels::KvType::F32));
        QVERIFY(!layout.has_types(kernels::KvType::Q8_0, kernels::KvType::F16));
    }

    void reservesAndGivesBack()
    {
        KvCache cache = small_cache(3);
        KvSequence sequence;
        QVERIFY(cache.reserve(sequence, 17));
        QCOMPARE(cache.used_pages(), 2);
        fill(sequence, 17);
        cache.truncate(sequence, 16);
        QCOMPARE(cache.used_pages(), 1);
        cache.truncate(sequence, 0);
        QCOMPARE(cache.used_pages(), 0);
    }

    void aFullPoolIsAnAnswerAndChangesNothing()
    {
        KvCache cache = small_cache(2);
        KvSequence sequence;
        QVERIFY(cache.reserve(sequence, 16));
        fill(sequence, 16);
        const auto refused = cache.reserve(sequence, 16 * 3);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::ContextFull);
        QCOMPARE(sequence.pages.size(), std::size_t(1));
        QCOMPARE(cache.used_pages(), 1);
    }

    void memoryIsTakenUpToTheLimit()
    {
        KvCache cache = small_cache(8);
        const auto page = std::int64_t(cache.page_bytes());
        cache.limit_memory({.bytes = 3 * page});
        KvSequence a, b;
        QVERIFY(cache.reserve(a, 32));
        fill(a, 32);
        const auto refused = cache.reserve(b, 32);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::NoMemory);
        QVERIFY(b.pages.empty());
        QVERIFY(cache.has_pages_for(b, 32));  // they only have no memory
        cache.truncate(a, 0);
        QVERIFY(cache.reserve(b, 48));
        QCOMPARE(cache.allocated_bytes(), 3 * page);
        QVERIFY(!cache.reserve(a, 1));
        cache.limit_memory({.bytes = 0, .pages = 4});  // this many are promised
        QVERIFY(cache.reserve(a, 1));
        QCOMPARE(cache.allocated_bytes(), 4 * page);
    }

    void thePoolKnowsWhetherItHasPages()
    {
        KvCache cache = small_cache(3);
        KvSequence a;
        QVERIFY(cache.has_pages_for(a, 48) && !cache.has_pages_for(a, 49));
        QVERIFY(cache.reserve(a, 20));
        fill(a, 20);
        QVERIFY(cache.has_pages_for(a, 48) && !cache.has_pages_for(a, 49));
        const KvSequence b = cache.branch(a, 20);
        QVERIFY(cache.has_pages_for(b, 32) && !cache.has_pages_for(b, 33));  // one is copied
    }

    void aBranchSharesUntilItWrites()
    {
        KvCache cache = small_cache(8);
        KvSequence a;
        QVERIFY(cache.reserve(a, 40));
        fill(a, 40);
        std::memset(cache.block(a.pages[2], 0, LayerOn::Host, 1), 7, cache.layer(0).block.bytes());
        KvSequence b = cache.branch(a, 40);
        QCOMPARE(cache.used_pages(), 3);
        QCOMPARE(b.pages, a.pages);

        QVERIFY(cache.reserve(b, 41));  // writes into the shared tail page
        QCOMPARE(cache.used_pages(), 4);
        QCOMPARE(b.pages[0], a.pages[0]);
        QVERIFY(b.pages[2] != a.pages[2]);
        QCOMPARE(std::to_integer<int>(*cache.block(b.pages[2], 0, LayerOn::Host, 1)), 7);
        std::memset(cache.block(b.pages[2], 0, LayerOn::Host, 1), 9, 4);
        QCOMPARE(std::to_integer<int>(*cache.block(a.pages[2], 0, LayerOn::Host, 1)), 7);

        cache.truncate(a, 0);
        QCOMPARE(cache.used_pages(), 3);
        cache.truncate(b, 0);
        QCOMPARE(cache.used_pages(), 0);
    }

    /// The pages that were taken before the one that is missing go back, and the tail stays shared.
    void noPageForTheCopyOfATailChangesNothing()
    {
        KvCache cache = small_cache(3);
        KvSequence a;
        QVERIFY(cache.reserve(a, 20));
        fill(a, 20);
        KvSequence b = cache.branch(a, 20);
        const auto refused = cache.reserve(b, 33);  // one page more, and a copy of the second
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::ContextFull);
        QCOMPARE(b.pages, a.pages);
        QCOMPARE(cache.used_pages(), 2);
        QCOMPARE(cache.owners(a.pages[1]), 2);
        cache.truncate(a, 0);
        cache.truncate(b, 0);
        QCOMPARE(cache.used_pages(), 0);
    }

    void aBranchAtAPageBorderCopiesNothing()
    {
        KvCache cache = small_cache(8);
        KvSequence a;
        QVERIFY(cache.reserve(a, 32));
        fill(a, 32);
        KvSequence b = cache.branch(a, 16);
        QVERIFY(cache.reserve(b, 17));
        QCOMPARE(cache.used_pages(), 3);
        QCOMPARE(b.pages[0], a.pages[0]);
    }

    void blocksOfAllLayersAndHeadsLieApart()
    {
        KvCache cache = small_cache(1);
        KvSequence a;
        QVERIFY(cache.reserve(a, 16));
        const std::size_t bytes = cache.layer(0).block.bytes();
        QVERIFY(cache.block(a.pages[0], 0, LayerOn::Host, 1) >= cache.block(a.pages[0], 0, LayerOn::Host, 0) + bytes);
        QVERIFY(cache.block(a.pages[0], 1, LayerOn::Host, 0) >= cache.block(a.pages[0], 0, LayerOn::Host, 1) + bytes);
        QVERIFY(cache.page_bytes() >= 3 * bytes);
        QCOMPARE(cache.residency(a.pages[0], 1), Residency::Host);
    }
};

SPILLWAY_TEST(QCoreApplication, TestKvCache)
#include "tst_kv_cache.moc"
