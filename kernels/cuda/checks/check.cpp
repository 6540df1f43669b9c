#include "kernels/cuda/check.h"

#include "kernels/cuda/checks/checks.h"

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
        add_routing_checks(all);
        add_expert_checks(all);
        add_recurrent_checks(all);
        add_linear_attention_checks(all);
        add_stream_checks(all);
        add_store_kv_checks(all);
        add_launch_end_checks(all);
        add_attention_checks(all);
        add_flag_checks(all);
        return all;
    }();
    return checks;
}

}  // namespace kernels::cuda
