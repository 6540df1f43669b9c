// Tests that work on a pool's thread brings its result back, and brings nothing to an object that has gone.
#include "app/system/background.h"
#include "tests/support/test_program.h"

#include <QScopeGuard>
#include <QSemaphore>
#include <QTest>

#include <memory>
#include <new>
#include <stdexcept>

class TestBackground : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theResultComesBack()
    {
        QObject owner;
        std::unique_ptr<int> there;
        QThread* worked = nullptr;
        QThread* done = nullptr;
        inBackground(
            &owner,
            [&worked] {
                worked = QThread::currentThread();
                return std::make_unique<int>(7);  // may be moved only
            },
            [&](std::unique_ptr<int> result) {
                done = QThread::currentThread();
                there = std::move(result);
            });
        QVERIFY(!there);
        QTRY_VERIFY(there);
        QCOMPARE(*there, 7);
        QVERIFY(worked != QThread::currentThread());
        QCOMPARE(done, QThread::currentThread());
    }

    void nothingComesBackToWhoIsGone()
    {
        auto owner = std::make_unique<QObject>();
        bool called = false;
        inBackground(
            owner.get(), [] { return 1; }, [&called](int) { called = true; }, [&called] { called = true; });
        QThreadPool::globalInstance()->waitForDone();
        owner.reset();
        QCoreApplication::processEvents();
        QVERIFY(!called);
    }

    void whatIsThrownEndsThere_data()
    {
        QTest::addColumn<bool>("memory");
        QTest::newRow("no memory") << true;
        QTest::newRow("another") << false;
    }

    void whatIsThrownEndsThere()
    {
        QFETCH(bool, memory);
        QObject owner;
        bool failed = false, done = false;
        inBackground(
            &owner,
            [memory]() -> int {
                if (memory)
                    throw std::bad_alloc();
                throw std::runtime_error("a mistake");
            },
            [&done](int) { done = true; }, [&failed] { failed = true; });
        QTRY_VERIFY(failed);
        QVERIFY(!done);
    }

    void workThatWaitsHoldsNoOtherUp()
    {
        QObject owner;
        QSemaphore share;
        const int many = QThreadPool::globalInstance()->maxThreadCount();
        const auto answers = qScopeGuard([&] {
            share.release(many);
            QThreadPool::globalInstance()->waitForDone();
        });
        for (int i = 0; i < many; ++i)
            inBackground(
                &owner,
                [&share] {
                    share.acquire();
                    return 0;
                },
                [](int) {});
        bool done = false;
        inBackground(
            &owner, [] { return 1; }, [&done](int) { done = true; });
        QTRY_VERIFY(done);
    }

    void withoutAWayToFailItIsSilent()
    {
        QObject owner;
        bool done = false;
        inBackground(
            &owner, []() -> int { throw std::bad_alloc(); }, [&done](int) { done = true; });
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
        QVERIFY(!done);
    }
};

SPILLWAY_TEST(QCoreApplication, TestBackground)

#include "tst_background.moc"
