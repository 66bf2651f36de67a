// Over 250 lines: one class, with the table of members that its reads share.

#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/tar.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed_blocks.hpp"
#include "dataset/sized_fields.hpp"
#include "detail/arithmetic.hpp"
#include "detail/log.hpp"
#include "detail/sample_range.hpp"
#include "formats/tar/member_reads.hpp"
#include "formats/tar/shards.hpp"
#include "formats/tar/values.hpp"
#include "ragged/record_columns.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

/// Limit of bytes of members that are read together.
constexpr std::uint64_t max_read_bytes = std::uint64_t{32} << 20;

/// Members of one kind, and the fields that they become.
struct tar_column {
  tar_members members;
  record_columns decoded;
  std::vector<std::size_t> fields;  ///< index of each among the dataset's
};

/// Buffers of one thread.
struct tar_worker {
  /// Destination of a column.
  struct target {
    std::unique_ptr<record_row> row;
    std::vector<std::span<std::byte>> out = {};
  };
  tar_member_reads reads = {};
  std::vector<std::size_t> shards = {};  ///< shards that the run touched
  std::vector<target> targets = {};      ///< one for each column
};

class tar_dataset final : public dataset {
 public:
  tar_dataset(std::shared_ptr<const tar_shards> shards, std::vector<tar_column> columns,
              std::size_t run_bytes)
      : shards_{std::move(shards)}, columns_{std::move(columns)}, run_bytes_{run_bytes} {}

  std::uint64_t size() const override { return shards_->samples(); }

  std::vector<field> fields() const override {
    std::vector<field> fields;
    for (const tar_column& column : columns_) {
      const std::vector<field> decoded = column.decoded.fields();
      for (std::size_t i = 0; i < decoded.size(); ++i) {
        fields.resize(std::max(fields.size(), column.fields[i] + 1));
        fields[column.fields[i]] = decoded[i];
      }
    }
    return fields;
  }

  bool varies_by_epoch() const override {
    return std::ranges::any_of(columns_, &record_columns::varies_by_epoch, &tar_column::decoded);
  }

  batch_sizes_ptr sizes() const override {
    std::vector<batch_sizes_ptr> of_columns;
    for (const tar_column& column : columns_) of_columns.push_back(column.decoded.sizes());
    return common_sizes("tar", of_columns);
  }

  dataset_ptr select(std::span<const std::size_t> places) const override {
    std::vector<tar_column> columns;
    for (const tar_column& column : columns_) {
      std::vector<std::size_t> own;
      std::vector<std::size_t> fields;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const auto found = std::ranges::find(column.fields, places[i]);
        if (found == column.fields.end()) continue;
        own.push_back(static_cast<std::size_t>(found - column.fields.begin()));
        fields.push_back(i);
      }
      if (!own.empty()) columns.push_back({column.members, column.decoded.select(own), fields});
    }
    return std::make_shared<const tar_dataset>(shards_, std::move(columns), run_bytes_);
  }

  /// Those of each field beside the others'.
  std::shared_ptr<const encoded_blocks> encoded() const override {
    const std::vector<field> all = fields();
    if (columns_.size() == 1) {
      const decoder_ptr& by = columns_.front().decoded.one_field();
      if (!by) return nullptr;
      return make_value_blocks(make_tar_values(shards_, columns_.front().members), by, all.front());
    }
    std::vector<dataset_ptr> parts;
    for (std::size_t place = 0; place < all.size(); ++place) parts.push_back(select({&place, 1}));
    return make_joined_blocks(parts);
  }

  /// Runs of samples, for orders that stay near. Nothing is kept: any order reads each sample once.
  chunking chunks() const override {
    const std::uint64_t mean = std::max<std::uint64_t>(1, shards_->payload_bytes() / size());
    const std::uint64_t samples = std::clamp<std::uint64_t>(run_bytes_ / mean, 1, size());
    if (samples == 1) return {};
    return {.samples = samples, .bytes = 0, .kept = divide_up(size(), samples)};
  }

  bool wants_prefetch() const noexcept override { return shards_->is_cold(); }
  bool hints_ranges() const noexcept override { return true; }

  void prefetch(std::span<const sample_index> samples) const noexcept override try {
    // The ranges of this thread's last hint, kept to avoid allocation.
    thread_local std::vector<std::pair<std::size_t, byte_range>> members;
    thread_local std::vector<byte_range> ranges;
    members.clear();
    for (const sample_index index : samples) {
      if (index.value >= size()) continue;
      const tar_sample sample = shards_->find(index);
      for (const tar_column& column : columns_) {
        const tar_place place = sample.places[column.members.place];
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
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      worker->targets[at].out.clear();
      for (const std::size_t field : columns_[at].fields)
        worker->targets[at].out.push_back(request.out[field]);
    }
    for (std::size_t i = 0; i < request.samples.size();) {
      const std::size_t first = i;
      worker->reads.clear();
      for (std::uint64_t bytes = 0; i < request.samples.size() && bytes < max_read_bytes; ++i)
        bytes += want(request.samples[i], *worker);
      decode(request, first, worker->reads.read(*shards_), *worker);
    }
    auto& touched = worker->shards;
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const std::size_t shard : touched) shards_->file(shard).require_unchanged();
  }

  /// @return Bytes of the sample's members.
  std::uint64_t want(sample_index index, tar_worker& worker) const {
    const tar_sample sample = shards_->find(index);
    worker.shards.push_back(sample.shard);
    std::uint64_t bytes = 0;
    for (const tar_column& column : columns_) {
      const tar_place place = sample.places[column.members.place];
      worker.reads.add({.sample = index.value,
                        .members = &column.members,
                        .shard = sample.shard,
                        .place = place});
      bytes += place.size;
    }
    return bytes;
  }

  /// @param first Index in the request of the first sample. @param members A sample's are those of
  /// all columns.
  void decode(const read_request& request, std::size_t first,
              std::span<const tar_member_reads::wanted> members, tar_worker& worker) const {
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t at = i % columns_.size();
      const std::size_t place = first + i / columns_.size();
      tar_worker::target& to = worker.targets[at];
      try {
        columns_[at].decoded.decode(members[i].bytes, to.out, place, request.context[place],
                                    *to.row);
      } catch (const dataset_error& fault) {
        refuse_member(fault, *shards_, shards_->find(request.samples[place]), columns_[at].members,
                      members[i].sample);
      }
    }
  }

  [[nodiscard]] std::unique_ptr<tar_worker> make_worker() const {
    auto worker = std::make_unique<tar_worker>();
    for (const tar_column& column : columns_)
      worker->targets.push_back({column.decoded.make_row()});
    return worker;
  }

  std::shared_ptr<const tar_shards> shards_;
  std::vector<tar_column> columns_;
  std::size_t run_bytes_;
  mutable scratch_pool<tar_worker> workers_{[this] { return make_worker(); }};
};

void require_usable(const std::vector<tar_field>& fields) {
  for (const tar_field& field : fields) {
    if (field.extensions.empty())
      throw usage_error{"tar: field '" + field.name +
                        "' has no extension: name one, such as \"jpg\""};
    if (field.decoder != nullptr && field.record != nullptr)
      throw usage_error{"tar: field '" + field.name +
                        "' has a decoder of one field and one of records; give one of them"};
    if (field.decoder == nullptr && field.record == nullptr)
      throw usage_error{"tar: field '" + field.name +
                        "' has no decoder: decode_raw(type, shape) takes bytes unchanged"};
  }
}

/// Types and shapes, as the first sample has them.
std::vector<tar_column> describe(const std::shared_ptr<const tar_shards>& shards,
                                 const std::vector<tar_field>& fields) {
  std::vector<tar_column> columns;
  std::vector<field> specs;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const tar_members members{fields[i].name, i};
    const coded_values_ptr values = make_tar_values(shards, members);
    const auto decoded = [&]() -> record_columns {
      if (fields[i].record)
        return {"tar", fields[i].record, describe_first(*values, *fields[i].record),
                fields[i].decoding, *values};
      field spec = describe_first(*values, *fields[i].decoder);
      spec.name = fields[i].name;
      return {fields[i].decoder, std::move(spec)};
    };
    tar_column& column = columns.emplace_back(tar_column{members, decoded(), {}});
    for (const field& each : column.decoded.fields()) {
      column.fields.push_back(specs.size());
      specs.push_back(each);
    }
  }
  (void)checked_row_bytes("tar", specs);
  return columns;
}

}  // namespace

dataset_ptr open_tar_fields(const std::vector<std::string>& shards,
                            const std::vector<tar_field>& fields, const tar_options& options,
                            tar_leavings* left_out, const walked_shard* first) {
  if (shards.empty()) throw usage_error{"tar: there is no shard"};
  if (fields.empty()) throw usage_error{"tar: there is no field"};
  require_usable(fields);
  tar_shards index{expand_paths(shards), fields, options, first};
  if (index.skipped() != 0)
    log()->warn("tar: {} samples are left out because they lack a member; {} remain",
                index.skipped(), index.samples());
  if (index.dotted() != 0)
    log()->warn("tar: {} samples are left out, because they have no member for any field: {}",
                index.dotted(), first_dot_words(index.dotted_example()));
  if (left_out != nullptr) *left_out = index.left_out();
  const auto all = std::make_shared<const tar_shards>(std::move(index));
  return std::make_shared<const tar_dataset>(all, describe(all, fields), options.run_bytes);
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
