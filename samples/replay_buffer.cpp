// A replay buffer: one thread plays, keeps the last transitions, draws from them, and puts what it
// drew into a queue; the loop learns from batches of them. The game is a random walk over five
// states that ends on either side, with a reward of 1 on the right: the values are 1/6 to 5/6.
//
// Build:  cmake --preset release && cmake --build --preset release --target replay_buffer
// Run:    build/release/samples/replay_buffer
// Expect: values after 400000 draws: within 0.05 of 1/6, 2/6, 3/6, 4/6, 5/6

#include <feedline/feedline.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::uint32_t states = 5;  // 1 to 5; the ends are 0 and 6

struct transition {
  std::uint32_t from;
  std::uint32_t to;
};

}  // namespace

int main() {
  // A small queue, so that the loop learns from transitions that were drawn a moment ago.
  const auto queue = feedline::make_queue_dataset(
      {{"from", feedline::element_type::u32}, {"to", feedline::element_type::u32}},
      {.capacity = 256, .max_delay = std::chrono::microseconds{200}});
  std::thread player{[to_learner = feedline::queue_producer{queue}] {
    constexpr std::size_t kept = 1000;
    std::mt19937 random{7};
    std::vector<transition> buffer;
    std::uint32_t at = 3;
    for (std::size_t step = 0; step < 100'000; ++step) {
      const transition seen{at, random() % 2 == 0 ? at + 1 : at - 1};
      at = seen.to == 0 || seen.to > states ? 3 : seen.to;
      if (buffer.size() < kept)
        buffer.push_back(seen);
      else
        buffer[step % kept] = seen;
      for (int draw = 0; draw < 4; ++draw) {
        const transition& drawn = buffer[random() % buffer.size()];
        const std::array<std::span<const std::byte>, 2> sample{
            std::as_bytes(std::span{&drawn.from, 1}), std::as_bytes(std::span{&drawn.to, 1})};
        if (to_learner.put(sample) != feedline::put_result::accepted) return;  // waits while full
      }
    }
  }};

  feedline::loader loader{
      queue, feedline::sequential{}, feedline::make_host_device(), {.batch_size = 64}};
  std::array<double, states + 2> values{};
  values.back() = 1;  // the reward at the right end
  std::size_t draws = 0;
  for (feedline::batch& batch : loader.epoch(0)) {
    const auto from = batch["from"].values<std::uint32_t>();
    const auto to = batch["to"].values<std::uint32_t>();
    for (std::size_t i = 0; i < batch.size(); ++i)
      values[from[i]] += 0.002 * (values[to[i]] - values[from[i]]);
    draws += batch.size();
  }
  player.join();

  bool is_close = true;
  for (std::uint32_t i = 1; i <= states; ++i) is_close &= std::abs(values[i] - i / 6.0) < 0.05;
  std::cout << "values after " << draws << " draws: " << (is_close ? "within" : "not within")
            << " 0.05 of 1/6, 2/6, 3/6, 4/6, 5/6\n";
}
