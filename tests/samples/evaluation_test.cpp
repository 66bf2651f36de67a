/// The trainer's evaluation: its accuracy is that of sums taken from the device, and to issue it
/// waits for no answer.

#include "evaluation.hpp"

#include <feedline/dataset/memory_dataset.hpp>

#include "cpu_rank.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/scripted_device.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace mnist;
using feedline::test::scripted;

namespace {

constexpr std::size_t inputs = 16;

/// 1,301 digits, of which some are easier than others; three batches, the last of 301.
feedline::dataset_ptr made_digits(std::uint8_t last_label = 1) {
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;
  for (std::size_t i = 0; i < 1301; ++i) {
    labels.push_back(static_cast<std::uint8_t>(i * 7 % 10));
    for (std::size_t pixel = 0; pixel < inputs; ++pixel)
      images.push_back(static_cast<std::uint8_t>((labels.back() * 37 + i * pixel * 11) % 256));
  }
  labels.back() = last_label;
  return feedline::make_memory_dataset({feedline::own("image", std::move(images), {4, 4}),
                                        feedline::own("label", std::move(labels))});
}

/// Computes like a scripted device: in the order of a stream, after its copies.
class scripted_gpu : public alone {
 public:
  scripted on;

  feedline::device_ptr device() const { return on.device; }
  feedline::stream_ref stream() const { return on.stream; }
  template <class Value>
  Value* allocate(std::size_t count) {
    return memory_.allocate<Value>(count);
  }
  template <class Value>
  void upload(std::span<const Value> from, Value* to) {
    on.device->drain(on.stream);
    memory_.upload(from, to);
  }
  void multiply(const matrix& left, const matrix& right, float keep, float* out) {
    on.device->launch(on.stream, [=] { cpu::multiply(left, right, keep, out); });
  }
  template <class Operation>
  void for_each(std::size_t count, Operation operation) {
    on.device->launch(on.stream, [=]() mutable {
      for (std::size_t i = 0; i < count; ++i) operation(i);
    });
  }

 private:
  cpu memory_;
};

/// The share of right answers, taken from the device's memory after each batch.
double accuracy_without_ring(const feedline::dataset_ptr& digits) {
  cpu on;
  network<cpu> model{on, inputs, evaluation<cpu>::batch_size, 1};
  feedline::loader loader{digits, feedline::sequential{}, on.device(),
                          loading({}, on.share(), evaluation<cpu>::batch_size)};
  std::vector<float> score(3);
  double right = 0;
  double count = 0;
  for (const feedline::batch& batch : loader.epoch(0)) {
    model.test(view_of(batch, loader, on.share(), digits->size()), score.data());
    right += score[1];
    count += static_cast<double>(batch.size());
  }
  return right / count;
}

/// Result of an evaluation by a number of ranks, which are threads.
double accuracy_of(const feedline::dataset_ptr& digits, int world, std::uint64_t epoch = 0) {
  process_ranks ranks{{}, world};
  for (int i = 0; i < world; ++i) ranks.here.push_back({{.rank = i, .world = world}, -1});
  cpu_team team{ranks};
  double found = -1;
  std::vector<std::thread> threads;
  for (const rank& self : ranks.here)
    threads.emplace_back([&] {
      cpu_rank on{self};
      on.join(team);
      network<cpu_rank> model{on, inputs, evaluation<cpu_rank>::batch_size, 1};
      evaluation<cpu_rank> test{{}, on, digits};
      for (std::uint64_t each = 0; each <= epoch; ++each)
        test.begin(model, each, [&found](double accuracy) { found = accuracy; });
      test.wait();
    });
  for (std::thread& thread : threads) thread.join();
  return found;
}

}  // namespace

TEST_CASE("trainer: the accuracy of answers by the ring is that of sums taken from the device",
          "[sample][host]") {
  const auto digits = made_digits();
  const double wanted = accuracy_without_ring(digits);
  CHECK(wanted > 0.02);
  CHECK(wanted < 0.98);
  for (const int world : {1, 2, 3}) {
    CAPTURE(world);
    CHECK(accuracy_of(digits, world) == wanted);  // to the last bit
  }
  CHECK(accuracy_of(digits, 1, 3) == wanted);  // the fourth evaluation by the same ring
}

TEST_CASE("trainer: an evaluation is issued while none of its answers has come back",
          "[sample][host]") {
  const auto digits = made_digits();
  scripted_gpu on;
  network<scripted_gpu> model{on, inputs, evaluation<scripted_gpu>::batch_size, 1};
  evaluation<scripted_gpu> test{{}, on, digits};
  std::promise<double> told;
  auto accuracy = told.get_future();
  on.on.device->hold_copies_back();
  auto issued = std::async(std::launch::async, [&] {
    test.begin(model, 0, [&told](double found) { told.set_value(found); });
  });
  const bool waits = issued.wait_for(std::chrono::seconds{20}) != std::future_status::ready;
  CHECK_FALSE(waits);
  CHECK(on.on.device->completed_copies_back() == 0);
  CHECK(accuracy.wait_for(std::chrono::seconds{0}) != std::future_status::ready);
  on.on.device->allow_all_copies_back();
  issued.get();
  test.wait();
  CHECK(accuracy.get() == accuracy_without_ring(digits));
}

TEST_CASE("trainer: a test label that is no class is an error when the answers are there",
          "[sample][host]") {
  cpu on;
  network<cpu> model{on, inputs, evaluation<cpu>::batch_size, 1};
  evaluation<cpu> test{{}, on, made_digits(10)};
  test.begin(model, 0, [](double) {});
  CHECK_THROWS_WITH(test.wait(), "1 labels are above 9: the trainer knows the classes 0 to 9");
}
