#include "image/damage_count.hpp"

#include "detail/log.hpp"

namespace feedline::detail {

bool is_power_of_ten(std::uint64_t count) {
  while (count >= 10 && count % 10 == 0) count /= 10;
  return count == 1;
}

void count_damaged(const image_options& options, std::string_view words) {
  const std::uint64_t count = options.damaged_images->fetch_add(1) + 1;
  if (is_power_of_ten(count))
    log()->warn("damaged JPEGs taken as libjpeg repairs them: {}; the last: {}", count, words);
}

}  // namespace feedline::detail
