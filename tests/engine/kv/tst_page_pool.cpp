// Tests that the page pool counts the owners of each page, and answers "full" where it has none left.
#include "engine/kv/page_pool.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>

using namespace engine;

class TestPagePool : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void takesUntilFullAndSaysSo()
    {
        PagePool pool(3, 16);
        QCOMPARE(pool.free_pages(), 3);
        QCOMPARE(*pool.take(), 0);
        QVERIFY(pool.take() && pool.take());
        QVERIFY(!pool.take());
        QCOMPARE(pool.used_pages(), 3);
        pool.give_back(1);
        QCOMPARE(*pool.take(), 1);
    }

    void sharedPagesNeedEveryOwnerToLeave()
    {
        PagePool pool(1, 16);
        const PageId page = *pool.take();
        pool.share(page);
        QCOMPARE(pool.owners(page), 2);
        pool.give_back(page);
        QVERIFY(!pool.take());
        pool.give_back(page);
        QVERIFY(pool.take());
    }

    void countsPagesForTokens()
    {
        const PagePool pool(4, 16);
        QCOMPARE(pool.pages_for(0), 0);
        QCOMPARE(pool.pages_for(1), 1);
        QCOMPARE(pool.pages_for(16), 1);
        QCOMPARE(pool.pages_for(17), 2);
    }

    void randomUseNeverLosesAPage()
    {
        const unsigned seed = std::random_device{}();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        PagePool pool(20, 16);
        std::vector<PageId> held;  // a page as often as it is owned
        for (int i = 0; i < 5000; ++i) {
            const int what = int(random() % 3);
            if (what == 0) {
                if (const auto page = pool.take())
                    held.push_back(*page);
            } else if (!held.empty()) {
                const std::size_t which = random() % held.size();
                if (what == 1) {
                    pool.share(held[which]);
                    held.push_back(held[which]);
                } else {
                    pool.give_back(held[which]);
                    held.erase(held.begin() + std::ptrdiff_t(which));
                }
            }
            std::sort(held.begin(), held.end());
            std::vector<PageId> unique(held);
            unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
            QCOMPARE(pool.used_pages(), int(unique.size()));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestPagePool)
#include "tst_page_pool.moc"
