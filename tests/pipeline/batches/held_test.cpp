/// A consumer that holds batches in every slot: told so where only it can end that, waited for
/// where others may.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "pipeline/batches/held_slots.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr planned_pipeline::wait_limits endless{std::chrono::hours{1}, std::chrono::hours{1}};

/// One batch of each slot of two: the others end.
std::vector<batch> fill_slots(holding& on) {
  std::vector<batch> held;
  for (int i = 0; i < 4; ++i) {
    auto taken = on.next();
    if (i % 2 == 0) held.push_back(std::move(taken.value()));
  }
  return held;
}

}  // namespace

TEST_CASE(
    "held batches: a consumer that holds some in every slot gets an error for the next, and "
    "continues when one has ended",
    "[batch][loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  holding on{through, two_slots(readers, 2)};
  std::vector<batch> held = fill_slots(on);
  const std::string kind = through == data_path::in_place ? "staging" : "device";
  for (int i = 0; i < 2; ++i) {
    CHECK(message_of<usage_error>([&] { (void)on.next(); }) ==
          "no batch can be delivered: 2 batches are held (1 in slot 0, 1 in slot 1), of 2 " + kind +
              " slots, and a slot is filled again when no batch in it is held. End batches before "
              "taking the next one, or ask for more expert." +
              kind + "_slots than you hold batches in, or for fewer expert.batches_per_slot");
  }
  held.erase(held.begin());
  std::uint64_t index = 4;
  while (const auto taken = on.next()) CHECK(taken->index() == index++);
  CHECK(index == 20);
}

TEST_CASE("held batches: an epoch's last batches may all be held at its end", "[batch][host]") {
  const data_path through = GENERATE(data_path::in_place, data_path::stream, data_path::decoded);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  holding on{through, two_slots(readers, 2)};
  for (int i = 0; i < 16; ++i) CHECK(on.next());
  std::vector<batch> held = fill_slots(on);
  CHECK_FALSE(on.next());
}

TEST_CASE("held batches: those that another thread has taken over are waited for, however long",
          "[batch][host]") {
  const data_path through =
      GENERATE(data_path::in_place, data_path::stream, data_path::transformed, data_path::decoded);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  const log_capture log;
  {
    holding on{through, two_slots(readers, 2)};
    std::promise<void> taken_over;
    std::promise<void> end;
    std::thread worker{[&, held = fill_slots(on)]() mutable {
      std::vector<batch> own;
      for (auto& each : held) own.push_back(std::move(each));
      taken_over.set_value();
      end.get_future().wait();
      own.clear();
    }};
    taken_over.get_future().wait();
    auto next = std::async(std::launch::async, [&] { return on.next().has_value(); });
    CHECK(next.wait_for(std::chrono::milliseconds{20}) == std::future_status::timeout);
    end.set_value();
    CHECK(next.get());
    worker.join();
  }
  CHECK(log.lines() == 1);
  CHECK(log.text().find("2 batches are held (1 in slot 0, 1 in slot 1), of 2 ") !=
        std::string::npos);
}

TEST_CASE(
    "held batches: another thread may end them before the wait is over, though it touched none",
    "[batch][host]") {
  const data_path through =
      GENERATE(data_path::in_place, data_path::stream, data_path::transformed, data_path::decoded);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  holding on{through, two_slots(readers, 2), endless};
  std::vector<batch> held = fill_slots(on);
  std::promise<void> waits;
  std::thread other{[&] {
    waits.get_future().wait();
    held.pop_back();
  }};
  waits.set_value();
  CHECK(on.next().value().index() == 4);
  other.join();
}

TEST_CASE("held batches: stop ends the wait for one of them", "[loader][host]") {
  const data_path through = GENERATE(data_path::in_place, data_path::stream, data_path::decoded);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  holding on{through, two_slots(readers, 2), endless};
  const std::vector<batch> held = fill_slots(on);
  std::thread stopper{[&] { on.under_test->stop(); }};
  CHECK_FALSE(on.next());
  stopper.join();
}

TEST_CASE("held batches: a program of one thread does not wait for another", "[loader][host]") {
  if (!detail::single_threaded()) {  // it is where this case runs alone
    WARN("Skipped: this program has, or had, other threads");
    return;
  }
  // Not by way of a scripted device, which has a thread.
  planned_pipeline under_test{
      make_identity_dataset(64, 8),
      sequential{},
      make_host_device(),
      {.batch_size = 8, .readers = 0, .expert = {.batches_per_slot = 1, .staging_slots = 2}}};
  under_test.set(endless);
  const auto run = under_test.claim(0, {});
  const auto first = under_test.next(run, {});
  const auto second = under_test.next(run, {});
  CHECK_THROWS_AS((void)under_test.next(run, {}), usage_error);
}
