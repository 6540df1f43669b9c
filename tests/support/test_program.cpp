#include "tests/support/test_program.h"

#include <cstdio>
#include <vector>

int main(int argc, char** argv)
{
    const auto& tests = test_support::tests_of_this_program();
    const auto test = argc > 1 ? tests.find(argv[1]) : tests.end();
    if (test == tests.end()) {
        std::fputs("The first argument is the name of one of these tests:\n", stderr);
        for (const auto& [name, run] : tests)
            std::fprintf(stderr, "    %s\n", name.c_str());
        return 2;
    }
    std::vector<char*> arguments(argv + 1, argv + argc);
    arguments.front() = argv[0];  // Qt finds the program's folder by it
    arguments.push_back(nullptr);
    return test->second(argc - 1, arguments.data());
}
