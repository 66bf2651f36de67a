#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/composed_blocks.hpp"
#include "detail/sample_range.hpp"
#include "ragged/offsets.hpp"
#include "ragged/part_values.hpp"
#include "ragged/record_columns.hpp"
#include "ragged/record_reads.hpp"
#include "rows/scratch_pool.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Memory of one thread.
struct record_worker {
  std::vector<std::byte> stored = {};
  std::vector<std::byte> elements = {};
  std::unique_ptr<record_row> row;
};

std::unique_ptr<record_worker> make_worker(std::unique_ptr<record_row> row) {
  auto worker = std::make_unique<record_worker>();
  worker->row = std::move(row);
  return worker;
}

class decoded_dataset final : public dataset {
 public:
  /// @param shared Reads records for several such datasets; null: this one alone reads them.
  decoded_dataset(coded_values_ptr of, record_columns columns, record_reads_ptr shared = nullptr)
      : of_{std::move(of)}, columns_{std::move(columns)}, shared_{std::move(shared)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return columns_.fields(); }
  bool varies_by_epoch() const override { return columns_.varies_by_epoch(); }
  batch_sizes_ptr sizes() const override {
    batch_sizes_ptr of_values = of_->sizes();
    return of_values ? of_values : columns_.sizes();
  }
  chunking chunks() const override { return of_->chunks(); }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }
  dataset_ptr select(std::span<const std::size_t> places) const override {
    return make_decoded_dataset(of_, columns_.select(places));
  }

  std::shared_ptr<const encoded_blocks> encoded() const override {
    std::call_once(blocks_made_, [this] { blocks_ = make_blocks(); });
    return blocks_;
  }

 private:
  /// Those of coded values; beside them the other fields as rows.
  [[nodiscard]] std::shared_ptr<const encoded_blocks> make_blocks() const {
    const std::vector<field> fields = columns_.fields();
    if (columns_.one_field()) return make_value_blocks(of_, columns_.one_field(), fields.front());
    bool is_coded = false;
    for (std::size_t i = 0; i < fields.size(); ++i)
      is_coded |= columns_.coded_column(i).has_value();
    if (!is_coded) return nullptr;
    if (fields.size() == 1) {
      const std::size_t column = *columns_.coded_column(0);
      const auto records = shared_ ? shared_ : std::make_shared<record_reads>(of_, 1);
      return make_value_blocks(
          make_part_values(records, columns_.decodes_by(), column, fields.front().name),
          columns_.decodes_by()->coded_by(column), fields.front());
    }
    const auto shared = std::make_shared<record_reads>(of_, fields.size());
    std::vector<dataset_ptr> parts;
    for (std::size_t i = 0; i < fields.size(); ++i)
      parts.push_back(
          std::make_shared<const decoded_dataset>(of_, columns_.select({&i, 1}), shared));
    return make_joined_blocks(parts);
  }

  void do_read(const read_request& request) const override {
    require_in_range(request.samples, size());
    const auto worker = workers_.take();
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::uint64_t sample = request.samples[i].value;
      if (shared_) {
        const auto read = shared_->read(sample);
        decode(read.record(), request, i, *worker);
      } else {
        const auto stored =
            of_->read(sample, [&](std::size_t bytes) { return room_in(worker->stored, bytes); });
        decode(stored, request, i, *worker);
      }
    }
  }

  void decode(std::span<const std::byte> record, const read_request& request, std::size_t i,
              record_worker& worker) const {
    try {
      columns_.decode(record, request.out, i, request.context[i], *worker.row);
    } catch (const dataset_error& fault) {
      of_->refuse(fault, request.samples[i].value);
    }
  }

  coded_values_ptr of_;
  record_columns columns_;
  record_reads_ptr shared_;
  mutable scratch_pool<record_worker> workers_{[this] { return make_worker(columns_.make_row()); }};
  mutable std::once_flag blocks_made_;
  mutable std::shared_ptr<const encoded_blocks> blocks_;
};

class ragged_field final : public ragged_dataset {
 public:
  ragged_field(coded_values_ptr of, record_decoder_ptr by, described_fields all, std::size_t place)
      : of_{std::move(of)},
        by_{std::move(by)},
        all_{std::move(all)},
        place_{place},
        element_bytes_{sample_bytes((*all_)[place].spec)},
        lengths_(of_->size()) {
    count_elements(*of_, *by_, all_, {&place_, 1},
                   [&](std::uint64_t first, std::span<const std::uint64_t> counts) {
                     std::ranges::copy(counts,
                                       lengths_.begin() + static_cast<std::ptrdiff_t>(first));
                   });
  }

  std::uint64_t size() const override { return lengths_.size(); }
  field element() const override { return (*all_)[place_].spec; }
  std::uint64_t length(sample_index sample) const override { return lengths_[sample.value]; }
  bool wants_prefetch() const noexcept override { return of_->wants_prefetch(); }
  bool hints_ranges() const noexcept override { return of_->hints_ranges(); }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    of_->prefetch(samples);
  }
  unsigned reads_in_processes() const override { return of_->reads_in_processes(); }

 private:
  void do_read(std::span<const element_run> runs) const override {
    for (const element_run& run : runs)
      require_elements(*this, run, element_bytes_, (*all_)[place_].spec.name);
    const auto worker = workers_.take();
    for (const element_run& run : runs)
      if (!run.out.empty()) read_run(run, *worker);
  }

  void read_run(const element_run& run, record_worker& worker) const {
    const auto stored = of_->read(run.sample.value,
                                  [&](std::size_t bytes) { return room_in(worker.stored, bytes); });
    record_row::room& room = worker.row->rooms[place_];
    const std::size_t before = run.first * element_bytes_;
    room.memory = before == 0 ? run.out : room_in(worker.elements, before + run.out.size());
    try {
      worker.row->decode(*by_, stored, read_context{{&run.sample, 1}}[0]);
      if (room.count != length(run.sample))
        throw dataset_error{{.path = {}, .field = (*all_)[place_].spec.name},
                            "has " + std::to_string(room.count) + " elements, but had " +
                                std::to_string(length(run.sample)) +
                                " when the dataset was made; the records have changed"};
    } catch (const dataset_error& fault) {
      of_->refuse(fault, run.sample.value);
    }
    if (before != 0) std::ranges::copy(room.memory.subspan(before), run.out.begin());
  }

  [[nodiscard]] std::unique_ptr<record_row> make_row() const {
    auto row = std::make_unique<record_row>(all_);
    row->want_all(place_);
    return row;
  }

  coded_values_ptr of_;
  record_decoder_ptr by_;
  described_fields all_;
  std::size_t place_;
  std::size_t element_bytes_;
  std::vector<std::uint64_t> lengths_;
  mutable scratch_pool<record_worker> workers_{[this] { return make_worker(make_row()); }};
};

}  // namespace

dataset_ptr make_decoded_dataset(coded_values_ptr of, record_columns columns) {
  return std::make_shared<const decoded_dataset>(std::move(of), std::move(columns));
}

dataset_ptr make_record_dataset(std::string_view who, coded_values_ptr of, record_decoder_ptr by,
                                const decode_options& options) {
  auto all = describe_first(*of, *by);
  record_columns columns{who, std::move(by), std::move(all), options, *of};
  return make_decoded_dataset(std::move(of), std::move(columns));
}

ragged_dataset_ptr make_ragged_field(coded_values_ptr of, record_decoder_ptr by,
                                     const std::string& name) {
  auto all = std::make_shared<const std::vector<described_field>>(describe_first(*of, *by));
  const std::vector<field> specs = checked_specs("decode_ragged", *all);
  const std::size_t place = places_of("decode_ragged", specs, {name}).front();
  if (!(*all)[place].is_ragged)
    throw usage_error{"decode_ragged: the values of field '" + name +
                      "' are all of one size; decode() makes a dataset of them"};
  if (by->varies_by_epoch())
    throw usage_error{
        "decode_ragged: the decoder varies by epoch, but elements are not read for an epoch; use "
        "decode() with pad_options::length"};
  return std::make_shared<const ragged_field>(std::move(of), std::move(by), std::move(all), place);
}

}  // namespace feedline::detail
