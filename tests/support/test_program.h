// Collects the tests of a folder in one program, which runs the one that its first argument names.
#pragma once

#include "tests/support/try_often.h"

#include <QtTest>

#include <filesystem>
#include <map>
#include <string>

namespace test_support {

/// Runs one test with Qt Test's own arguments; 0 where nothing failed.
using RunTest = int (*)(int argc, char** argv);

/// The tests of this program by their names, those of their files: tst_page_pool.
inline std::map<std::string, RunTest>& tests_of_this_program()
{
    static std::map<std::string, RunTest> tests;
    return tests;
}

/// For a test that needs no Application at all.
struct NoApplication {
    NoApplication(int&, char**) {}
};

template <typename Application, typename Test>
int run_test(int argc, char** argv)
{
    [[maybe_unused]] const Application application(argc, argv);
    Test test;
    return QTest::qExec(&test, argc, argv);
}

inline bool add_test(const char* file, RunTest run)
{
    return tests_of_this_program().emplace(std::filesystem::path(file).stem().string(), run).second;
}

}  // namespace test_support

/// Adds the class Test, which asks for an object of the class Application first, to the program that it is compiled
/// for.
#define SPILLWAY_TEST(Application, Test)                                                                               \
    [[maybe_unused]] static const bool is_added_##Test =                                                               \
        test_support::add_test(__FILE__, test_support::run_test<Application, Test>);
