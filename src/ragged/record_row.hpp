#pragma once

#include <feedline/dataset/read_context.hpp>
#include <feedline/dataset/record_decoder.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

using described_fields = std::shared_ptr<const std::vector<described_field>>;

/// The destination of one record. One thread, record after record.
class record_row final : public record_output {
 public:
  /// Destination of a field.
  struct room {
    bool is_wanted = false;
    /// Ragged: a sample that is longer than `limit` is cut there, or an error.
    bool truncates = false;
    std::uint64_t limit = 0;
    std::size_t element_bytes = 0;  ///< in a fixed field, size of the value
    /// Less than the elements that count if only their number is wanted.
    std::span<std::byte> memory = {};
    bool is_given = false;    ///< the record has the field
    std::uint64_t count = 0;  ///< number of elements that count; at most `limit`
  };

  /// No field is wanted yet.
  explicit record_row(described_fields fields);

  std::vector<room> rooms;

  /// Wants a ragged field without a limit: as much as its memory takes.
  void want_all(std::size_t field) noexcept {
    rooms[field].is_wanted = rooms[field].truncates = true;
    rooms[field].limit = std::numeric_limits<std::uint64_t>::max();
  }

  /// Decodes a record.
  /// @throws dataset_error also if it lacks a wanted field.
  void decode(const record_decoder& by, std::span<const std::byte> stored,
              const sample_context& context);

  std::span<const described_field> fields() const noexcept override { return *fields_; }
  bool wants(std::size_t field) const noexcept override {
    return field < rooms.size() && rooms[field].is_wanted;
  }
  std::span<std::byte> fixed(std::size_t field) override;
  std::span<std::byte> ragged(std::size_t field, std::uint64_t count) override;

 private:
  room& wanted(std::size_t field, bool is_ragged);

  described_fields fields_;
};

}  // namespace feedline::detail
