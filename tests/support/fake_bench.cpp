// Stands in for `spillway-cli bench --json`: what it does is said by the name of the model. Its numbers follow from its
// arguments, so that a test knows them.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace {

std::string value_of(int argc, char** argv, const std::string& option)
{
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == option && i + 1 < argc)
            return argv[i + 1];
        if (word.starts_with(option + "="))
            return word.substr(option.size() + 1);
    }
    return {};
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string model = value_of(argc, argv, "--model") + value_of(argc, argv, "--shape");
    const std::string policy = value_of(argc, argv, "--kv-policy");
    const auto is = [&](const char* word) { return model.find(word) != std::string::npos; };
    const int context = std::atoi(value_of(argc, argv, "-c").c_str());

    if (is("hang")) {
        std::ofstream(model + ".running") << "yes";
        for (;;)
            std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    if (is("crash"))
        std::raise(SIGABRT);
    if (is("garbage")) {
        std::puts("{\"rows\": [{\"test\": \"decode\", \"tok_s_median\": \"fast\"");
        return 0;
    }
    if (is("flood"))
        for (;;)
            std::puts("and so on and so on and so on and so on and so on and so on");
    if (is("silent"))
        return 7;
    if (is("slow"))
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (policy == "resident" && context > 1024) {
        std::fputs(
            "note: nothing\nerror: the memory of the device is full, and the policy 'resident' lets nothing leave it\n",
            stderr);
        return 1;
    }
    std::string head(4, ' ');
    std::ifstream(model, std::ios::binary).read(head.data(), 4);
    const bool experts_in_ram = std::find(argv + 1, argv + argc, std::string("--cpu-moe")) != argv + argc;
    const std::string copies = value_of(argc, argv, "--expert-cache");
    const double speed = 1e6 / context + double(policy.size()) - (experts_in_ram ? 100 : 0) + (copies.empty() ? 0 : 50);
    std::fprintf(stderr, "decode 32 at %d: %.2f tok/s\n", context, speed);
    std::printf(
        "{\"device\": \"%s%s\", \"rows\": [{\"test\": \"decode\", \"tok_s_median\": %f, \"tok_s_min\": %f, "
        "\"tok_s_max\": %f, \"p99_ms\": %f, \"depth_ms\": %d, \"device_peak_bytes\": %s, "
        "\"host_peak_bytes\": %d000, \"expert_cache_bytes\": %s, \"expert_hits\": %d, \"expert_misses\": 10}]}\n",
        policy.empty() ? "cpu" : "emulated", head == "GGUF" ? ", from a file" : "", speed, speed * 0.9, speed * 1.1,
        1500 / speed, context, policy.empty() ? "null" : "5000000", context, policy.empty() ? "null" : "7000",
        copies.empty() ? 30 : 90);
    return 0;
}
