#include "support/devices/destination_builder.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace feedline::test {
namespace {

constexpr std::size_t unit = 16;
constexpr std::byte filler{0xA5};

/// Bytes that grow at the end, and words that are written later.
class writer {
 public:
  std::vector<std::byte> take() noexcept { return std::move(bytes_); }

  /// Room at the next multiple of 16 bytes; where it begins.
  std::size_t reserve(std::size_t bytes) {
    const std::size_t at = (bytes_.size() + unit - 1) / unit * unit;
    bytes_.resize(at + bytes, filler);
    return at;
  }
  void word(std::size_t at, std::uint64_t index, std::uint32_t value) {
    std::memcpy(bytes_.data() + at + index * sizeof value, &value, sizeof value);
  }
  void bytes(std::size_t at, std::span<const std::byte> from) {
    std::copy(from.begin(), from.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }

 private:
  std::vector<std::byte> bytes_;
};

/// The rows that arrive in one run, and the samples that ask for them.
struct run {
  std::vector<const sample_source*> rows;
  std::map<std::uint64_t, std::uint32_t> places;  ///< index of a row in `rows`

  std::uint32_t place_of(const sample_source& sample) {
    const auto [found, is_new] =
        places.try_emplace(sample.row, static_cast<std::uint32_t>(rows.size()));
    if (is_new) rows.push_back(&sample);
    return found->second;
  }
};

std::vector<run> write_samples(writer& out, const destination_format& format,
                               std::span<const sample_source> samples, destination_image& image) {
  image.sources_at = out.reserve(samples.size() * sizeof(std::uint32_t));
  image.random_bits_at = out.reserve(format.varies ? samples.size() * sizeof(std::uint32_t) : 0);
  std::vector<run> runs;
  for (std::uint64_t i = 0; i < samples.size(); ++i) {
    const sample_source& sample = samples[i];
    const std::uint64_t in_run =
        i / format.batch_size * format.runs_per_batch + i % format.batch_size / format.run_samples;
    if (in_run >= runs.size()) runs.resize(in_run + 1);
    out.word(image.sources_at, i,
             sample.arrives ? assembly::arrived + runs[in_run].place_of(sample)
                            : static_cast<std::uint32_t>(sample.row));
    if (format.varies) out.word(image.random_bits_at, i, sample.random_bits);
  }
  return runs;
}

/// Where in units something was put.
std::uint32_t in_units(std::size_t at) {
  return static_cast<std::uint32_t>(at / unit);
}

void write_chunk(writer& out, const destination_format& format, const run& run, std::size_t entry,
                 const arriving_rows& rows) {
  const std::size_t count = run.rows.size();
  out.word(entry, 0, static_cast<std::uint32_t>(count));
  const std::size_t keeps_at = out.reserve(format.keeps ? count * sizeof(std::uint32_t) : 0);
  out.word(entry, 1, in_units(keeps_at));
  for (std::size_t i = 0; format.keeps && i < count; ++i)
    out.word(keeps_at, i, run.rows[i]->cache_as);
  for (std::size_t field = 0; field < format.row_bytes.size(); ++field) {
    const std::size_t bytes = format.row_bytes[field];
    const std::size_t at = out.reserve(count * bytes);
    out.word(entry, 2 + field, in_units(at));
    for (std::size_t i = 0; i < count; ++i)
      out.bytes(at + i * bytes, rows(field, run.rows[i]->row));
  }
}

}  // namespace

void destination_image::describe(assembly& work, const destination_format& format) const {
  work.sources_at = sources_at;
  work.random_bits_at = random_bits_at;
  work.directory_at = directory_at;
  work.batch_size = format.batch_size;
  work.run_samples = format.run_samples;
  work.runs_per_batch = format.runs_per_batch;
  work.varies = format.varies;
  work.keeps = format.keeps;
}

destination_image build_copy_destination(const destination_format& format,
                                         std::span<const sample_source> samples,
                                         const arriving_rows& rows) {
  writer out;
  destination_image image;
  const std::vector<run> runs = write_samples(out, format, samples, image);
  const std::size_t entry_bytes = (2 + format.row_bytes.size()) * sizeof(std::uint32_t);
  image.directory_at = out.reserve(runs.size() * entry_bytes);
  for (std::size_t i = 0; i < runs.size(); ++i)
    write_chunk(out, format, runs[i], image.directory_at + i * entry_bytes, rows);
  out.reserve(0);
  image.bytes = out.take();
  return image;
}

}  // namespace feedline::test
