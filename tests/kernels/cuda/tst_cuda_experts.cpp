// Tests experts on the device where something is amiss; that they compute right is checked in
// kernels/cuda/checks/experts.cpp.
#include "tests/kernels/cuda/on_device.h"
#include "tests/support/test_program.h"

#include <limits>

using namespace kernels::cuda;

class TestCudaExperts : public QObject
{
    Q_OBJECT

private slots:
    // Comparisons with what is no number are false; the choice must stay one of experts that exist.
    void logitsThatAreNoNumbersChooseSomething()
    {
        OnDevice on;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> logits{nan, nan, nan, nan, nan, 1, nan, 0};
        const Routing routing{.rows = 2,
                              .used = 3,
                              .experts = 4,
                              .chosen = on.room(6 * sizeof(int)),
                              .weights = on.room(6 * sizeof(float))};
        on.must(route(on.driver(), on.queue(), {on.put(logits), 4}, Choice{}, routing));
        for (const int expert : on.get<int>(routing.chosen, 6))
            QVERIFY(expert >= 0 && expert < 4);
    }

    void moreThanThereAreIsRefused()
    {
        OnDevice on;
        QVERIFY(route(on.driver(), on.queue(), {}, Choice{}, {.rows = 1, .used = 5, .experts = 4}) ==
                Status::InvalidValue);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaExperts)
#include "tst_cuda_experts.moc"
