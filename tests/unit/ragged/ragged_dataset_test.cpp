#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/ragged/dataset.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/hinted_dataset.hpp"
#include "support/datasets/ragged_samples.hpp"
#include "support/datasets/serialized_dataset.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;

namespace {

using lengths = std::vector<std::uint64_t>;

constexpr std::size_t pair_bytes = 8;

/// Values of another dataset, without the rows in memory that it may have.
dataset_ptr without_rows(dataset_ptr of) {
  return std::make_shared<const test::serialized_dataset>(std::move(of));
}

dataset_ptr values_of(const lengths& of) {
  return make_memory_dataset({own("pair", test::telling_values(of), {2})});
}

dataset_ptr offsets(std::vector<std::uint64_t> values) {
  return make_memory_dataset({own("offset", std::move(values))});
}

/// Elements of one sample.
std::vector<std::int32_t> read_elements(const ragged_dataset& from, std::uint64_t sample,
                                        std::uint64_t first, std::uint64_t count) {
  std::vector<std::int32_t> elements(2 * count);
  const element_run run{{sample}, first, std::as_writable_bytes(std::span{elements})};
  from.read({&run, 1});
  return elements;
}

/// All samples, backwards, each in two runs that lie `gap` bytes apart from all others.
void check_all(const ragged_dataset& from, const lengths& expected, std::size_t gap) {
  constexpr std::byte poison{0xcd};
  std::vector<std::byte> memory;
  std::vector<element_run> runs;
  std::size_t bytes = 0;
  for (const std::uint64_t length : expected) bytes += length * pair_bytes + 2 * gap;
  memory.assign(bytes, poison);
  std::span<std::byte> left{memory};
  std::vector<std::byte> wanted;
  for (std::size_t i = expected.size(); i-- != 0;) {
    const std::uint64_t half = expected[i] / 2;
    for (const auto& [first, count] :
         {std::pair{std::uint64_t{0}, half}, std::pair{half, expected[i] - half}}) {
      runs.push_back({{i}, first, left.first(count * pair_bytes)});
      left = left.subspan(count * pair_bytes + gap);
      const auto elements = test::as_byte_vector(test::telling_elements(i, first, count));
      wanted.insert(wanted.end(), elements.begin(), elements.end());
      wanted.insert(wanted.end(), gap, poison);
    }
  }
  from.read(runs);
  CHECK(memory == wanted);
}

std::string refusal(std::vector<std::uint64_t> of, std::uint64_t values = 10) {
  return test::message_of<dataset_error>([&] {
    (void)make_ragged_dataset(make_memory_dataset({own("x", std::vector<std::uint8_t>(values))}),
                              offsets(std::move(of)));
  });
}

/// A dataset that says that it is large, and holds nothing.
class claimed final : public dataset {
 public:
  explicit claimed(std::uint64_t size) : size_{size} {}
  std::uint64_t size() const override { return size_; }
  std::vector<field> fields() const override { return {{"offset", element_type::u16, {}}}; }
  void do_read(const read_request&) const override { throw dataset_error{{}, "there is nothing"}; }

 private:
  std::uint64_t size_;
};

}  // namespace

TEST_CASE("ragged dataset: it knows its samples' lengths, and reads any elements of any of them",
          "[dataset][host]") {
  const lengths of =
      GENERATE(lengths{3, 0, 5, 1, 0}, lengths{0, 0, 7}, lengths{1}, lengths{20'000, 2, 9'000});
  const bool in_memory = GENERATE(true, false);
  const auto values = in_memory ? values_of(of) : without_rows(values_of(of));
  const auto ragged = make_ragged_dataset(values, offsets(test::offsets_of(of)));
  REQUIRE(ragged->size() == of.size());
  CHECK(ragged->element() == field{"pair", element_type::i32, {2}});
  for (std::size_t i = 0; i < of.size(); ++i) CHECK(ragged->length({i}) == of[i]);
  check_all(*ragged, of, 0);
  check_all(*ragged, of, 24);
  ragged->read({});
}

TEST_CASE("ragged dataset: elements larger than a piece of rows are read one by one",
          "[dataset][host]") {
  std::vector<std::uint16_t> rows(5 * 140'000);  // 280 kB each
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint16_t>(i / 999);
  const auto ragged = make_ragged_dataset(
      without_rows(make_memory_dataset({borrow<std::uint16_t>("frame", rows, {140'000})})),
      offsets({0, 2, 5}));
  std::vector<std::uint16_t> read(2 * 140'000);
  const element_run run{{1}, 1, std::as_writable_bytes(std::span{read})};
  ragged->read({&run, 1});
  CHECK(std::equal(read.begin(), read.end(), rows.begin() + 3 * 140'000));
}

TEST_CASE("ragged dataset: offsets of any whole type serve, wherever they lie", "[dataset][host]") {
  const lengths of{3, 0, 5};
  const auto check = [&](auto offset) {
    const auto spec = own("offset", test::offsets_of<decltype(offset)>(of));
    const auto dataset = make_memory_dataset({spec});
    check_all(*make_ragged_dataset(values_of(of), dataset), of, 8);
    check_all(*make_ragged_dataset(values_of(of), without_rows(dataset)), of, 8);
  };
  check(std::uint8_t{});
  check(std::int8_t{});
  check(std::uint16_t{});
  check(std::int16_t{});
  check(std::uint32_t{});
  check(std::int32_t{});
  check(std::uint64_t{});
  check(std::int64_t{});
}

TEST_CASE("ragged dataset: 64-bit offsets at no multiple of 8 are used as well",
          "[dataset][host]") {
  const lengths of{3, 0, 5};
  const auto straight = test::as_byte_vector(test::offsets_of(of));
  std::vector<std::byte> shifted(straight.size() + 1);
  std::copy(straight.begin(), straight.end(), shifted.begin() + 1);
  const auto ragged = make_ragged_dataset(
      own("pair", test::telling_values(of), {2}),
      memory_field{{"offset", element_type::u64, {}}, std::span{shifted}.subspan(1)});
  check_all(*ragged, of, 0);
}

TEST_CASE("ragged dataset: more offsets than are read at once are all read", "[dataset][host]") {
  const lengths of = test::skewed_lengths(20'000, 4);
  const auto ragged =
      make_ragged_dataset(values_of(of), without_rows(offsets(test::offsets_of(of))));
  check_all(*ragged, of, 1);
}

TEST_CASE("ragged dataset: two NumPy files are one", "[dataset][host]") {
  const lengths of{3, 0, 5, 1};
  const test::temporary_directory directory;
  const auto values =
      directory.write("values.npy", test::npy_bytes(test::npy_dictionary("<i4", "(9, 2)"),
                                                    test::memory_of(test::telling_values(of))));
  const auto index = directory.write(
      "offsets.npy", test::npy_bytes(test::npy_dictionary("<i8", "(5,)"),
                                     test::memory_of(test::offsets_of<std::int64_t>(of))));
  const auto ragged = make_ragged_dataset(open_npy(values, "pair"), open_npy(index, "offset"));
  check_all(*ragged, of, 0);
  check_all(*ragged, of, 24);
}

TEST_CASE("ragged dataset: arrays that it borrows are read where they lie", "[dataset][host]") {
  std::vector<std::uint8_t> values{1, 2, 3};
  const std::vector<std::uint64_t> ends{0, 3};
  const auto ragged =
      make_ragged_dataset(borrow<std::uint8_t>("x", values), borrow<std::uint64_t>("offset", ends));
  values[1] = 9;
  std::byte read{};
  const element_run run{{0}, 1, {&read, 1}};
  ragged->read({&run, 1});
  CHECK(read == std::byte{9});
}

TEST_CASE("ragged dataset: no sample at all is a dataset of size 0", "[dataset][host]") {
  const auto ragged = make_ragged_dataset(values_of({}), offsets({0}));
  CHECK(ragged->size() == 0);
}

TEST_CASE("ragged dataset: elements that a sample lacks are refused, not read", "[dataset][host]") {
  const lengths of{3, 2};
  const auto ragged = make_ragged_dataset(
      GENERATE(true, false) ? values_of({3, 2}) : without_rows(values_of({3, 2})),
      offsets(test::offsets_of(of)));
  const auto message = [&](std::uint64_t sample, std::uint64_t first, std::uint64_t count) {
    return test::message_of<dataset_error>(
        [&] { (void)read_elements(*ragged, sample, first, count); });
  };
  CHECK(message(2, 0, 1) == "field 'pair', sample 2: there is no such sample: the dataset has 2");
  CHECK(message(0, 1, 3) ==
        "field 'pair', sample 0: 24 bytes from element 1 on are asked for, but it has 3 elements "
        "of 8 bytes");
  CHECK(message(1, 3, 0) ==
        "field 'pair', sample 1: 0 bytes from element 3 on are asked for, but it has 2 elements "
        "of 8 bytes");
  CHECK(message(1, UINT64_MAX, 2) != "");
  std::byte one{};
  const element_run part{{0}, 0, {&one, 1}};
  CHECK(test::message_of<dataset_error>([&] {
          ragged->read({&part, 1});
        }) ==
        "field 'pair', sample 0: 1 bytes from element 0 on are asked for, but it has 3 elements "
        "of 8 bytes");
}

TEST_CASE("ragged dataset: invalid offsets are refused, naming the first that is wrong",
          "[dataset][host]") {
  CHECK(refusal({}) ==
        "field 'offset': holds no offset; n samples take n + 1, the first of them 0");
  CHECK(refusal({1, 10}) == "field 'offset', sample 0: the first offset is 1, but must be 0");
  CHECK(refusal({0, 5, 4, 10}) ==
        "field 'offset', sample 2: the offset is 4, less than the one before, 5");
  CHECK(refusal({0, 5, 9}) ==
        "field 'offset', sample 2: the last offset is 9, but the number of values is 10; they do "
        "not belong together");
  CHECK(refusal({0, 5, UINT64_MAX}) ==
        "field 'offset', sample 2: the last offset is 18446744073709551615, but the number of "
        "values is 10; they do not belong together");
  CHECK(refusal({0, UINT64_MAX, 10}) ==
        "field 'offset', sample 2: the offset is 10, less than the one before, "
        "18446744073709551615");
  CHECK(test::message_of<dataset_error>([] {
          (void)make_ragged_dataset(own("x", std::vector<std::uint8_t>(10)),
                                    own("offset", std::vector<std::int16_t>{0, -3, 10}));
        }) == "field 'offset', sample 1: the offset is -3, but it counts values from 0");
}

TEST_CASE("ragged dataset: a claim of more offsets than memory holds is refused, not believed",
          "[dataset][host]") {
  CHECK(test::message_of<dataset_error>([] {
          (void)make_ragged_dataset(values_of({1}),
                                    std::make_shared<const claimed>(std::uint64_t{1} << 62));
        }) ==
        "field 'offset': claims 4611686018427387904 offsets, for which there is no memory, at 8 "
        "bytes each");
}

TEST_CASE("ragged dataset: datasets that make none are refused, with the reason",
          "[dataset][host]") {
  const auto one = offsets({0, 1});
  const auto two = make_memory_dataset(
      {own("a", std::vector<std::uint8_t>(2)), own("b", std::vector<std::uint8_t>(2))});
  const auto message = [](const dataset_ptr& values, const dataset_ptr& offset) {
    return test::message_of<usage_error>([&] { (void)make_ragged_dataset(values, offset); });
  };
  CHECK(message(nullptr, one) == "make_ragged_dataset: the dataset of values is null");
  CHECK(message(one, nullptr) == "make_ragged_dataset: the dataset of offsets is null");
  CHECK(message(two, one) ==
        "make_ragged_dataset: the dataset of values has 2 fields, and must have one; make a "
        "ragged dataset of each");
  CHECK(message(one, two) ==
        "make_ragged_dataset: the dataset of offsets has 2 fields, and must have one");
  CHECK(message(one, make_memory_dataset({own("offset", std::vector<float>(2))})) ==
        "make_ragged_dataset: offsets are one whole number a row, and not offset: float32[]");
  CHECK(message(one, make_memory_dataset({own("offset", std::vector<int>(4), {2})})) ==
        "make_ragged_dataset: offsets are one whole number a row, and not offset: int32[2]");
}

TEST_CASE("ragged dataset: an error of the values names the sample that they are of",
          "[dataset][host]") {
  // Value 4 is the second of sample 2.
  const auto ragged = make_ragged_dataset(test::make_damaged(values_of({3, 0, 5}), sample_index{4}),
                                          offsets({0, 3, 3, 8}));
  CHECK(read_elements(*ragged, 0, 0, 3) == test::telling_elements(0, 0, 3));
  CHECK(read_elements(*ragged, 2, 2, 3) == test::telling_elements(2, 2, 3));
  try {
    (void)read_elements(*ragged, 2, 0, 2);
    FAIL("nothing was thrown");
  } catch (const dataset_error& error) {
    CHECK(std::string{error.what()} ==
          "/data/rows: field 'row', sample 2, byte 4096: checksum mismatch (sample 4 of the "
          "dataset of values)");
  }
  // And what was not read for it does not come back in the next read.
  CHECK(read_elements(*ragged, 0, 1, 1) == test::telling_elements(0, 1, 1));
}

TEST_CASE("ragged dataset: it may be read as its values may be", "[dataset][host]") {
  CHECK(make_ragged_dataset(values_of({1}), offsets({0, 1}))->concurrency() ==
        read_concurrency::parallel);
  CHECK(make_ragged_dataset(without_rows(values_of({1})), offsets({0, 1}))->concurrency() ==
        read_concurrency::serialized);
}

TEST_CASE("ragged dataset: hints become hints about its values", "[dataset][host]") {
  const auto hinted = std::make_shared<const test::hinted_dataset>(values_of({3, 0, 70'000, 2}));
  const auto ragged = make_ragged_dataset(hinted, offsets({0, 3, 3, 70'003, 70'005}));
  CHECK(ragged->wants_prefetch());
  hinted->wanted = false;
  CHECK_FALSE(ragged->wants_prefetch());
  const std::vector<sample_index> some{{3}, {1}, {0}, {4}, {UINT64_MAX}};
  ragged->prefetch(some);
  CHECK(hinted->hints() == std::vector<std::uint64_t>{70'003, 70'004, 0, 1, 2});
  ragged->prefetch(std::vector<sample_index>{{2}});  // hints reach this far
  CHECK(hinted->hints().size() == 5 + 65'536);
  CHECK(hinted->hints().back() == 3 + 65'535);
}
