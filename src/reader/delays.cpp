#include "reader/delays.hpp"

#include <feedline/index.hpp>

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <exception>

namespace feedline::detail {
namespace {

/// One reader's read.
struct delayed_read : read_under_way {
  std::size_t reader;  ///< from 0
};

/// The samples of the run that a reader is reading. Asks the sampler for a few of them only,
/// because a message names few.
std::string samples_of(const delayed_read& read, const sample_source& source,
                       std::uint64_t batch_size) {
  constexpr std::uint64_t max_asked = 1024;
  const std::uint64_t batch_end = (read.first.value / batch_size + 1) * batch_size;
  const std::uint64_t count = std::min(read.end.value, batch_end) - read.first.value;
  std::vector<sample_index> samples(std::min(count, max_asked));
  try {
    source.indices(read.epoch, read.first, samples);
  } catch (const std::exception&) {
    return fmt::format("positions {} to {}", read.first.value, read.first.value + count - 1);
  }
  return names_of(samples, count - samples.size());
}

}  // namespace

delayed_reads reads_under_way(std::span<const reader_scratch> readers,
                              std::chrono::steady_clock::time_point now,
                              const sample_source& source, std::uint64_t batch_size) {
  constexpr std::size_t max_told = 4;
  std::vector<delayed_read> reads;
  for (std::size_t i = 0; i < readers.size(); ++i)
    if (const auto read = readers[i].now.look()) reads.push_back({*read, i});
  std::ranges::stable_sort(reads, {}, &delayed_read::since);
  delayed_reads found;
  for (std::size_t i = 0; i < std::min(reads.size(), max_told); ++i)
    found.words += fmt::format(
        "{}reader {} of {} reads {} (epoch {}, batch {}), in a request that it began {} ago",
        i == 0 ? "" : "; ", reads[i].reader + 1, readers.size(),
        samples_of(reads[i], source, batch_size), reads[i].epoch, reads[i].first.value / batch_size,
        in_words(now - reads[i].since));
  if (reads.size() > max_told)
    found.words += fmt::format("; and {} more read", reads.size() - max_told);
  if (reads.empty()) return found;
  try {
    sample_index first;
    source.indices(reads.front().epoch, reads.front().first, {&first, 1});
    found.sample = first.value;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then it is not known
  }
  return found;
}

std::string in_words(std::chrono::nanoseconds time) {
  const std::chrono::duration<double> seconds = time;
  if (seconds.count() >= 1) return fmt::format("{:.1f} s", seconds.count());
  return fmt::format("{} ms", std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace feedline::detail
