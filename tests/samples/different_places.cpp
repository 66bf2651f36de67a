// different_places DIGITS CHECKPOINT: two ranks of the trainer that disagree. They resume, as on
// machines of which only one has the file; or one has another order, batch size or number of
// epochs. Fails unless both refuse, and unless they train where they agree.

#include <feedline/error.hpp>

#include "cpu_rank.hpp"
#include "rank_training.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

struct options {
  mnist::trainer_options shared;
  mnist::several_options several;
};

/// Trains as two ranks.
/// @return Number of ranks that refused with these words; 100 for each that refused with others.
int refusals(const std::array<options, 2>& of, const std::string& words) {
  mnist::process_ranks ranks{{}, 2};
  for (int i = 0; i < 2; ++i) ranks.here.push_back({{.rank = i, .world = 2}, -1});
  mnist::cpu_team team{ranks};
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      try {
        mnist::cpu_rank on{ranks.here[i]};
        mnist::rank_training<mnist::cpu_rank> one{of[i].shared, of[i].several, on};
        one.join(team);
        one.run();
      } catch (const feedline::usage_error& error) {
        std::printf("%s\n", error.what());
        const bool has_words = std::string{error.what()}.find(words) != std::string::npos;
        refused += has_words ? 1 : 100;
      }
    });
  for (std::thread& thread : threads) thread.join();
  return refused;
}

}  // namespace

int main(int, char** argv) {
  options has;
  has.shared.data = argv[1];
  has.shared.batch_size = 200;
  has.shared.epochs = 1;
  has.several.checkpoint = argv[2];

  const auto with = [&](auto change) {
    options other = has;
    change(other);
    return other;
  };
  const std::string another = "has another training than other ranks: 6000 digits, batches of ";
  for (const options& other : {with([](auto& of) { of.shared.seed = 2; }),
                               with([](auto& of) { of.shared.batch_size = 100; }),
                               with([](auto& of) { of.shared.epochs = 2; })})
    if (refusals({has, other}, another) != 2) return 1;

  if (refusals({has, has}, "") != 0) return 1;
  has.shared.epochs = 2;
  has.several.resume = true;
  options has_not = has;
  has_not.several.checkpoint = std::string{argv[2]} + ".is-not-here";
  const std::string elsewhere = "and others elsewhere: all ranks must see the same --checkpoint";
  return refusals({has, has_not}, elsewhere) == 2 && refusals({has, has}, "") == 0 ? 0 : 1;
}
