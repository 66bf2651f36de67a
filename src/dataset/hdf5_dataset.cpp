#include "dataset/hdf5_dataset.hpp"

#include "dataset/field_list.hpp"
#include "dataset/gather_rows.hpp"
#include "dataset/hdf5_column.hpp"
#include "dataset/hdf5_file.hpp"
#include "dataset/hdf5_session.hpp"
#include "dataset/sample_range.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace feedline {
namespace {

constexpr std::size_t default_resident_limit_bytes = 64 << 20;

/// A field's rows: all of them in memory, or else where the library reads them.
struct source {
  field spec;
  std::size_t row_bytes = 0;
  std::vector<std::byte> rows = {};
  std::optional<detail::hdf5_column> column = std::nullopt;
};

class hdf5_dataset final : public dataset {
 public:
  hdf5_dataset(std::vector<source> sources, std::uint64_t samples)
      : sources_{std::move(sources)}, samples_{samples} {}

  ~hdf5_dataset() override {
    const detail::hdf5_session hdf5;
    for (auto& source : sources_) source.column.reset();
  }

  std::uint64_t size() const override { return samples_; }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const auto& source : sources_) fields.push_back(source.spec);
    return fields;
  }

  /// Takes the lock for the fields that need the library alone, and for all of them at once, so
  /// that threads hand it over once a run.
  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    detail::require_in_range(samples, samples_);
    std::optional<detail::hdf5_session> hdf5;
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (sources_[i].column) {
        if (!hdf5) hdf5.emplace();
        sources_[i].column->read(*hdf5, samples, out[i].data());
      }
    hdf5.reset();
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (!sources_[i].column)
        detail::gather_rows(sources_[i].rows.data(), sources_[i].row_bytes, samples, out[i].data());
  }

 private:
  std::vector<source> sources_;
  std::uint64_t samples_;
};

/// Reads a field whole and lets its column go. A field that has an unreadable sample stays with the
/// library: only that sample is lost, when it is asked for.
void make_resident(const detail::hdf5_session& hdf5, source& source) {
  std::vector<std::byte> rows(source.column->samples() * source.row_bytes);
  try {
    source.column->read_run(hdf5, 0, source.column->samples(), rows.data());
  } catch (const hdf5_error&) {
    return;
  }
  source.rows = std::move(rows);
  source.column.reset();
}

void make_small_ones_resident(const detail::hdf5_session& hdf5, std::vector<source>& sources,
                              std::uint64_t samples, std::size_t limit_bytes) {
  std::vector<std::size_t> by_size(sources.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::stable_sort(by_size, {}, [&](std::size_t i) { return sources[i].row_bytes; });
  for (const std::size_t i : by_size) {
    const auto bytes = detail::checked_multiply<std::size_t>(samples, sources[i].row_bytes);
    if (!bytes || *bytes > limit_bytes) return;
    limit_bytes -= *bytes;
    make_resident(hdf5, sources[i]);
  }
}

}  // namespace

dataset_ptr detail::open_hdf5(const std::filesystem::path& file, std::vector<hdf5_field> fields,
                              std::size_t resident_limit_bytes) {
  const hdf5_session hdf5;
  const hdf5_file opened{hdf5, file};
  std::vector<source> sources;
  std::vector<field> specs;
  for (const auto& chosen : fields) {
    hdf5_column column{hdf5, opened, chosen};
    column.require_readable(hdf5, opened);
    if (!sources.empty() && column.samples() != sources.front().column->samples())
      throw opened.error(chosen.dataset,
                         "holds " + std::to_string(column.samples()) + " samples (" +
                             to_string(column.spec()) + "), but '" + fields.front().dataset +
                             "' holds " + std::to_string(sources.front().column->samples()) +
                             "; the first dimensions of a dataset's fields are equal");
    specs.push_back(column.spec());
    sources.push_back({.spec = column.spec(), .column = std::move(column)});
  }
  const auto row_bytes = checked_row_bytes("open_hdf5", specs);
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i].row_bytes = row_bytes[i];
  const std::uint64_t samples = sources.front().column->samples();
  make_small_ones_resident(hdf5, sources, samples, resident_limit_bytes);
  return std::make_shared<const hdf5_dataset>(std::move(sources), samples);
}

dataset_ptr open_hdf5(const std::filesystem::path& file, std::vector<hdf5_field> fields) {
  return detail::open_hdf5(file, std::move(fields), default_resident_limit_bytes);
}

std::vector<hdf5_listing> list_fields(const std::filesystem::path& file) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file opened{hdf5, file};
  std::vector<hdf5_listing> listings;
  for (auto& path : opened.dataset_paths(hdf5)) {
    try {
      const detail::hdf5_column column{hdf5, opened, {path}};
      listings.push_back({path, column.samples(), column.spec()});
    } catch (const hdf5_error&) {
      // No rows of numbers: it is not listed.
    }
  }
  return listings;
}

}  // namespace feedline
