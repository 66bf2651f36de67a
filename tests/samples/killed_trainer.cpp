// killed_trainer TRAINER DIGITS WORK same|ranks|gpu: kills the trainer at 50 random moments and
// resumes it, and compares what it leaves with what an undisturbed run leaves. Fails where they
// differ.
//
//   same   always as one rank: the checkpoint and all lines are the same bytes
//   ranks  as one, two or four ranks in turn: every batch has the same bytes, and about the loss
//   gpu    as one rank, on a GPU: same, because its products need not be the same to the last bit

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <poll.h>

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error{why};
}

/// One life of the trainer. Whoever made it must wait for its end.
class life {
 public:
  /// @param folder Folder for all that it writes; it continues from the checkpoint there.
  life(const std::string& trainer, const std::string& digits, const std::string& device,
       const fs::path& folder, int readers, int ranks) {
    std::vector<std::string> words{trainer,
                                   "--data",
                                   digits,
                                   "--device",
                                   device,
                                   "--epochs",
                                   "2",
                                   "--batch-size",
                                   "52",
                                   "--every",
                                   "4",
                                   "--resume",
                                   "--checkpoint",
                                   folder / "checkpoint",
                                   "--losses",
                                   folder / "losses",
                                   "--checksums",
                                   folder / "checksums",
                                   "--readers",
                                   std::to_string(readers),
                                   "--ranks",
                                   std::to_string(ranks)};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = folder.string() + ".log";
    int ends[2];
    if (::pipe(ends) != 0) fail("no pipe");
    process_ = ::fork();
    if (process_ < 0) fail("no fork");
    if (process_ == 0) {  // it keeps `ends[1]` open as long as it lives
      const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      ::dup2(output, STDOUT_FILENO);
      ::dup2(output, STDERR_FILENO);
      ::execv(trainer.c_str(), arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    alive_ = ends[0];
  }
  life(const life&) = delete;
  life& operator=(const life&) = delete;
  ~life() { ::close(alive_); }

  /// Blocks until it has written this many checkpoints, or has ended.
  void await(int checkpoints, int folder_watch) const {
    while (checkpoints > 0) {
      std::array<pollfd, 2> on{{{alive_, POLLIN, 0}, {folder_watch, POLLIN, 0}}};
      if (::poll(on.data(), on.size(), -1) < 0) fail("no poll");
      if (on[0].revents != 0) return;
      alignas(inotify_event) std::array<char, 4096> events;
      const ssize_t bytes = ::read(folder_watch, events.data(), events.size());
      for (ssize_t at = 0; at < bytes; --checkpoints)
        at += static_cast<ssize_t>(sizeof(inotify_event) +
                                   reinterpret_cast<const inotify_event*>(events.data() + at)->len);
    }
  }
  void kill() const { ::kill(process_, SIGKILL); }
  /// @return Whether it was killed; if not, it came to its end. Fails if it ended otherwise.
  bool was_killed() const {
    int status = 0;
    if (::waitpid(process_, &status, 0) != process_) fail("no child");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      fail("the trainer ended with status " + std::to_string(status));
    return false;
  }

 private:
  pid_t process_ = 0;
  int alive_ = -1;
};

std::string content_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) fail("there is no " + path.string());
  return {std::istreambuf_iterator<char>{file}, {}};
}

void compare_bytes(const fs::path& found, const fs::path& wanted) {
  if (content_of(found) != content_of(wanted))
    fail(found.string() + " is not what an undisturbed run leaves");
}

/// "result accuracy=… loss=…" of a run in `folder`, of its last epoch as a whole; empty: it had
/// nothing left to do.
std::string result_of(const fs::path& folder) {
  const std::string log = content_of(folder.string() + ".log");
  const std::size_t begin = log.find("result ");
  return begin == std::string::npos ? "" : log.substr(begin, log.find(" samples", begin) - begin);
}

/// Sums over ranks are rounded differently, which may grow after some batches (mnist_ranks_test.sh
/// says why): the first losses are compared one by one, and then their mean.
void compare_losses(const fs::path& found, const fs::path& wanted) {
  std::istringstream left{content_of(found)};
  std::istringstream right{content_of(wanted)};
  std::array<double, 3> a{};
  std::array<double, 3> b{};
  double largest = 0;
  double sum = 0;
  double wanted_sum = 0;
  int lines = 0;
  for (; right >> b[0] >> b[1] >> b[2]; ++lines) {
    if (!(left >> a[0] >> a[1] >> a[2]) || a[0] != b[0] || a[1] != b[1])
      fail(found.string() + " has not the lines of an undisturbed run");
    if (lines < 20) largest = std::max(largest, std::abs(a[2] - b[2]));
    sum += a[2];
    wanted_sum += b[2];
  }
  const double mean = sum / wanted_sum - 1;
  std::printf("%d losses; the first 20 at most %.1e apart; mean %+.2f %%\n", lines, largest,
              100 * mean);
  if (lines != 2 * 116 || largest > 0.001 || std::abs(mean) > 0.02)
    fail("the losses are not those of an undisturbed run");
}

void run(const std::string& trainer, const std::string& digits, const fs::path& work,
         const std::string& how) {
  fs::remove_all(work);
  const fs::path undisturbed = work / "undisturbed";
  const fs::path disturbed = work / "disturbed";
  fs::create_directories(undisturbed);
  const std::string device = how == "gpu" ? "auto" : "cpu";
  if (life{trainer, digits, device, undisturbed, 1, 1}.was_killed()) fail("nobody kills this one");
  if (how == "gpu" &&
      content_of(undisturbed.string() + ".log").find("\ndevice: cpu") != std::string::npos) {
    std::puts("[feedline skip] no GPU that can be used");
    return;
  }

  const auto seed = std::random_device{}();
  std::printf("moments drawn with seed %u\n", seed);
  std::minstd_rand engine{seed};
  int kills = 0;
  for (int trainings = 0; kills < 50; ++trainings) {
    fs::remove_all(disturbed);
    fs::create_directories(disturbed);
    const int watch = ::inotify_init1(IN_CLOEXEC);
    if (::inotify_add_watch(watch, disturbed.c_str(), IN_MOVED_TO) < 0) fail("no inotify");
    bool is_killed = true;
    for (int number = 0; is_killed; ++number) {
      const int ranks = how == "ranks" ? 1 << number % 3 : 1;
      const life one{trainer, digits, device, disturbed, number % 3, ranks};
      one.await(static_cast<int>(engine() % 4), watch);
      // The moment is any in the next few batches, or while the trainer starts.
      ::usleep(static_cast<useconds_t>(engine() % 20'000));
      one.kill();
      is_killed = one.was_killed();
      kills += is_killed ? 1 : 0;
    }
    ::close(watch);
    compare_bytes(disturbed / "checksums", undisturbed / "checksums");
    if (how == "same") {
      compare_bytes(disturbed / "losses", undisturbed / "losses");
      compare_bytes(disturbed / "checkpoint", undisturbed / "checkpoint");
      const std::string result = result_of(disturbed);
      if (!result.empty() && result != result_of(undisturbed))
        fail("other than undisturbed: " + result);
    } else {
      compare_losses(disturbed / "losses", undisturbed / "losses");
    }
    std::printf("killed %d times, in %d trainings\n", kills, trainings + 1);
  }
}

}  // namespace

int main(int, char** argv) {
  try {
    run(argv[1], argv[2], argv[3], argv[4]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "FAILED: %s\n", error.what());
    return 1;
  }
}
