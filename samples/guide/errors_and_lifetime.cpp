// The code that docs/guide/errors-and-lifetime.md shows.

// [errors]
#include <feedline/feedline.hpp>

#include <cstdint>
#include <iostream>

bool run_epoch(feedline::loader& loader, std::uint64_t epoch) {
  try {
    for (feedline::batch& batch : loader.epoch(epoch)) std::cout << batch.index() << '\n';
  } catch (const feedline::stage_error& error) {
    std::cerr << error.what() << '\n';
    if (error.where().sample) std::cerr << "sample " << *error.where().sample << '\n';
    return false;
  }
  return true;
}
// [/errors]

void without_handler() {
  // [no_handler]
  feedline::map_files(false);  // no handler of SIGBUS is installed
  // [/no_handler]
}
