// Makes QTRY_VERIFY and its like look again after a millisecond, where Qt's own wait for 50.
#pragma once

#include <QElapsedTimer>
#include <QTest>

#ifdef QTRY_LOOP_IMPL
#undef QTRY_LOOP_IMPL
// Qt's own macros print `qt_test_i`, the milliseconds that were waited: an int, or in newer Qts a duration, as the
// timeout.
#define QTRY_LOOP_IMPL(expr, timeoutValue, step)                                                                       \
    auto qt_test_i = 0 * (timeoutValue);                                                                               \
    for (const QElapsedTimer waiting = test_support::startedTimer();                                                   \
         qt_test_i < timeoutValue && !(QTest::runningTest() && QTest::currentTestFailed()) && !(expr);                 \
         qt_test_i = decltype(qt_test_i)(waiting.elapsed()))                                                           \
        QTest::qWait(1);
#endif

namespace test_support {

inline QElapsedTimer startedTimer()
{
    QElapsedTimer timer;
    timer.start();
    return timer;
}

}  // namespace test_support
