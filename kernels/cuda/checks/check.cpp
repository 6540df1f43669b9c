#include "kernels/cuda/check.h"

#include "kernels/cuda/checks/attention.h"
#include "kernels/cuda/checks/experts.h"
#include "kernels/cuda/checks/gates.h"
#include "kernels/cuda/checks/halves.h"
#include "kernels/cuda/checks/products.h"
#include "kernels/cuda/checks/rank.h"
#include "kernels/cuda/checks/recurrent.h"
#include "kernels/cuda/checks/rows.h"
#include "kernels/cuda/checks/store_kv.h"
#include "kernels/cuda/checks/wait_for_host.h"

namespace kernels::cuda {

const std::vector<KernelCheck>& kernel_checks()
{
    static const std::vector<KernelCheck> checks = [] {
        std::vector<KernelCheck> all;
        add_row_checks(all);
        add_product_checks(all);
        add_gated_product_checks(all);
        add_halves_checks(all);
        add_rank_checks(all);
        add_expert_checks(all);
        add_recurrent_checks(all);
        add_linear_attention_checks(all);
        add_store_kv_checks(all);
        add_attention_checks(all);
        add_flag_checks(all);
        return all;
    }();
    return checks;
}

}  // namespace kernels::cuda
