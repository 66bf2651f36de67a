#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/index.hpp>

#include "dataset/held_rows.hpp"
#include "dataset/read_tally.hpp"
#include "reader/read_record.hpp"
#include "reader/sample_source.hpp"
#include "staging/device_row_cache.hpp"
#include "staging/host_rows.hpp"
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

/// One reader's buffers for a run of samples, kept from run to run so that reading allocates
/// nothing. They belong to a reader of one loader, not to a thread: a dataset's `read` may use
/// another loader, which then reads its runs on the same thread in the middle of this one.
struct reader_scratch {
  sample_run request{};                   ///< the whole request, counted in the slot's samples
  sample_run drawn_run{};                 ///< the part of it whose samples were drawn
  std::vector<sample_index> drawn;        ///< the samples of that part
  std::span<const sample_index> samples;  ///< the run's samples, within those
  std::vector<sample_index> missing;      ///< those of them that must be read
  std::vector<position> missing_at;       ///< the position of each of these
  std::vector<std::uint32_t> cached_as;   ///< for each of these, the cached row that it becomes
  std::vector<std::span<std::byte>> out;  ///< where the dataset reads to
  std::vector<std::byte> rows;            ///< rows in the dataset's form, where they are converted
  std::vector<unreadable_sample> bad;     ///< unreadable samples of the run
  read_record now;                        ///< the current read, for other threads to see
  stage_clock clock;                      ///< the reader's time, for other threads too
  cpu_sampler cpu;                        ///< and how much of it is spent on a core
  read_tally tally;                       ///< counters of its reads, for other threads too
  std::atomic<std::uint64_t> cached{0};   ///< samples whose rows the device held
  std::atomic<std::uint64_t> network_wait_ns{0};  ///< time that its reads waited for other machines
};

/// Points `use.samples` at the run's samples. The samples of the request's later runs are drawn
/// with them, because drawing small batches one by one is slower. If that throws, only the run's
/// samples are drawn, so that only the batch with the offending sample fails.
/// @throws as `sample_source::indices`.
void draw_samples(const sample_source& source, const staging_slot& slot, sample_run run,
                  reader_scratch& use);

/// Counts the bytes of `use.out`, if the sizes of fields differ from batch to batch.
void count_bytes(reader_scratch& use);

/// Reads the samples that a live source has, at most `most`, to `use.out`. The slot, which has one
/// run, then has only these samples.
/// @return Number of samples.
std::uint64_t take_live(const live_source& source, staging_slot& slot, std::uint64_t most,
                        const reader_scratch& use);

/// Reads one run of samples into a staging slot, in the form that the transfer expects.
///
/// Threads: any number of readers, on different runs of a slot. An exception marks the run as
/// failed: the slot is delivered up to the batch before it. Samples that an error policy handles
/// are marked in the slot; the transfer replaces them.
class slot_writer {
 public:
  slot_writer() = default;
  slot_writer(const slot_writer&) = delete;
  slot_writer& operator=(const slot_writer&) = delete;
  virtual ~slot_writer() = default;

  /// Whether a run may span several batches; such a run throws only what the sampler throws, before
  /// anything is read.
  [[nodiscard]] virtual bool reads_across_batches() const noexcept { return false; }
  /// @param run Within one batch of the slot, unless `reads_across_batches`.
  /// @param use The calling reader's; its content is meaningless between requests.
  virtual void read(staging_slot& slot, sample_run run, reader_scratch& use) = 0;
  /// Overwrites a marked sample of a filled slot with another one. Transfer.
  /// @param place Index in the slot.
  /// @param at The sample's position in the epoch's order.
  /// @param use If this sample cannot be read either, `bad` says so. @throws as `sample_source`.
  virtual void replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
                       reader_scratch& use) = 0;
};

/// Writes samples in the layout of the consumer's batches: the staging slot is a device slot's
/// image. Fields may be converted on the reader's thread, for devices that read staging slots in
/// place, where no copy stage can do it. Rows that lie in memory and need no conversion are copied
/// directly, those of a whole request at once.
class batch_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  /// @param batches     Layout that the consumer sees.
  /// @param rows        Layout of the dataset's rows.
  /// @param conversions One a field; empty: no field is converted.
  /// @param held        The dataset's rows in memory; empty: the dataset is asked to read them.
  /// @param host        Rows that the host keeps, in a staging slot. None of them are converted.
  batch_writer(sample_source& source, slot_layout batches, const slot_layout& rows,
               const std::vector<field_conversion>& conversions, held_rows held = {},
               host_rows host = {});
  [[nodiscard]] bool reads_across_batches() const noexcept override { return !held_.empty(); }
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;
  void replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
               reader_scratch& use) override;

 private:
  [[nodiscard]] std::byte* place_of(const staging_slot& slot, std::uint64_t sample,
                                    std::size_t field) const;
  /// Reads `use.samples` into the run's rows. @param first The position of the first one.
  void read_rows(const staging_slot& slot, sample_run run, position first, reader_scratch& use);
  void copy_held(const staging_slot& slot, sample_run run, const reader_scratch& use) const;
  /// Sets `use.out`: the slot, or memory aside for fields that `convert` puts there.
  void set_destinations(const staging_slot& slot, sample_run run, reader_scratch& use) const;
  void convert(const staging_slot& slot, sample_run run, const reader_scratch& use) const;
  /// Copies the rows that are both copied to the device and kept.
  void keep(const staging_slot& slot, sample_run run) const;

  /// A field that is converted.
  struct conversion {
    std::size_t place;
    field_conversion conversion;
  };

  sample_source& source_;
  slot_layout layout_;
  row_sizes rows_;  ///< sizes of the dataset's rows
  std::vector<conversion> conversions_;
  held_rows held_;  ///< none if a field is converted
  host_rows host_;
};

/// Writes for the device where each sample's row is, and reads only the rows that the device does
/// not hold: for slots that are assembled on the device.
class packing_writer final : public slot_writer {
 public:
  /// Borrows the source for its life.
  /// @param cached Null where no rows are cached.
  /// @param host   Rows that the host keeps, in a staging slot; empty where rows are cached.
  packing_writer(sample_source& source, destination_layout layout,
                 std::shared_ptr<const device_row_cache> cached, host_rows host = {})
      : source_{source},
        layout_{std::move(layout)},
        cached_{std::move(cached)},
        host_{std::move(host)} {}
  void read(staging_slot& slot, sample_run run, reader_scratch& use) override;
  void replace(staging_slot& slot, std::uint64_t place, sample_index by, position at,
               reader_scratch& use) override;

 private:
  void find_rows(staging_slot& slot, sample_run run, reader_scratch& use);
  void read_missing(staging_slot& slot, sample_run run, reader_scratch& use);
  void mark(staging_slot& slot, sample_run run, std::size_t keep_at, reader_scratch& use);
  /// Copies the rows that the host keeps. @param first The sample with the first of `use.out`.
  void keep(const staging_slot& slot, std::uint64_t first, const reader_scratch& use) const;

  sample_source& source_;
  destination_layout layout_;
  std::shared_ptr<const device_row_cache> cached_;
  host_rows host_;
};

}  // namespace feedline::detail
