#include "formats/array_files/values.hpp"

#include "io/file_system.hpp"

namespace feedline::detail {

void sample_files::prefetch(std::span<const sample_index> samples) const noexcept {
  for (const sample_index sample : samples) {
    if (sample.value >= paths_.size()) continue;
    try {
      const std::string& path = paths_[sample.value];
      file_system_of(path)->will_need_whole(path, 0);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a hint; reading reports faults
    }
  }
}

}  // namespace feedline::detail
