/// How much memory a consumer that keeps batches may get, and what it is told.

#include <feedline/error.hpp>

#include "pipeline/batches/held_slots.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// "id", "row" and "note" of 8 samples, each at a multiple of 256 bytes.
constexpr std::size_t batch_bytes = 3 * 256;

}  // namespace

TEST_CASE(
    "kept batches: past max_held_bytes there is an error with the numbers, and the consumer "
    "continues when one has ended",
    "[batch][loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  holding on{through, keeping(readers, 1, 3 * batch_bytes + 100)};
  REQUIRE(on.under_test->plan().batch_bytes == batch_bytes);
  std::vector<batch> held = on.take(5);
  const std::string kind = through == data_path::in_place ? "staging" : "device";
  for (int i = 0; i < 2; ++i) {
    CHECK(message_of<usage_error>([&] { (void)on.next(); }) ==
          "no batch can be delivered: 5 batches are held (1 in slot 0, 1 in slot 1, 3 in further "
          "slots), of 2 " +
              kind +
              " slots, and a slot is filled again when no batch in it is held; further slots have "
              "2304 bytes of " +
              kind +
              " memory, the next one may take 768, and expert.max_held_bytes allows 2404. End "
              "batches "
              "before taking the next one, copy what you keep of them, or set a higher "
              "expert.max_held_bytes");
  }
  const int ended = GENERATE(0, 4);  // in a slot of the ring's own, or a further one
  held.erase(held.begin() + ended);
  std::uint64_t index = 5;
  while (const auto taken = on.next()) {
    if (through != data_path::in_place) on.by.on.device->drain(on.by.stream);
    CHECK(look_at(*taken).intact);
    CHECK(taken->index() == index++);
  }
  CHECK(index == 20);
}

TEST_CASE("kept batches: without a limit it is a quarter of what the device has free",
          "[batch][device][host]") {
  holding on{data_path::stream, keeping(2, 1, 0)};
  std::vector<batch> held = on.take(2);
  CHECK(message_of<usage_error>([&] {
          (void)on.next();
        }).find("the device does not tell how much is free: set expert.max_held_bytes") !=
        std::string::npos);
  const std::size_t used = on.by.on.device->allocated_bytes(memory_kind::device);
  on.by.on.device->limit(memory_kind::device, used + 20 * batch_bytes);
  for (batch& each : on.take(5)) held.push_back(std::move(each));
  CHECK(message_of<usage_error>([&] { (void)on.next(); })
            .find("further slots have 3840 bytes of device memory, the next one may take 768, and "
                  "expert.max_held_bytes (by default a quarter of what is free) allows 3840") !=
        std::string::npos);
}

TEST_CASE("kept batches: memory limits hold for them too", "[batch][loader][host]") {
  const data_path through = GENERATE(data_path::in_place, data_path::stream);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  loader_options options = keeping(readers);
  const std::string which = through == data_path::in_place ? "pinned" : "device";
  (through == data_path::in_place ? options.memory.pinned : options.memory.device) =
      4 * batch_bytes;
  holding on{through, options};
  const std::vector<batch> held = on.take(4);
  CHECK(message_of<usage_error>([&] {
          (void)on.next();
        }).find("the next one may take 768, and the rest of memory." + which + " allows 1536") !=
        std::string::npos);
}

TEST_CASE("kept batches: memory that the device refuses is an error, and nothing is lost",
          "[batch][device][host]") {
  const int readers = GENERATE(0, 2);
  holding on{data_path::stream, keeping(readers)};
  std::vector<batch> held = on.take(2);
  on.by.on.device->fail_call(device_call::allocate, 2);
  held.push_back(std::move(on.next().value()));
  const std::string message = message_of<usage_error>([&] { (void)on.next(); });
  CHECK(message.find("the next one may take 768, and ") != std::string::npos);
  CHECK(message.find("the scripted device fails this call as told") != std::string::npos);
  std::uint64_t index = 3;
  while (auto taken = on.next()) {
    CHECK(taken->index() == index++);
    held.push_back(std::move(*taken));
  }
  CHECK(index == 20);
}

TEST_CASE("kept batches: at the limit a batch that another thread ends gives room",
          "[batch][host]") {
  const data_path through = GENERATE(data_path::in_place, data_path::stream, data_path::decoded);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  const log_capture log;
  holding on{through, keeping(readers, 1, 3 * batch_bytes)};
  std::vector<batch> held = on.take(5);
  batch further = std::move(held.back());
  held.pop_back();
  std::promise<void> taken_over;
  std::promise<void> end;
  auto worker = std::async(std::launch::async, [&, given = std::move(further)]() mutable {
    std::optional<batch> own{std::move(given)};
    taken_over.set_value();
    end.get_future().wait();
    own.reset();
  });
  taken_over.get_future().wait();
  auto next = std::async(std::launch::async, [&] { return on.next().value().index(); });
  CHECK(next.wait_for(std::chrono::milliseconds{20}) == std::future_status::timeout);
  end.set_value();
  CHECK(next.get() == 5);
  worker.get();
}

TEST_CASE("kept batches: there is one warning, with the numbers", "[batch][loader][host]") {
  const data_path through = GENERATE(data_path::in_place, data_path::stream);
  const bool calls = GENERATE(false, true);
  CAPTURE(to_string(through), calls);
  const log_capture log;
  std::vector<std::string> told;
  {
    loader_options options = keeping(2, 1, 12345);
    options.expert.held_warning = nullptr;
    if (calls) options.expert.held_warning = [&](const std::string& text) { told.push_back(text); };
    holding on{through, options};
    for (int epoch = 0; epoch < 2; ++epoch) (void)on.take(6);
  }
  CHECK(log.lines() == (calls ? 0 : 1));
  CHECK(told.size() == (calls ? 1 : 0));
  const std::string text = calls ? told.front() : log.text();
  CHECK(text.find("batches are kept while a new one is asked for: 2 batches are held (1 in slot 0, "
                  "1 in slot 1), of 2 ") != std::string::npos);
  CHECK(text.find("further batches get memory of their own: 768 bytes now, and at most 12345, by "
                  "expert.max_held_bytes. What is kept of a batch keeps its whole slot, up to 768 "
                  "bytes: copy it if it is small.") != std::string::npos);
}
