#include "ragged/coded_values.hpp"

#include <feedline/error.hpp>

#include "ragged/record_columns.hpp"
#include "ragged/record_reads.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/encoded_check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

using byte_vector = std::vector<std::byte>;

const field folded{"sum", element_type::u8, {4}};

/// Every fourth byte together, for each of four. An empty value is refused; devices take those that
/// begin with an even byte.
class folding_decoder final : public decoder {
 public:
  field describe(std::span<const std::byte>) const override {
    return {{}, folded.type, folded.shape};
  }
  void decode(std::span<const std::byte> stored, const field&, std::span<std::byte> out,
              const sample_context&) const override {
    if (stored.empty()) throw dataset_error{{}, "is empty"};
    std::ranges::fill(out, std::byte{0});
    for (std::size_t i = 0; i < stored.size(); ++i) out[i % 4] ^= stored[i];
  }
  std::span<const block_step> steps() const noexcept override { return steps_; }
  std::optional<encoded_blocks::stored_block> for_device(std::span<const std::byte> stored,
                                                         const sample_context&) const override {
    if (stored.empty() || std::to_integer<int>(stored.front()) % 2 == 1) return std::nullopt;
    return encoded_blocks::stored_block{.bytes = stored.size(), .height = 7};
  }

 private:
  std::array<block_step, 2> steps_{};
};

/// Values in memory, whose announced sizes may be wrong.
class values_in_memory final : public coded_values {
 public:
  explicit values_in_memory(std::vector<byte_vector> all) : values{std::move(all)} {
    for (const byte_vector& value : values) told.push_back(value.size());
  }

  std::uint64_t size() const override { return values.size(); }
  std::uint64_t stored_bytes(std::uint64_t sample) const override { return told[sample]; }
  std::span<const std::byte> read(std::uint64_t sample, const room& memory) const override {
    ++reads;
    const auto out = memory(values[sample].size());
    std::ranges::copy(values[sample], out.begin());
    return out;
  }
  [[noreturn]] void refuse(const dataset_error& fault, std::uint64_t sample) const override {
    throw dataset_error{{.path = "here", .field = "sum", .sample = sample}, fault.message()};
  }
  bool wants_prefetch() const noexcept override { return true; }
  void prefetch(std::span<const sample_index> samples) const noexcept override {
    hinted += samples.size();
  }

  std::vector<byte_vector> values;
  std::vector<std::uint64_t> told;
  mutable std::size_t hinted = 0;
  mutable std::size_t reads = 0;
};

byte_vector value_of(std::size_t bytes, int first) {
  byte_vector value(bytes);
  for (std::size_t i = 0; i < bytes; ++i) value[i] = static_cast<std::byte>(i * i + i / 250);
  if (bytes != 0) value.front() = static_cast<std::byte>(first);
  return value;
}

constexpr std::size_t limit = std::size_t{8} << 20;

std::shared_ptr<values_in_memory> various_values() {
  return std::make_shared<values_in_memory>(
      std::vector<byte_vector>{value_of(2, 2), value_of(3, 3), value_of(100, 4), value_of(1001, 5),
                               value_of(limit, 6), value_of(limit + 1, 8), value_of(1, 1)});
}

std::shared_ptr<const encoded_blocks> blocks_of(coded_values_ptr of) {
  return make_value_blocks(std::move(of), std::make_shared<const folding_decoder>(), folded);
}

encoded_blocks::stored_block given(const encoded_blocks& blocks, std::uint64_t block) {
  byte_vector out(blocks.stored(0, block).bytes);
  return blocks.read(0, block, out, {});
}

}  // namespace

TEST_CASE("value blocks: values that devices take come as stored, others as rows",
          "[dataset][host]") {
  const auto values = various_values();
  const auto data =
      make_decoded_dataset(values, {std::make_shared<const folding_decoder>(), folded});
  test::check_encoded(*data);
  const auto blocks = data->encoded();
  CHECK(blocks == data->encoded());
  CHECK(blocks->rows() == 1);
  CHECK(blocks->steps(0).size() == 2);
  CHECK(blocks->max_stored_bytes(0) == limit);
  const std::vector<std::uint32_t> skipped{0, 3, 0, 3, 0, 3, 3};
  for (std::size_t i = 0; i < skipped.size(); ++i) {
    CAPTURE(i);
    CHECK(given(*blocks, i).skipped == skipped[i]);
    CHECK(given(*blocks, i).height == (skipped[i] == 0 ? 7 : 0));
    if (skipped[i] == 0) CHECK(test::stored_bytes(*blocks, 0, i) == values->values[i]);
  }
}

TEST_CASE("value blocks: there is room for a row where all values take less", "[dataset][host]") {
  const auto blocks = blocks_of(std::make_shared<const values_in_memory>(
      std::vector<byte_vector>{value_of(1, 1), value_of(2, 2)}));
  CHECK(blocks->max_stored_bytes(0) == 4);
  CHECK(blocks->stored(0, 1).bytes == 4);
  CHECK(given(*blocks, 0).bytes == 4);
  CHECK(given(*blocks, 1).bytes == 2);
}

TEST_CASE("value blocks: a value larger than announced is decoded where it is read",
          "[dataset][host]") {
  const auto values = various_values();
  values->told[2] = 99;
  values->told[4] = 0;
  const auto blocks = blocks_of(values);
  CHECK(given(*blocks, 2).skipped == 3);
  CHECK(given(*blocks, 4).skipped == 3);
  values->values[3] = value_of(5, 2);
  CHECK(given(*blocks, 3).bytes == 5);
}

TEST_CASE("value blocks: a decoder's refusal is reported with the value's index",
          "[dataset][host]") {
  const auto values =
      std::make_shared<const values_in_memory>(std::vector<byte_vector>{value_of(3, 1), {}});
  const auto data =
      make_decoded_dataset(values, {std::make_shared<const folding_decoder>(), folded});
  const std::string told = "here: field 'sum', sample 1: is empty";
  CHECK(test::message_of<dataset_error>([&] { (void)given(*data->encoded(), 1); }) == told);
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*data, {1}); }) == told);
  byte_vector row(4);
  CHECK(test::message_of<dataset_error>([&] {
          data->encoded()->decode(0, std::span{row}.first(3), {.bytes = 3, .skipped = 3}, row);
        }) == "field 'sum': a block of rows has 3 bytes, but should have 4");
}

TEST_CASE("value blocks: there are none of a decoder that no device replaces", "[dataset][host]") {
  const auto values = various_values();
  CHECK(make_value_blocks(values, decode_raw(element_type::u8), folded) == nullptr);
  CHECK_FALSE(decode_decimal()->for_device(value_of(1, 2), {}));
}

TEST_CASE("decoded values: hints go to where the values are", "[dataset][host]") {
  const auto values = various_values();
  const auto data =
      make_decoded_dataset(values, {std::make_shared<const folding_decoder>(), folded});
  CHECK(data->wants_prefetch());
  data->prefetch(std::vector<sample_index>(3));
  CHECK(values->hinted == 3);
}

namespace {

/// A record's number and a value that devices decode, which is the rest of the record.
class number_and_value final : public record_decoder {
 public:
  std::vector<described_field> describe(std::span<const std::byte>) const override {
    return {{folded}, {{"number", element_type::u8, {}}}};
  }
  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context& context) const override {
    if (out.wants(0)) by_->decode(stored.subspan(1), folded, out.fixed(0), context);
    if (out.wants(1)) out.fixed(1)[0] = stored[0];
  }
  decoder_ptr coded_by(std::size_t field) const override { return field == 0 ? by_ : nullptr; }
  std::span<const std::byte> coded_value(std::span<const std::byte> stored,
                                         std::size_t) const override {
    return stored.subspan(1);
  }

 private:
  decoder_ptr by_ = std::make_shared<const folding_decoder>();
};

}  // namespace

TEST_CASE("record blocks: a record is read once for all of its fields", "[dataset][host]") {
  std::vector<byte_vector> all;
  for (int i = 0; i < 6; ++i)
    all.push_back({std::byte(i), std::byte(2 * i), std::byte{9}, std::byte{5}});
  const auto values = std::make_shared<values_in_memory>(all);
  const auto data =
      make_record_dataset("test", values, std::make_shared<const number_and_value>(), {});
  test::check_encoded(*data);
  const auto blocks = data->encoded();
  REQUIRE(blocks != nullptr);
  values->reads = 0;
  const auto read = [&](std::size_t field, std::uint64_t block) {
    byte_vector out(blocks->stored(field, block).bytes);
    out.resize(blocks->read(field, block, out, {}).bytes);
    return out;
  };
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    CHECK(read(0, i) == byte_vector(all[i].begin() + 1, all[i].end()));
    CHECK(read(1, i) == byte_vector{all[i][0]});
    CHECK(values->reads == i + 1);
  }
  // A field that is read again, and fields that are read by themselves, are read from the record.
  (void)read(0, 5);
  (void)read(0, 5);
  CHECK(values->reads == 7);
  for (std::uint64_t i = 0; i < all.size(); ++i) CHECK(read(1, i) == byte_vector{all[i][0]});
}

TEST_CASE("record reads: records whose other fields are never read give way", "[dataset][host]") {
  std::vector<byte_vector> all;
  for (int i = 0; i < 100; ++i) all.push_back({std::byte(i)});
  const auto values = std::make_shared<values_in_memory>(all);
  record_reads records{values, 3};
  for (std::uint64_t i = 0; i < all.size(); ++i) CHECK(records.read(i).record()[0] == std::byte(i));
  for (int again = 0; again < 2; ++again) CHECK(records.read(99).record()[0] == std::byte{99});
  CHECK(values->reads == 100);
  CHECK(records.read(99).record()[0] == std::byte{99});
  CHECK(values->reads == 101);
  // Two at once do not share memory.
  const auto one = records.read(1);
  const auto other = records.read(2);
  CHECK(one.record()[0] == std::byte{1});
  CHECK(other.record()[0] == std::byte{2});
}
