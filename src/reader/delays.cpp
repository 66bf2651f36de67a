#include "reader/delays.hpp"

#include <feedline/index.hpp>

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <exception>

namespace feedline::detail {
namespace {

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

std::string read_in_words(const delayed_read& read, std::chrono::steady_clock::time_point now,
                          const sample_source& source, std::uint64_t batch_size) {
  return fmt::format(
      "reader {} of {} reads {} (epoch {}, batch {}), in a request that it began {} "
      "ago",
      read.reader + 1, read.readers, samples_of(read, source, batch_size), read.epoch,
      read.first.value / batch_size, in_words(now - read.since));
}

}  // namespace

std::vector<delayed_read> reads_under_way(std::span<const reader_scratch> readers) {
  std::vector<delayed_read> reads;
  for (std::size_t i = 0; i < readers.size(); ++i)
    if (const auto read = readers[i].now.look()) reads.push_back({*read, i, readers.size()});
  std::ranges::stable_sort(reads, {}, &delayed_read::since);
  return reads;
}

std::optional<std::uint64_t> first_sample(const delayed_read& read, const sample_source& source) {
  try {
    sample_index first;
    source.indices(read.epoch, read.first, {&first, 1});
    return first.value;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string in_words(std::span<const delayed_read> reads, std::chrono::steady_clock::time_point now,
                     const sample_source& source, std::uint64_t batch_size) {
  constexpr std::size_t max_told = 4;
  std::string text;
  for (const delayed_read& read : reads.first(std::min(reads.size(), max_told)))
    text += (text.empty() ? "" : "; ") + read_in_words(read, now, source, batch_size);
  if (reads.size() > max_told) text += fmt::format("; and {} more read", reads.size() - max_told);
  return text;
}

std::string in_words(std::chrono::nanoseconds time) {
  const std::chrono::duration<double> seconds = time;
  if (seconds.count() >= 1) return fmt::format("{:.1f} s", seconds.count());
  return fmt::format("{} ms", std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace feedline::detail
