#include <feedline/error.hpp>
#include <feedline/loader/loader_options.hpp>

#include <string>

namespace feedline {
namespace {

constexpr int max_readers = 1024;
constexpr std::size_t max_slots = 4096;

void check_slots(const char* name, std::size_t slots) {
  if (slots == 0 || (slots >= 2 && slots <= max_slots)) return;
  throw usage_error{"loader_options::" + std::string{name} + " is " + std::to_string(slots) +
                    ": say 2 to " + std::to_string(max_slots) + ", or 0 for automatic"};
}

}  // namespace

loader_options validated(const loader_options& options) {
  if (options.batch_size == 0)
    throw usage_error{"loader_options::batch_size is 0: a batch holds at least 1 sample"};
  if (options.readers < automatic_readers || options.readers > max_readers) {
    throw usage_error{"loader_options::readers is " + std::to_string(options.readers) +
                      ": say 0 to " + std::to_string(max_readers) + ", or automatic_readers"};
  }
  if (options.batch_transform && !options.batch_transform->run)
    throw usage_error{
        "loader_options::batch_transform has no run: give it one, or leave function out"};
  check_slots("staging_slots", options.staging_slots);
  check_slots("device_slots", options.device_slots);
  return options;
}

}  // namespace feedline
