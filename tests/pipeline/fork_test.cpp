/// A loader in a child of fork: its threads are not there, so all that would wait for them must
/// not.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/cpu_budget.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "device/deferred_free.hpp"
#include "reader/reader_turns.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Runs `body` in a child of fork. @return Whether it came to its end and returned true; a
/// child that hangs is ended after 20 seconds.
template <class Body>
bool holds_in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    bool holds = false;
    try {
      holds = body();
    } catch (...) {
      holds = false;
    }
    ::_exit(holds ? 0 : 1);  // nothing of the parent's is destroyed
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string refusal(pid_t owner) {
  return "this loader belongs to process " + std::to_string(owner) + ", and this is process " +
         std::to_string(::getpid()) +
         ", a fork of it, where none of its threads are: make a loader in each process after fork, "
         "and use this one in its own";
}

/// Memory that a device uses until told otherwise.
class used_memory final : public detail::deferred_free {
 public:
  used_memory(const bool& used, bool& freed) noexcept : used_{used}, freed_{freed} {}
  used_memory(const used_memory&) = delete;
  used_memory& operator=(const used_memory&) = delete;
  ~used_memory() override { freed_ = true; }
  [[nodiscard]] bool is_idle() override { return !used_; }

 private:
  const bool& used_;
  bool& freed_;
};

}  // namespace

TEST_CASE("fork: a loader of the parent's refuses to be used in the child", "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader loader =
      by.load(make_identity_rows(256, 8), sequential{}, {.batch_size = 8, .readers = readers});
  auto range = loader.epoch(0, by.stream);
  REQUIRE(range.next());
  const pid_t owner = ::getpid();
  const loader_state state = loader.state();
  CHECK(holds_in_child([&] {
    return message_of<usage_error>([&] { (void)range.next(); }) == refusal(owner) &&
           message_of<usage_error>([&] { (void)loader.state(); }) == refusal(owner) &&
           message_of<usage_error>([&] { loader.seek(state); }) == refusal(owner) &&
           message_of<usage_error>([&] { (void)loader.epoch(1, by.stream); }) == refusal(owner);
  }));
  CHECK(range.next());  // and continues in its own process
}

TEST_CASE("fork: in the child all objects of the parent's loader can be stopped and destroyed",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  auto made = std::make_unique<loader>(
      by.load(make_identity_rows(256, 8), sequential{}, {.batch_size = 8, .readers = readers}));
  std::optional<epoch_range> range{made->epoch(0, by.stream)};
  std::optional<batch> held{range->next()};
  REQUIRE(held);
  CHECK(holds_in_child([&] {
    made->stop();
    held.reset();
    range.reset();
    made.reset();
    return true;
  }));
  CHECK(held->size() == 8);
  CHECK(range->next());
}

TEST_CASE("fork: in the child a loader of its own can replace the parent's", "[loader][host]") {
  const auto load = [](int readers) {
    return loader{make_identity_rows(64, 8),
                  sequential{},
                  make_host_device(),
                  {.batch_size = 8, .readers = readers}};
  };
  loader loader = load(2);
  REQUIRE(loader.epoch(0).next());
  CHECK(holds_in_child([&] {
    loader = load(0);  // no thread: sanitizers start none in a child
    return loader.epoch(0).next().has_value();
  }));
}

TEST_CASE("fork: the child frees none of the memory that its parent set aside",
          "[device][loader][host]") {
  bool used = true;
  bool freed = false;
  detail::free_when_idle(std::make_unique<used_memory>(used, freed));
  REQUIRE_FALSE(freed);
  used = false;
  CHECK(holds_in_child([&] {
    detail::free_deferred();
    return !freed;
  }));
  detail::free_deferred();
  CHECK(freed);
}

TEST_CASE("fork: a child's readers do not wait for turns that the parent's had", "[loader][host]") {
  set_cpu_budget(1);
  std::barrier both{2};
  std::thread reader{[&] {
    const std::atomic<bool> stopping{false};
    const detail::reader_turns::turn parents{detail::reader_turns::of_process(), stopping};
    both.arrive_and_wait();
    both.arrive_and_wait();
  }};
  both.arrive_and_wait();
  CHECK(holds_in_child([] {
    const std::atomic<bool> stopping{false};
    const detail::reader_turns::turn own{detail::reader_turns::of_process(), stopping};
    return detail::reader_turns::held() && cpu_budget() == 1;
  }));
  both.arrive_and_wait();
  reader.join();
  set_cpu_budget(0);
}
