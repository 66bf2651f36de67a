// An inference server: threads of clients put requests into a queue, a loader makes batches of
// those that are there, and one loop answers each batch. No GPU: the model is a scalar product.
//
// Build:  cmake --preset release && cmake --build --preset release --target inference_server
// Run:    build/release/samples/inference_server
// Expect: 4000 requests of 8 clients answered, 0 wrong, in batches of at most 64

#include <feedline/feedline.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <iostream>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t clients = 8;
constexpr std::size_t requests = 500;  // from each client
constexpr std::size_t width = 16;

float model(const float* row) {
  float sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += static_cast<float>(i) * row[i];
  return sum;
}

}  // namespace

int main() {
  // Each request has an id, because a batch does not say who put its samples.
  const auto queue = feedline::make_queue_dataset(
      {{"row", feedline::element_type::f32, {width}}, {"id", feedline::element_type::u64}},
      {.capacity = 1024, .max_delay = std::chrono::microseconds{200}});
  std::vector<std::promise<float>> answers(clients * requests);
  std::atomic<int> wrong{0};

  std::vector<std::thread> threads;
  for (std::size_t client = 0; client < clients; ++client)
    // When the last producer ends, the queue is closed, and so the server's loop ends.
    threads.emplace_back([&, client, to = feedline::queue_producer{queue}]() mutable {
      for (std::uint64_t id = client * requests; id < (client + 1) * requests; ++id) {
        std::array<float, width> row{};
        for (std::size_t i = 0; i < width; ++i) row[i] = static_cast<float>(id % (i + 3));
        const std::array<std::span<const std::byte>, 2> request{std::as_bytes(std::span{row}),
                                                                std::as_bytes(std::span{&id, 1})};
        if (to.put(request) != feedline::put_result::accepted) return;
        if (answers[id].get_future().get() != model(row.data())) ++wrong;
      }
      to.end();
    });

  feedline::loader loader{
      queue, feedline::sequential{}, feedline::make_host_device(), {.batch_size = 64}};
  std::size_t answered = 0, largest = 0;
  for (feedline::batch& batch : loader.epoch(0)) {
    const auto rows = batch["row"].values<float>();
    const auto ids = batch["id"].values<std::uint64_t>();
    for (std::size_t i = 0; i < batch.size(); ++i)
      answers[ids[i]].set_value(model(&rows[i * width]));
    answered += batch.size();
    largest = std::max(largest, batch.size());
  }
  for (std::thread& each : threads) each.join();
  std::cout << answered << " requests of " << clients << " clients answered, " << wrong
            << " wrong, in batches of " << (largest <= 64 ? "at most" : "more than") << " 64\n";
}
