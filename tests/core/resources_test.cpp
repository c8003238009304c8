#include "core/resources.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/scratch_folder.h"

namespace che {
namespace {

class ResourcesTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& content) const {
    std::filesystem::create_directories((root_.path() / file).parent_path());
    std::ofstream(root_.path() / file) << content << "\n";
  }
  Resources resources() const { return available_resources(root_.path()); }

  ScratchFolder root_;
};

TEST_F(ResourcesTest, WithoutGroupsTheAffinityMaskCounts) {
  cpu_set_t mask;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof mask, &mask));
  const cpu_set_t all = mask;
  EXPECT_EQ(CPU_COUNT(&mask), resources().cores);
  EXPECT_GT(resources().memory_bytes, 1e6);
  int first = 0;
  while (!CPU_ISSET(first, &mask)) ++first;
  CPU_ZERO(&mask);
  CPU_SET(first, &mask);
  ASSERT_EQ(0, sched_setaffinity(0, sizeof mask, &mask));
  EXPECT_EQ(1, resources().cores);
  sched_setaffinity(0, sizeof all, &all);
}

TEST_F(ResourcesTest, TheTightestGroupOfVersion2Counts) {
  write("proc/self/cgroup", "0::/slurm/job");
  write("sys/fs/cgroup/slurm/cpu.max", "max 100000");
  write("sys/fs/cgroup/slurm/memory.max", "67108864");
  write("sys/fs/cgroup/slurm/job/cpu.max", "50000 100000");
  write("sys/fs/cgroup/slurm/job/memory.max", "max");
  EXPECT_EQ(1, resources().cores);
  EXPECT_EQ(67'108'864, resources().memory_bytes);
}

TEST_F(ResourcesTest, CountsTheFilesOfGpus) {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(std::vector<std::string>{}, resources().gpus);
  write("dev/nvidia0", "");
  write("dev/nvidia1", "");
  write("dev/nvidiactl", "");
  EXPECT_EQ((std::vector<std::string>{"0", "1"}), resources().gpus);
}

TEST_F(ResourcesTest, AContainerMayHaveTheFileOfALaterGpuOnly) {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  write("dev/nvidia2", "");
  write("dev/nvidia-uvm", "");
  EXPECT_EQ(std::vector<std::string>{"0"}, resources().gpus);
}

TEST_F(ResourcesTest, KnowsTheGpuOfWindows) {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  write("dev/dxg", "");
  EXPECT_EQ(std::vector<std::string>{}, resources().gpus) << "it may be of another maker";
  write("usr/lib/wsl/lib/libcuda.so.1", "");
  EXPECT_EQ(std::vector<std::string>{"0"}, resources().gpus);
}

TEST_F(ResourcesTest, CudaVisibleDevicesNamesTheGpus) {
  write("dev/nvidia0", "");
  for (const auto& [named, gpus] :
       std::map<std::string, std::vector<std::string>>{{"", {}},
                                                       {"-1", {}},
                                                       {"3", {"3"}},
                                                       {"2,GPU-8932f937", {"2", "GPU-8932f937"}},
                                                       {"1,-1,0", {"1"}},
                                                       {"NoDevFiles", {}},
                                                       {"MIG-1", {"MIG-1"}}}) {
    ::setenv("CUDA_VISIBLE_DEVICES", named.c_str(), 1);
    EXPECT_EQ(gpus, resources().gpus) << named;
  }
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

// The path is that of the host, which the container does not see.
TEST_F(ResourcesTest, AContainerFindsItsGroupAtTheMount) {
  write("proc/self/cgroup", "0::/docker/1234");
  write("sys/fs/cgroup/memory.max", "1048576");
  EXPECT_EQ(1'048'576, resources().memory_bytes);
}

TEST_F(ResourcesTest, ReadsVersion1) {
  write("proc/self/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box\n1:name=systemd:/");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "2097152");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "100000");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000");
  EXPECT_EQ(1, resources().cores);
  EXPECT_EQ(2'097'152, resources().memory_bytes);
}

TEST_F(ResourcesTest, NoLimitIsNoLimit) {
  const Resources free = resources();
  write("proc/self/cgroup", "5:memory:/box\n4:cpu:/box\n0::/box");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/box/cpu.max", "max 100000");
  EXPECT_EQ(free.cores, resources().cores);
  EXPECT_EQ(free.memory_bytes, resources().memory_bytes);
}

}  // namespace
}  // namespace che
