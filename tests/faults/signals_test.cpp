/// Signals that interrupt every thread again and again, by a handler that does not ask for calls to
/// be restarted.

#include <feedline/deadline_error.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/io/map_files.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

std::atomic<std::uint64_t> interruptions{0};

/// While it lives, all other threads of the process are interrupted by SIGUSR1.
class signal_storm {
 public:
  signal_storm() {
    struct sigaction counting {};
    counting.sa_handler = [](int) { ++interruptions; };  // and no SA_RESTART
    ::sigaction(SIGUSR1, &counting, nullptr);  // for good: a signal may still be on its way
    thread_ = std::thread{[this] { interrupt_all(); }};
  }
  signal_storm(const signal_storm&) = delete;
  signal_storm& operator=(const signal_storm&) = delete;
  ~signal_storm() {
    ended_ = true;
    thread_.join();
  }

 private:
  void interrupt_all() {
    const long self = ::syscall(SYS_gettid);
    while (!ended_) {
      for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
        const long thread = std::stol(task.path().filename().string());
        if (thread != self) (void)::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR1);
      }
      // A thread that is interrupted all the time does nothing else.
      std::this_thread::sleep_for(std::chrono::microseconds{300});
    }
  }

  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// Consumes epochs until there was an interruption, and more.
template <class Consume>
void consume_interrupted(Consume consume) {
  const std::uint64_t enough = interruptions.load() + 100;
  do consume();
  while (interruptions.load() < enough);
}

}  // namespace

TEST_CASE("faults: signals on every thread change no batch", "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 3);
  CAPTURE(to_string(through), readers);
  const path_setup by{through};
  const auto data = make_identity_rows(256, 16);
  const loader_options options{
      .batch_size = 8, .readers = readers, .expert = {.batches_per_slot = 1}};
  loader reference = by.load(data, shuffle{.seed = 4}, options);
  const auto expected = consume_epochs(reference, by, 1);
  loader loader = by.load(data, shuffle{.seed = 4}, options);
  const signal_storm storm;
  consume_interrupted([&] { CHECK(consume_epochs(loader, by, 1) == expected); });
}

TEST_CASE("faults: signals while files are read change no batch", "[reader][host]") {
  const bool mapped = GENERATE(false, true);
  constexpr std::size_t record_bytes = 1 << 16;
  constexpr std::uint64_t records = 64;
  const temporary_directory folder;
  std::vector<std::byte> bytes(records * record_bytes);
  for (std::uint64_t record = 0; record < records; ++record)
    write_identity_row(record, std::span{bytes}.subspan(record * record_bytes, record_bytes));
  const auto path = folder.write("rows.bin", bytes);
  map_files(mapped);
  loader loader{open_records({path.string()}, {{"row", element_type::u8, {record_bytes}}}),
                sequential{},
                make_host_device(),
                {.batch_size = 4, .readers = 3, .expert = {.batches_per_slot = 1}}};
  {
    const signal_storm storm;
    consume_interrupted([&] {
      auto next = bytes.begin();
      for (const batch& taken : loader.epoch(0)) {
        const auto rows = taken["row"].bytes();
        CHECK(std::equal(rows.begin(), rows.end(), next));
        next += static_cast<std::ptrdiff_t>(rows.size());
      }
      CHECK(next == bytes.end());
    });
  }
  map_files(true);
}

TEST_CASE("faults: signals end no wait for a batch before its deadline", "[loader][host]") {
  std::promise<void> gate;
  const auto data =
      gated(make_identity_rows(64, 8), [open = gate.get_future().share()](auto) { open.wait(); });
  const path_setup by{GENERATE(data_path::in_place, data_path::stream)};
  loader loader = by.load(data, sequential{}, {.batch_size = 8, .readers = 2});
  auto range = loader.epoch(0, by.stream);
  {
    const signal_storm storm;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{100};
    CHECK_THROWS_AS((void)range.next(deadline), deadline_error);
    CHECK(std::chrono::steady_clock::now() >= deadline);
  }
  gate.set_value();
  CHECK(range.next());
}
