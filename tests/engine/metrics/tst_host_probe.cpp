// Tests that the probe finds cores and memory of machines that are made of files, and of this one.
#include "engine/metrics/host_probe.h"
#include "engine/metrics/host_probe_linux.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

namespace fs = std::filesystem;

class TestHostProbe : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path root() const { return fs::path(m_folder->path().toStdU16String()); }
    void write(const fs::path& path, std::string_view text) const
    {
        fs::create_directories((root() / path).parent_path());
        std::ofstream(root() / path) << text;
    }
    void cpu(int number, std::string_view siblings) const
    {
        write("sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/thread_siblings_list", siblings);
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void hyperThreadsCountOnce()
    {
        cpu(0, "0,4\n"), cpu(4, "0,4\n"), cpu(1, "1,5\n"), cpu(5, "1,5\n");
        QCOMPARE(engine::physical_cores(root(), {0, 1, 4, 5}), 2);
        QCOMPARE(engine::physical_cores(root(), {1, 5}), 1);
        QCOMPARE(engine::physical_cores(root(), {4, 5}), 2);  // one thread of each core is allowed
        QCOMPARE(engine::core_cpus(root(), {0, 1, 4, 5}), (std::vector<int>{0, 1}));
        QCOMPARE(engine::core_cpus(root(), {1, 4, 5}), (std::vector<int>{1, 4}));
    }

    void withoutTopologyEveryCpuIsACore()
    {
        QCOMPARE(engine::physical_cores(root(), {0, 1, 2}), 3);
        QCOMPARE(engine::physical_cores(root(), {}), 1);
    }

    void fastCoresOnly()
    {
        // Two fast cores with two threads each, four small ones.
        cpu(0, "0-1"), cpu(1, "0-1"), cpu(2, "2-3"), cpu(3, "2-3");
        for (int i = 4; i < 8; ++i)
            cpu(i, std::to_string(i));
        write("sys/devices/cpu_core/cpus", "0-3\n");
        write("sys/devices/cpu_atom/cpus", "4-7\n");
        QCOMPARE(engine::physical_cores(root(), {0, 1, 2, 3, 4, 5, 6, 7}), 2);
        QCOMPARE(engine::physical_cores(root(), {2, 3, 4, 5}), 1);
        QCOMPARE(engine::core_cpus(root(), {0, 1, 2, 3, 4, 5, 6, 7}), (std::vector<int>{0, 2}));
        QCOMPARE(engine::physical_cores(root(), {4, 5, 6}), 3);  // only small ones are allowed
    }

    void quotaVersion2()
    {
        write("proc/self/cgroup", "0::/a/b\n");
        write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        QCOMPARE(engine::physical_cores(root(), {0, 1, 2, 3}), 4);
        write("sys/fs/cgroup/a/cpu.max", "250000 100000\n");  // a parent's counts
        QCOMPARE(engine::physical_cores(root(), {0, 1, 2, 3}), 2);
        write("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
        QCOMPARE(engine::physical_cores(root(), {0, 1, 2, 3}), 1);
        write("sys/fs/cgroup/a/b/cpu.max", "99000000 100000\n");
        QCOMPARE(engine::physical_cores(root(), {0, 1, 2, 3}), 2);
    }

    void quotaVersion1InAContainer()
    {
        write("proc/self/cgroup", "3:cpu,cpuacct:/docker/abc\n");  // the host's path; here the tree begins at /
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        QCOMPARE(engine::physical_cores(root(), {0, 1, 2, 3}), 3);
    }

    void aCardIsKnownWithoutItsDriver()
    {
        QVERIFY(!engine::has_nvidia_card(root()));  // there is no such bus
        const auto card = [&](std::string_view place, std::string_view vendor, std::string_view kind) {
            write(fs::path("sys/bus/pci/devices") / place / "vendor", vendor);
            write(fs::path("sys/bus/pci/devices") / place / "class", kind);
        };
        card("0000:00:02.0", "0x8086\n", "0x030000\n");  // Intel's graphics
        card("0000:01:00.1", "0x10de\n", "0x040300\n");  // what an NVIDIA card makes sound with
        QVERIFY(!engine::has_nvidia_card(root()));
        card("0000:02:00.0", "0x10de\n", "0x030200\n");  // one without outputs
        QVERIFY(engine::has_nvidia_card(root()));
    }

    void memoryOfTheMachine()
    {
        QVERIFY(!engine::host_memory(root()).total_bytes);
        write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
        QCOMPARE(*engine::host_memory(root()).total_bytes, 1000 * 1024);
        QCOMPARE(*engine::host_memory(root()).available_bytes, 600 * 1024);
    }

    void memoryLimitVersion2()
    {
        write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
        write("proc/self/cgroup", "0::/a\n");
        write("sys/fs/cgroup/a/memory.max", "409600\n");
        write("sys/fs/cgroup/a/memory.current", "204800\n");
        write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 102400\nactive_file 51200\n");
        QCOMPARE(*engine::host_memory(root()).total_bytes, 409600);
        QCOMPARE(*engine::host_memory(root()).available_bytes, 409600 - 204800 + 102400 + 51200);
        write("sys/fs/cgroup/a/memory.max", "max\n");
        QCOMPARE(*engine::host_memory(root()).total_bytes, 1000 * 1024);
        write("sys/fs/cgroup/a/memory.max", "4096000000\n");  // more than there is
        QCOMPARE(*engine::host_memory(root()).total_bytes, 1000 * 1024);
        QCOMPARE(*engine::host_memory(root()).available_bytes, 600 * 1024);
    }

    void memoryLimitVersion1()
    {
        write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
        write("proc/self/cgroup", "9:memory:/docker/abc\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "409600\n");
        write("sys/fs/cgroup/memory/memory.usage_in_bytes", "409000\n");
        write("sys/fs/cgroup/memory/memory.stat", "inactive_file 0\ntotal_inactive_file 400\ntotal_active_file 100\n");
        QCOMPARE(*engine::host_memory(root()).available_bytes, 1100);
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        QCOMPARE(*engine::host_memory(root()).available_bytes, 600 * 1024);
    }

    void thisMachine()
    {
        const int cores = engine::physical_cores();
        QVERIFY(cores >= 1 && cores <= int(std::thread::hardware_concurrency()));
        const engine::HostMemory memory = engine::host_memory();
        QVERIFY(*memory.available_bytes > 0 && *memory.available_bytes <= *memory.total_bytes);

        const engine::ProcessMemory before = engine::process_memory();
        constexpr std::size_t kBytes = 64 << 20;
        auto block = std::make_unique<char[]>(kBytes);
        std::memset(block.get(), 1, kBytes);
        const engine::ProcessMemory with_block = engine::process_memory();
        block.reset();
        const engine::ProcessMemory after = engine::process_memory();
        const auto grown = std::int64_t(kBytes * 9 / 10);
        QVERIFY(*with_block.resident_bytes - *before.resident_bytes >= grown);
        QVERIFY(*after.peak_resident_bytes >= *before.resident_bytes + grown);
    }
};

SPILLWAY_TEST(QCoreApplication, TestHostProbe)
#include "tst_host_probe.moc"
