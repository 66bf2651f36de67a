#pragma once

#include <feedline/device/assembly.hpp>
#include <feedline/index.hpp>

#include "dataset/held_rows.hpp"
#include "dataset/read_tally.hpp"
#include "reader/read_record.hpp"
#include "reader/sample_source.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_slot.hpp"
#include "statistics/cpu_sampler.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// What one reader needs for a run of samples; kept from run to run so that reading allocates
/// nothing. It belongs to a reader of one loader, not to a thread: a dataset's `read` may use
/// another loader, whose runs are then read on the same thread in the midst of one.
struct reader_scratch {
  sample_run request{};                   ///< all that the reader is at, of the slot's samples
  sample_run drawn_run{};                 ///< of that, what was drawn
  std::vector<sample_index> drawn;        ///< the samples of that
  std::span<const sample_index> samples;  ///< of the run; within those
  std::vector<sample_index> missing;      ///< those of them that must be read
  std::vector<position> missing_at;       ///< and where each of these stands
  std::vector<std::uint32_t> cached_as;   ///< for each of these, the cached row that it becomes
  std::vector<std::span<std::byte>> out;  ///< where the dataset reads to
  std::vector<std::byte> rows;            ///< as the dataset has them, where they are converted
  std::vector<unreadable_sample> bad;     ///< of the run
  read_record now;                        ///< what it is reading, for other threads to see
  stage_clock clock;                      ///< where the reader's time goes, likewise
  cpu_sampler cpu;                        ///< and of that on a core
  read_tally tally;                       ///< what its reads came across, likewise
  std::atomic<std::uint64_t> cached{0};   ///< samples whose rows the device held
};

/// Points `use.samples` at the run's samples. Those of the request's later runs are drawn with
/// them: small batches one by one would take longer. If that throws, the run's alone are drawn, so
/// that only the batch fails whose sample it is.
/// @throws as `sample_source::indices`.
void draw_samples(const sample_source& source, const staging_slot& slot, sample_run run,
                  reader_scratch& use);

/// Reads one run of samples into a staging slot, in the form in which the slot travels on.
///
/// Threads: any number of readers, on different runs of a slot. What it throws marks the run as
/// failed: the slot is delivered up to the batch before it. Samples that an error policy is to
/// handle are marked in the slot; the transfer replaces them.
class slot_writer {
 public:
  slot_writer() = default;
  slot_writer(const slot_writer&) = delete;
  slot_writer& operator=(const slot_writer&) = delete;
  virtual ~slot_writer() = default;

  /// Whether a run may be of several batches; such a run throws only what the sampler does, before
  /// anything is read.
  [[nodiscard]] virtual bool reads_across_batches() const noexcept { return false; }
  /// @param run Within one batch of the slot, unless `reads_across_batches`.
  /// @param use The calling reader's; what it holds means nothing between requests.
  virtual void read(staging_slot& slot, sample_run run, reader_scratch& use) = 0;
  /// Writes a sample over one that is marked in a filled slot. Transfer.
  /// @param place In the slot.
  /// @param at Where the sample stands in the epoch's order.
  /// @param use If the sample cannot be read either, `bad` says so. @throws as `sample_source`.
  virtual void replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
                       reader_scratch& use) = 0;
};

/// Lays samples down as the batches that the consumer will see: the staging slot is a device slot's
/// image. Fields may be converted on the way, on the reader's thread: for devices that read staging
/// slots in place, where there is no copy side to do it. Rows that lie in memory and stay as they
/// are it copies by itself, those of a whole request at once.
class batch_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  /// @param batches     As the consumer sees them.
  /// @param rows        As the dataset has them.
  /// @param conversions One a field; empty: all fields stay as they are.
  /// @param held        The dataset's; empty: it is asked to read them.
  batch_writer(sample_source& source, slot_layout batches, const slot_layout& rows,
               const std::vector<field_conversion>& conversions, held_rows held = {});
  [[nodiscard]] bool reads_across_batches() const noexcept override { return !held_.empty(); }
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;
  void replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
               reader_scratch& use) override;

 private:
  /// Of the run, which is `use.samples`.
  void read_rows(const staging_slot& slot, sample_run run, position first, reader_scratch& use);
  void copy_held(const staging_slot& slot, sample_run run, const reader_scratch& use) const;

  /// A field that does not stay as it is.
  struct conversion {
    std::size_t place;
    std::size_t row_bytes;  ///< of the dataset's rows
    field_conversion conversion;
  };

  sample_source& source_;
  slot_layout layout_;
  std::vector<conversion> conversions_;
  std::size_t converted_bytes_ = 0;  ///< of a sample's rows, as the dataset has them
  held_rows held_;                   ///< none where a field is converted
};

/// Writes down for the device where each sample's row is, and reads only the rows that it does not
/// hold: for slots that are assembled on the device.
class packing_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  /// @param cached Null where no rows are cached.
  packing_writer(sample_source& source, landing_layout layout,
                 std::shared_ptr<const device_row_cache> cached)
      : source_{source}, layout_{std::move(layout)}, cached_{std::move(cached)} {}
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;
  void replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
               reader_scratch& use) override;

 private:
  void find_rows(staging_slot& slot, sample_run run, reader_scratch& use);
  void read_missing(staging_slot& slot, sample_run run, reader_scratch& use);
  void mark(staging_slot& slot, sample_run run, std::size_t keep_at, reader_scratch& use);

  sample_source& source_;
  landing_layout layout_;
  std::shared_ptr<const device_row_cache> cached_;
};

}  // namespace feedline::detail
