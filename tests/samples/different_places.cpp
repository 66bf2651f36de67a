// different_places DIGITS CHECKPOINT: two ranks of the trainer resume, as on machines of which only
// one has the file. Fails unless both refuse, and unless they train where both have it.

#include <feedline/error.hpp>

#include "cpu.hpp"
#include "training.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Trains for two epochs as two ranks.
/// @return How many refused because of the other's place.
int refusals(const std::array<mnist::trainer_options, 2>& options) {
  mnist::process_ranks ranks{{}, 2};
  for (int i = 0; i < 2; ++i) ranks.here.push_back({{.rank = i, .world = 2}, -1});
  mnist::cpu_team team{ranks};
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      try {
        mnist::cpu on{ranks.here[i]};
        mnist::training<mnist::cpu>{options[i], ranks.here[i], on, team}.run();
      } catch (const feedline::usage_error& error) {
        std::printf("%s\n", error.what());
        const std::string words = error.what();
        if (words.find("and others elsewhere: all ranks must see") != std::string::npos) ++refused;
      }
    });
  for (std::thread& thread : threads) thread.join();
  return refused;
}

}  // namespace

int main(int, char** argv) {
  mnist::trainer_options has;
  has.data = argv[1];
  has.batch_size = 200;
  has.epochs = 1;
  has.checkpoint = argv[2];
  if (refusals({has, has}) != 0) return 1;
  has.epochs = 2;
  has.resume = true;
  mnist::trainer_options has_not = has;
  has_not.checkpoint = std::string{argv[2]} + ".is-not-here";
  return refusals({has, has_not}) == 2 && refusals({has, has}) == 0 ? 0 : 1;
}
