#include <feedline/hdf5/dataset.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/arithmetic.hpp"
#include "detail/log.hpp"
#include "detail/sample_range.hpp"
#include "hdf5/library/file.hpp"
#include "hdf5/library/session.hpp"
#include "hdf5/rows/open_rows.hpp"
#include "hdf5/rows/plain_rows.hpp"
#include "rows/row_storage.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <string>
#include <utility>

namespace feedline {
namespace {

/// A field of a dataset, and what is to be known of it once its rows have been opened.
struct source {
  field spec;
  std::size_t row_bytes = 0;
  std::string name;              ///< of the dataset within the file
  std::string library;           ///< why the library reads it; empty if it does not
  detail::random_file_ptr file;  ///< where feedline reads it itself
  std::shared_ptr<const detail::hdf5_rows> rows;
};

class hdf5_dataset final : public dataset {
 public:
  hdf5_dataset(std::vector<source> sources, std::uint64_t samples)
      : sources_{std::move(sources)}, samples_{samples} {
    for (const auto& source : sources_)
      if (source.file && std::ranges::count(files_, source.file) == 0)
        files_.push_back(source.file);
  }

  std::uint64_t size() const override { return samples_; }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const auto& source : sources_) fields.push_back(source.spec);
    return fields;
  }

  void read(std::span<const sample_index> samples,
            std::span<const std::span<std::byte>> out) const override {
    detail::require_in_range(samples, samples_);
    for (std::size_t i = 0; i < sources_.size(); ++i)
      sources_[i].rows->read(samples, out[i].data());
    for (const auto& file : files_) file->require_unchanged();
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<source> sources;
    for (const std::size_t place : places) sources.push_back(sources_[place]);
    return std::make_shared<const hdf5_dataset>(std::move(sources), samples_);
  }

  std::vector<std::span<const std::byte>> rows() const override {
    std::vector<std::span<const std::byte>> rows;
    for (const auto& source : sources_) {
      rows.push_back(source.rows->in_memory());
      if (rows.back().empty()) return {};
    }
    return rows;
  }

  /// Of the field whose chunks are the most work.
  chunking chunks() const override {
    chunking most;
    std::size_t max_bytes = 0;
    for (const auto& source : sources_)
      if (const chunking chunks = source.rows->chunks();
          chunks.samples > 1 && source.row_bytes > max_bytes) {
        most = chunks;
        max_bytes = source.row_bytes;
      }
    return most;
  }

  bool wants_prefetch() const noexcept override {
    return std::any_of(files_.begin(), files_.end(),
                       [](const auto& file) { return file->is_cold(); });
  }

  void prefetch(std::span<const sample_index> samples) const noexcept override {
    for (const auto& source : sources_) source.rows->prefetch(samples);
  }

 private:
  std::vector<source> sources_;
  std::uint64_t samples_;
  std::vector<detail::random_file_ptr> files_ = {};  ///< each once
};

/// Finds all fields, under the lock; nothing of the library's is left open but what it will read.
std::vector<detail::hdf5_resolved_field> find_fields(const std::filesystem::path& file,
                                                     const std::vector<hdf5_field>& fields) {
  const detail::hdf5_session hdf5;
  const detail::hdf5_file opened{hdf5, file};
  detail::hdf5_open_context common;
  std::vector<detail::hdf5_resolved_field> found;
  for (const auto& chosen : fields) {
    found.push_back(detail::find_field(hdf5, opened, common, chosen));
    if (found.back().samples != found.front().samples)
      throw opened.error(chosen.dataset,
                         "holds " + std::to_string(found.back().samples) + " samples (" +
                             to_string(found.back().spec) + "), but '" + fields.front().dataset +
                             "' holds " + std::to_string(found.front().samples) +
                             "; the first dimensions of a dataset's fields are equal");
  }
  std::vector<field> specs;
  for (const auto& each : found) specs.push_back(each.spec);
  (void)detail::checked_row_bytes("open_hdf5", specs);
  return found;
}

/// Opens each field's rows; those that are cached share what may be cached by their sizes.
std::vector<source> open_sources(std::vector<detail::hdf5_resolved_field> found,
                                 std::size_t cache_bytes) {
  double cached_row_bytes = 0;
  for (const auto& each : found)
    if (each.block_bytes() != 0) cached_row_bytes += static_cast<double>(each.row_bytes);
  std::vector<source> sources;
  for (auto& each : found) {
    const double share =
        each.block_bytes() == 0 ? 0 : static_cast<double>(each.row_bytes) / cached_row_bytes;
    const auto bytes = static_cast<std::size_t>(static_cast<double>(cache_bytes) * share);
    sources.push_back({.spec = each.spec,
                       .row_bytes = each.row_bytes,
                       .name = each.name,
                       .library = each.storage.refusal,
                       .file = each.file,
                       .rows = detail::open_rows(each, bytes)});
  }
  return sources;
}

/// Reads a field whole. One that has an unreadable sample stays as it is: only that sample is lost,
/// when it is asked for.
void make_resident(source& source, std::uint64_t samples) {
  constexpr std::size_t run_bytes = std::size_t{1} << 20;
  detail::row_storage rows{samples * source.row_bytes};
  const std::uint64_t most = std::max<std::uint64_t>(run_bytes / source.row_bytes, 1);
  std::vector<sample_index> run;
  try {
    for (std::uint64_t first = 0; first < samples; first += run.size()) {
      run.resize(std::min(most, samples - first));
      for (std::size_t i = 0; i < run.size(); ++i) run[i].value = first + i;
      source.rows->read(run, rows.bytes().data() + first * source.row_bytes);
    }
  } catch (const dataset_error&) {
    return;
  }
  source.rows = std::make_shared<detail::hdf5_memory_rows>(std::move(rows), source.row_bytes);
  source.library.clear();
}

void make_small_ones_resident(std::vector<source>& sources, std::uint64_t samples,
                              std::size_t limit_bytes) {
  std::vector<std::size_t> by_size(sources.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
    return sources[a].row_bytes < sources[b].row_bytes;
  });
  for (const std::size_t i : by_size) {
    const auto bytes = detail::checked_multiply<std::size_t>(samples, sources[i].row_bytes);
    if (!bytes || *bytes > limit_bytes) return;
    limit_bytes -= *bytes;
    make_resident(sources[i], samples);
  }
}

}  // namespace

dataset_ptr open_hdf5(const std::string& file, std::vector<hdf5_field> fields,
                      const hdf5_options& options) {
  auto found = find_fields(file, fields);
  const std::uint64_t samples = found.front().samples;
  auto sources = open_sources(std::move(found), detail::cache_bytes_of(options));
  make_small_ones_resident(sources, samples, options.max_resident_bytes);
  for (const auto& source : sources)
    if (!source.library.empty())
      detail::log()->warn(
          "{}: field '{}' is read through the HDF5 library, one thread at a time: {}", file,
          source.name, source.library);
  for (const auto& source : sources)
    if (source.file) source.file->require_unchanged();
  return std::make_shared<const hdf5_dataset>(std::move(sources), samples);
}

}  // namespace feedline
