// Tests that the texts of /proc, /sys and the cgroups are read as machines write them.
#include "engine/metrics/proc_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace engine;
using Cpus = std::vector<int>;

class TestProcText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void meminfo()
    {
        // Linux 6.1
        const char* text = "MemTotal:       24671880 kB\nMemFree:        23500312 kB\nMemAvailable:   24001004 kB\n"
                           "HugePages_Total:       0\nHugepagesize:       2048 kB\n";
        QCOMPARE(*kib_line(text, "MemTotal"), 24671880ll * 1024);
        QCOMPARE(*kib_line(text, "MemAvailable"), 24001004ll * 1024);
        QVERIFY(!kib_line(text, "Mem"));
        QVERIFY(!kib_line(text, "HugePages_Total"));  // no unit
        QVERIFY(!kib_line(text, "Available"));
        QVERIFY(!kib_line("", "MemTotal"));
        QVERIFY(!kib_line("MemTotal: kB", "MemTotal"));
        QVERIFY(!kib_line("MemTotal: -4 kB", "MemTotal"));
        QVERIFY(!kib_line("MemTotal: 9223372036854775807 kB", "MemTotal"));
        QVERIFY(!kib_line("MemTotal: 99999999999999999999 kB", "MemTotal"));
    }

    void status()
    {
        const char* text = "Name:\tspillway\nVmPeak:\t   10512 kB\nVmHWM:\t    5204 kB\nVmRSS:\t    4096 kB\n";
        QCOMPARE(*kib_line(text, "VmRSS"), 4096 * 1024);
        QCOMPARE(*kib_line(text, "VmHWM"), 5204 * 1024);
    }

    void schedstat()
    {
        const auto times = run_times("1062164 1986763 3\n");
        QVERIFY(times);
        QCOMPARE(times->ran_s, 1062164e-9);
        QCOMPARE(times->waited_s, 1986763e-9);
        for (const char* bad : {"", "12", "12 x 3", "12 -5 3", "x 5 3"})
            QVERIFY2(!run_times(bad), bad);
    }

    void fetchedFromADisk()
    {
        const char* io = "rchar: 6976\nwchar: 0\nsyscr: 10\nsyscw: 0\nread_bytes: 40960\nwrite_bytes: 7\n";
        QCOMPARE(fetched_bytes(io), std::optional<std::int64_t>(40960));
        QVERIFY(!fetched_bytes("rchar: 6976\nread_bytes: many\n") && !fetched_bytes("read_bytes: -1\n"));
        QVERIFY(!fetched_bytes(""));
    }

    void memoryStat()
    {
        const char* text = "anon 4096\nfile 8192\ninactive_file 16384\ntotal_inactive_file 5\n";
        QCOMPARE(*plain_line(text, "inactive_file"), 16384);
        QCOMPARE(*plain_line(text, "total_inactive_file"), 5);
        QVERIFY(!plain_line(text, "file_x"));
    }

    void cpuLists()
    {
        QCOMPARE(*cpu_list("0-3,8,10-11\n"), (Cpus{0, 1, 2, 3, 8, 10, 11}));
        QCOMPARE(*cpu_list("5"), Cpus{5});
        QCOMPARE(*cpu_list("4,0"), (Cpus{0, 4}));
        QCOMPARE(*cpu_list("0-1,1-2"), (Cpus{0, 1, 2}));
        QCOMPARE(*cpu_list("\n"), Cpus{});
        for (const char* bad : {"x", "3-1", "-1", "1,,2", "0-4294967296", "0-99999999", "1-", "1 2"})
            QVERIFY2(!cpu_list(bad), bad);
    }

    void limits()
    {
        QCOMPARE(*limit("1073741824\n"), 1073741824ll);
        QVERIFY(!limit("max\n"));
        QVERIFY(!limit("9223372036854771712\n"));  // version 1's "none"
        QVERIFY(!limit(""));
        QVERIFY(!limit("-1"));
    }

    void cpuQuotas()
    {
        QCOMPARE(*cpu_max_v2("150000 100000\n"), 1.5);
        QVERIFY(!cpu_max_v2("max 100000\n"));
        QVERIFY(!cpu_max_v2(""));
        QVERIFY(!cpu_max_v2("100000"));
        QVERIFY(!cpu_max_v2("100000 0"));
        QCOMPARE(*cpu_quota_v1("400000\n", "100000\n"), 4.0);
        QVERIFY(!cpu_quota_v1("-1\n", "100000\n"));
    }

    void cgroups()
    {
        const CgroupPaths v2 = cgroup_paths("0::/user.slice/user-1000.slice/a:b.scope\n");
        QCOMPARE(*v2.unified, std::string("/user.slice/user-1000.slice/a:b.scope"));
        QVERIFY(!v2.memory);
        const CgroupPaths v1 = cgroup_paths("12:memory:/docker/abc\n4:cpu,cpuacct:/docker/def\n1:name=systemd:/x\n");
        QVERIFY(!v1.unified);
        QCOMPARE(*v1.memory, std::string("/docker/abc"));
        QCOMPARE(*v1.cpu, std::string("/docker/def"));
        QVERIFY(!cgroup_paths("").unified);
        QVERIFY(!cgroup_paths("nonsense").unified);
    }
};

SPILLWAY_TEST(QCoreApplication, TestProcText)
#include "tst_proc_text.moc"
