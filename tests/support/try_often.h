// Makes QTRY_VERIFY and its like look again after a millisecond, where Qt's own wait for 50.
#pragma once

#include <QElapsedTimer>
#include <QTest>

#ifdef QTRY_LOOP_IMPL
#undef QTRY_LOOP_IMPL
// Qt's own macros print `qt_test_i`, the milliseconds that were waited.
#define QTRY_LOOP_IMPL(expr, timeoutValue, step)                                                                       \
    int qt_test_i = 0;                                                                                                 \
    for (const QElapsedTimer waiting = test_support::startedTimer();                                                   \
         qt_test_i < timeoutValue && !(QTest::runningTest() && QTest::currentTestFailed()) && !(expr);                 \
         qt_test_i = int(waiting.elapsed()))                                                                           \
        QTest::qWait(qMin(step, 1));
#endif

namespace test_support {

inline QElapsedTimer startedTimer()
{
    QElapsedTimer timer;
    timer.start();
    return timer;
}

}  // namespace test_support
