#pragma once

#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/packing/pack_together.hpp>
#include <feedline/sampler/shuffle.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// A ragged dataset whose element i of sample s is s × 1000 + i + `plus`.
class numbered_elements final : public ragged_dataset {
 public:
  using lengths = std::vector<std::uint32_t>;

  /// @param bad A sample that cannot be read. @param times How often the lengths come.
  numbered_elements(std::string name, lengths of, std::int64_t plus = 0,
                    std::optional<std::uint64_t> bad = {}, std::uint64_t times = 1)
      : name_{std::move(name)}, lengths_{std::move(of)}, plus_{plus}, bad_{bad}, times_{times} {}
  std::uint64_t size() const override { return times_ * lengths_.size(); }
  field element() const override { return {name_, element_type::i64, {}}; }
  std::uint64_t length(sample_index sample) const override {
    return lengths_[sample.value % lengths_.size()];
  }

 private:
  void do_read(std::span<const element_run> runs) const override {
    for (const element_run& run : runs) {
      if (bad_ == run.sample.value)
        throw dataset_error{{.path = {}, .field = name_, .sample = *bad_}, "cannot be read"};
      for (std::size_t i = 0; i < run.out.size() / 8; ++i) {
        const auto value =
            static_cast<std::int64_t>(run.sample.value * 1000 + run.first + i) + plus_;
        std::memcpy(run.out.data() + i * 8, &value, 8);
      }
    }
  }

  std::string name_;
  lengths lengths_;
  std::int64_t plus_;
  std::optional<std::uint64_t> bad_;
  std::uint64_t times_;
};

/// Short and long samples, and empty ones, also several in a row.
inline numbered_elements::lengths mixed_lengths(std::uint64_t count) {
  numbered_elements::lengths made;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t draw = i * 2'654'435'761U % 97;
    made.push_back(static_cast<std::uint32_t>(draw < 20   ? 0
                                              : draw > 93 ? 3 * draw
                                                          : draw % 13 + 1));
  }
  return made;
}

/// Packed rows of two fields, "token" and "label", with all that a device can make.
inline std::shared_ptr<const packed_dataset> packed_rows(std::uint64_t capacity,
                                                         packed_mask mask = packed_mask::followed,
                                                         std::uint64_t samples = 700,
                                                         std::optional<std::uint64_t> bad = {}) {
  const auto field = [&](const char* name, std::int64_t plus) {
    return std::make_shared<const numbered_elements>(name, mixed_lengths(samples), plus, bad);
  };
  return pack_together({field("token", 0), field("label", 7)},
                       {.capacity = {capacity},
                        .seed = 3,
                        .value = {std::int64_t{-1}, std::int64_t{-2}},
                        .longer = pack_longer::split,
                        .positions = true,
                        .documents = true,
                        .mask = mask});
}

/// The bytes of a batch's fields, one after the other, and what it says about itself.
struct packed_batch {
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::vector<sample_index> rows = {};
  std::vector<std::vector<std::byte>> fields = {};

  friend bool operator==(const packed_batch&, const packed_batch&) = default;
};

/// Copies a field's values to the host, in the order of a stream, and waits for them.
using field_reader = std::function<std::vector<std::byte>(const tensor_view& of)>;

/// All batches of some epochs.
inline std::vector<packed_batch> packed_batches(loader& from, std::uint64_t epochs,
                                                stream_ref stream, const field_reader& read) {
  std::vector<packed_batch> all;
  const std::vector<field> fields = from.plan().fields;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (const batch& each : from.epoch(epoch, stream)) {
      const auto samples = each.samples();
      all.push_back({each.epoch(), each.index(), {samples.begin(), samples.end()}, {}});
      for (const field& of : fields) all.back().fields.push_back(read(each[of.name]));
    }
  return all;
}

}  // namespace feedline::test
