#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/loader/loader_options.hpp>

#include "loader/plan/made_fields.hpp"
#include "staging/host_rows.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_layout.hpp"
#include "transform/field_conversions.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace feedline::detail {

/// The forms that samples take in flight, and the size of a slot in each. A staging slot holds a
/// piece: whole batches, or a part of a batch that is larger than a piece should be.
///
/// Sizes can be computed for any number of batches a slot. `settle` fixes the number and makes the
/// layouts of slots.
class slot_memory {
 public:
  /// At first no reader shares a slot, and the staging ring is as deep as the options say.
  /// @param rows          The dataset's fields.
  /// @param placement     Not `automatic`.
  /// @param cached_share  Fraction of the samples whose rows are cached; exactly 1 for all.
  /// @param reads_staging, assembles The device's capabilities.
  /// @param loads_bytes   Bytes of a staging slot for blocks that the device decodes; 0: none are.
  /// @param far_bytes     Bytes that a reader should ask other machines for; 0: none are asked.
  /// @param made          Fields that the device makes from others; none unless it assembles.
  /// @throws usage_error if the transforms don't fit the fields, or if slots would have to be
  /// assembled and the device cannot.
  slot_memory(const std::vector<field>& rows, const loader_options& options,
              feedline::placement placement, double cached_share, bool reads_staging,
              std::size_t loads_bytes = 0, bool assembles = true, std::size_t far_bytes = 0,
              std::span<const made_field> made = {});

  /// Changes how many readers share a slot, and how deep the staging ring is; 0: automatic.
  void share_among(int readers, std::size_t staging_slots);
  /// Changes only the number of slots, and with it into how many requests each is cut.
  void deepen(int readers, std::size_t staging_slots);
  /// The device decodes no blocks after all.
  void drop_blocks();
  /// Fixes the batches of a slot. May be called again. @throws usage_error if a slot's bytes do not
  /// fit in 62 bits.
  void settle(std::uint64_t batches);

  /// Whether the device assembles slots. If not, what is staged has the form of batches.
  [[nodiscard]] bool assembled() const noexcept { return assembled_; }
  /// The consumer reads staging slots.
  [[nodiscard]] bool in_place() const noexcept { return in_place_; }
  [[nodiscard]] const converted_fields& conversions() const noexcept { return conversions_; }

  /// A slot in the dataset's form, without fields that the device makes; as it is assembled; and as
  /// the consumer sees it. With one batch before `settle`.
  [[nodiscard]] const slot_layout& rows() const noexcept { return rows_; }
  [[nodiscard]] const slot_layout& converted() const noexcept { return converted_; }
  [[nodiscard]] const slot_layout& delivered() const noexcept { return delivered_; }
  /// A staging slot, where it holds rows or batches. After `settle`.
  [[nodiscard]] const slot_layout& piece() const noexcept { return *piece_; }
  /// A staging slot, where slots are assembled. After `settle`.
  [[nodiscard]] const destination_layout& copy_destination() const noexcept {
    return *copy_destination_;
  }

  /// Rows that the host keeps, of a slot as the consumer sees it, and in a staging slot. Empty if
  /// there are none; the second one, after `settle`, also if the consumer reads staging slots.
  [[nodiscard]] const host_rows& host_delivered() const noexcept { return host_delivered_; }
  [[nodiscard]] const host_rows& host_staged() const noexcept { return host_staged_; }

  /// The largest of the three forms of one batch. It sizes device slots, so that neither what is
  /// read nor what is delivered takes more than a slot should.
  [[nodiscard]] std::size_t largest_batch_bytes() const noexcept;
  /// Whole batches that make a piece; 0 if one is larger, the largest number if nothing is staged.
  [[nodiscard]] std::uint64_t batches_of_piece() const noexcept;
  /// Samples that a staging slot has room for.
  [[nodiscard]] std::uint64_t piece_samples(std::uint64_t batches) const;
  /// The fewest requests of a staging slot with enough samples; 0: any number.
  [[nodiscard]] std::uint64_t min_requests() const noexcept { return min_requests_; }
  /// Bytes of a request, as files of other machines want it; 0: something else counts.
  [[nodiscard]] std::size_t far_bytes() const noexcept { return far_bytes_; }
  /// How a staging slot is divided.
  [[nodiscard]] request_layout requests(std::uint64_t batches) const;

  /// Bytes of a staging slot, of a device slot, and of all other device memory: buffers that
  /// staging slots are copied to, and a slot between assembly and the user's function.
  [[nodiscard]] std::size_t staging_bytes(std::uint64_t batches) const;
  [[nodiscard]] std::size_t device_bytes(std::uint64_t batches) const;
  [[nodiscard]] std::size_t destination_bytes(std::uint64_t batches) const;

 private:
  [[nodiscard]] std::uint64_t part_of_batch(std::uint64_t most) const;
  [[nodiscard]] std::uint64_t wanted_request_samples(std::uint64_t slot_samples) const;
  [[nodiscard]] std::size_t bytes_per_sample() const noexcept;
  [[nodiscard]] bool is_assembled() const noexcept {
    return !in_place_ && (placement_ != placement::stream || loads_bytes_ != 0 ||
                          converts_on_device_ || expert_.batch_transform);
  }
  /// Rows come in staging slots. Otherwise the device fetches them, or decodes blocks.
  [[nodiscard]] bool stages_rows() const noexcept {
    return placement_ != placement::gather && loads_bytes_ == 0;
  }
  [[nodiscard]] const slot_layout& staged_form() const noexcept {
    return assembled_ ? rows_ : delivered_;
  }
  [[nodiscard]] slot_layout piece_of(std::uint64_t batches) const;
  [[nodiscard]] host_rows host_piece_of(std::uint64_t batches) const;
  /// Bytes of a staging slot that are for the device.
  [[nodiscard]] std::size_t moved_bytes(std::uint64_t batches) const;
  [[nodiscard]] destination_layout destination_layout_of(std::uint64_t batches) const;
  [[nodiscard]] std::vector<bool> passing_fields() const;

  converted_fields conversions_;
  std::vector<kept_field> kept_;
  std::uint64_t batch_size_;
  expert_options expert_;
  std::size_t max_pinned_bytes_;  ///< 0: no limit
  feedline::placement placement_;
  double cached_share_;
  std::size_t loads_bytes_;
  std::size_t far_bytes_;
  bool converts_on_device_;  ///< where fields are converted or samples are mixed
  bool in_place_;
  bool assembled_;
  std::size_t staging_slots_ = 0;
  std::size_t piece_bytes_ = 0;
  std::uint64_t min_requests_ = 0;
  slot_layout rows_;
  slot_layout converted_;
  slot_layout delivered_;
  host_rows host_delivered_ = {};
  host_rows host_staged_ = {};
  std::optional<slot_layout> piece_ = {};
  std::optional<destination_layout> copy_destination_ = {};
};

/// Approximate size of a piece, unless the user sets it: 9.5 MiB. Copies of this size reach the
/// bus's rate within 1.5 %, and four such pieces stay in a processor's last-level cache. If some
/// rows are cached, a piece is larger, because it has room for all rows of its batches, and few
/// arrive.
[[nodiscard]] constexpr std::size_t usual_piece_bytes(placement where) noexcept {
  constexpr std::size_t mib = std::size_t{1} << 20;
  return where == placement::cached ? 31 * mib : 19 * mib / 2;
}

}  // namespace feedline::detail
