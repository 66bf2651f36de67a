#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/tar.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed_blocks.hpp"
#include "detail/arithmetic.hpp"
#include "detail/log.hpp"
#include "detail/sample_range.hpp"
#include "formats/tar/shards.hpp"
#include "formats/tar/values.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace feedline::detail {
namespace {

/// Buffers of one thread.
struct tar_worker {
  std::vector<std::byte> stored;
  std::vector<std::size_t> shards;  ///< shards that the run touched
};

class tar_dataset final : public dataset {
 public:
  tar_dataset(std::shared_ptr<const tar_shards> shards, std::vector<tar_column> columns,
              std::size_t run_bytes)
      : shards_{std::move(shards)}, columns_{std::move(columns)}, run_bytes_{run_bytes} {}

  std::uint64_t size() const override { return shards_->samples(); }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const tar_column& column : columns_) fields.push_back(column.spec);
    return fields;
  }

  bool varies_by_epoch() const override {
    return std::ranges::any_of(columns_, &decoder::varies_by_epoch, &tar_column::decoder);
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<tar_column> columns;
    for (const std::size_t place : places) columns.push_back(columns_[place]);
    return std::make_shared<const tar_dataset>(shards_, std::move(columns), run_bytes_);
  }

  /// Those of each field beside the others'.
  std::shared_ptr<const encoded_blocks> encoded() const override {
    if (columns_.size() == 1)
      return make_value_blocks(make_tar_values(shards_, columns_.front()), columns_.front().decoder,
                               columns_.front().spec);
    std::vector<dataset_ptr> fields;
    for (std::size_t place = 0; place < columns_.size(); ++place)
      fields.push_back(select({&place, 1}));
    return make_joined_blocks(fields);
  }

  /// Runs of samples, for orders that stay near. Nothing is kept: any order reads each sample once.
  chunking chunks() const override {
    const std::uint64_t mean = std::max<std::uint64_t>(1, shards_->payload_bytes() / size());
    const std::uint64_t samples = std::clamp<std::uint64_t>(run_bytes_ / mean, 1, size());
    if (samples == 1) return {};
    return {.samples = samples, .bytes = 0, .kept = divide_up(size(), samples)};
  }

  bool wants_prefetch() const noexcept override { return shards_->is_cold(); }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    // The ranges of this thread's last hint, kept to avoid allocation.
    thread_local std::vector<std::pair<std::size_t, byte_range>> members;
    thread_local std::vector<byte_range> ranges;
    members.clear();
    for (const sample_index index : samples) {
      if (index.value >= size()) continue;
      const tar_sample sample = shards_->find(index);
      for (const tar_column& column : columns_) {
        const tar_place place = sample.places[column.place];
        members.push_back({sample.shard, {place.offset, place.offset + place.size}});
      }
    }
    std::ranges::sort(members, {}, [](const auto& each) { return each.first; });
    for (std::size_t i = 0; i < members.size();) {
      const std::size_t shard = members[i].first;
      ranges.clear();
      for (; i < members.size() && members[i].first == shard; ++i)
        ranges.push_back(members[i].second);
      shards_->file(shard).will_need(ranges);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
  }

 private:
  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    const auto worker = workers_.take();
    worker->shards.clear();
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const tar_sample sample = shards_->find(request.samples[i]);
      worker->shards.push_back(sample.shard);
      for (std::size_t at = 0; at < columns_.size(); ++at) {
        const std::size_t bytes = columns_[at].row_bytes;
        assert(request.out[at].size() == request.samples.size() * bytes);
        decode(sample, request.samples[i], at, *worker, request.out[at].subspan(i * bytes, bytes),
               request.context[i]);
      }
    }
    auto& touched = worker->shards;
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const std::size_t shard : touched) shards_->file(shard).require_unchanged();
  }

  void decode(const tar_sample& sample, sample_index index, std::size_t at, tar_worker& worker,
              std::span<std::byte> out, const sample_context& context) const {
    const tar_column& column = columns_[at];
    try {
      column.decoder->decode(
          shards_->stored(sample.shard, sample.places[column.place], worker.stored), column.spec,
          out, context);
    } catch (const dataset_error& fault) {
      refuse_member(fault, *shards_, sample, column, index.value);
    }
  }

  std::shared_ptr<const tar_shards> shards_;
  std::vector<tar_column> columns_;
  std::size_t run_bytes_;
  mutable scratch_pool<tar_worker> workers_{[] { return std::make_unique<tar_worker>(); }};
};

void require_usable(const std::vector<tar_field>& fields) {
  for (const tar_field& field : fields) {
    if (field.extensions.empty())
      throw usage_error{"tar: field '" + field.name +
                        "' has no extension: name one, such as \"jpg\""};
    if (field.decoder == nullptr)
      throw usage_error{"tar: field '" + field.name +
                        "' has no decoder: decode_raw(type, shape) takes bytes unchanged"};
  }
}

/// Types and shapes, as the first sample has them.
std::vector<tar_column> describe(const tar_shards& shards, const std::vector<tar_field>& fields) {
  const tar_sample first = shards.find(sample_index{0});
  std::vector<tar_column> columns;
  std::vector<field> specs;
  std::vector<std::byte> memory;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    tar_column& column = columns.emplace_back();
    column = {.spec = {fields[i].name}, .decoder = fields[i].decoder, .place = i};
    try {
      column.spec = column.decoder->describe(shards.stored(first.shard, first.places[i], memory));
    } catch (const dataset_error& fault) {
      refuse_member(fault, shards, first, column, 0);
    }
    column.spec.name = fields[i].name;
    specs.push_back(column.spec);
  }
  const auto row_bytes = checked_row_bytes("tar", specs);
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].row_bytes = row_bytes[i];
  return columns;
}

}  // namespace

dataset_ptr open_tar_fields(const std::vector<std::string>& shards,
                            const std::vector<tar_field>& fields, const tar_options& options,
                            tar_leavings* left_out) {
  if (shards.empty()) throw usage_error{"tar: there is no shard"};
  if (fields.empty()) throw usage_error{"tar: there is no field"};
  require_usable(fields);
  tar_shards index{expand_paths(shards), fields, options};
  if (index.skipped() != 0)
    log()->warn("tar: {} samples are left out because they lack a member; {} remain",
                index.skipped(), index.samples());
  if (index.dotted() != 0)
    log()->warn("tar: {} samples are left out, because they have a member of no field: {}",
                index.dotted(), first_dot_words(index.dotted_example()));
  if (left_out != nullptr) *left_out = index.left_out();
  auto columns = describe(index, fields);
  return std::make_shared<const tar_dataset>(std::make_shared<const tar_shards>(std::move(index)),
                                             std::move(columns), options.run_bytes);
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_tar(const std::vector<std::string>& shards, const std::vector<tar_field>& fields,
                     const tar_options& options) {
  return detail::open_tar_fields(shards, fields, options, nullptr);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
