#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;

namespace {

/// Identity data cut into parts, so that the joined parts spell their indices again.
std::vector<dataset_ptr> cut(std::uint64_t samples, const std::vector<std::uint64_t>& sizes) {
  const auto whole = test::make_identity_dataset(samples, 29);
  std::vector<dataset_ptr> parts;
  std::uint64_t first = 0;
  for (const auto size : sizes) {
    parts.push_back(subset(whole, sample_index{first}, size));
    first += size;
  }
  return parts;
}

}  // namespace

TEST_CASE("concatenate: joined parts keep the dataset contract, empty parts among them",
          "[dataset][host]") {
  const auto sizes = GENERATE(std::vector<std::uint64_t>{100}, std::vector<std::uint64_t>{50, 50},
                              std::vector<std::uint64_t>{1, 98, 1},
                              std::vector<std::uint64_t>{0, 40, 0, 0, 60, 0});
  const auto whole = test::make_identity_dataset(100, 29);
  test::check_dataset_contract(concatenate(cut(100, sizes)), 100, whole->fields(),
                               [whole](sample_index sample, std::size_t place) {
                                 return test::read_sample(*whole, sample)[place];
                               });
}

TEST_CASE("concatenate: samples that follow one another in a part are one read of that part",
          "[dataset][host]") {
  class counting final : public dataset {
   public:
    explicit counting(std::vector<std::size_t>& runs) : runs_{&runs} {}
    std::uint64_t size() const override { return 10; }
    std::vector<field> fields() const override { return {{"x", element_type::u8, {}}}; }
    void do_read(const read_request& request) const override {
      runs_->push_back(request.samples.size());
    }

   private:
    std::vector<std::size_t>* runs_;
  };
  std::vector<std::size_t> first;
  std::vector<std::size_t> second;
  const auto both = concatenate(
      {std::make_shared<const counting>(first), std::make_shared<const counting>(second)});
  (void)test::read_samples(*both, {{0}, {9}, {3}, {10}, {19}, {4}});
  CHECK(first == std::vector<std::size_t>{3, 1});
  CHECK(second == std::vector<std::size_t>{2});
}

TEST_CASE("concatenate: a part that takes turns makes the whole take turns", "[dataset][host]") {
  auto parts = cut(10, {5, 5});
  CHECK(concatenate(parts)->concurrency() == read_concurrency::parallel);
  parts[1] = std::make_shared<const test::serialized_dataset>(parts[1]);
  CHECK(concatenate(parts)->concurrency() == read_concurrency::serialized);
}

TEST_CASE("concatenate: parts of no samples make a dataset of size 0", "[dataset][host]") {
  const auto parts = cut(10, {0, 0});
  test::check_dataset_contract(concatenate(parts), 0, parts[0]->fields(), {});
}

TEST_CASE("concatenate: parts that do not fit together are refused, naming the first difference",
          "[dataset][host]") {
  const auto image = [](const char* name, std::uint64_t width) {
    return own(name, std::vector<std::uint8_t>(12), {width});
  };
  const auto label = [] { return own("label", std::vector<std::uint8_t>(3)); };
  const auto first = make_memory_dataset({image("image", 4), label()});
  const auto refusal = [&](dataset_ptr other) {
    return test::message_of<usage_error>([&] { (void)concatenate({first, std::move(other)}); });
  };
  SECTION("a shape") {
    CHECK(refusal(make_memory_dataset({image("image", 6)})) ==
          "concatenate: part 1 has field image: uint8[6] where part 0 has image: uint8[4]");
  }
  SECTION("a name") {
    CHECK(refusal(make_memory_dataset({image("picture", 4), label()})) ==
          "concatenate: part 1 has field picture: uint8[4] where part 0 has image: uint8[4]");
  }
  SECTION("the order") {
    CHECK(refusal(make_memory_dataset({label(), image("image", 4)})) ==
          "concatenate: part 1 has field label: uint8[] where part 0 has image: uint8[4]");
  }
  SECTION("the number of fields") {
    CHECK(refusal(make_memory_dataset({image("image", 4)})) ==
          "concatenate: part 1 has 1 fields, part 0 has 2");
  }
  SECTION("no dataset") {
    CHECK(refusal(nullptr) == "concatenate: part 1 is null");
    CHECK_THROWS_AS(concatenate({}), usage_error);
  }
  SECTION("more samples than can be counted") {
    const auto huge = test::make_identity_dataset(UINT64_MAX, 1);
    CHECK_THROWS_AS(concatenate({huge, huge}), usage_error);
  }
}

TEST_CASE("concatenate: names of classes count for parts that have none, and others are refused",
          "[dataset][host]") {
  const auto labels = [](std::vector<std::string> names) {
    field label{"label", element_type::u8, {}};
    if (!names.empty()) label.classes = class_names{std::move(names)};
    return map(make_memory_dataset({own("x", std::vector<std::uint8_t>{0, 1})}), {label},
               [](sample_index, auto in, std::span<const std::span<std::byte>> out) {
                 out[0][0] = in[0][0];
               });
  };
  for (const bool is_first : {true, false}) {
    const auto plain = labels({});
    const auto named = labels({"cat", "dog"});
    const auto joined =
        concatenate(is_first ? std::vector{named, plain, named} : std::vector{plain, named, plain});
    CHECK(joined->fields().front().classes == class_names{{"cat", "dog"}});
    CHECK(joined->select(std::vector<std::size_t>{0})->fields() == joined->fields());
    const auto other_type = make_memory_dataset({own("label", std::vector<float>{0, 1})});
    const std::string refusal = test::message_of<usage_error>([&] {
      (void)concatenate({named, other_type});
    });
    CHECK(refusal.find("part 1 has field label: float32[] where part 0 has") != std::string::npos);
    CHECK(refusal.find("names of classes") == std::string::npos);
    CHECK(test::message_of<usage_error>([&] {
            (void)concatenate({plain, named, labels({"dog", "cat"})});
          }).find("where a part before it has label: uint8[] of 2 classes (cat, dog;") !=
          std::string::npos);
  }
}

TEST_CASE("concatenate: a sample beyond the last is refused", "[dataset][host]") {
  const auto both = concatenate(cut(10, {5, 5}));
  CHECK(test::message_of<dataset_error>([&] {
          (void)test::read_samples(*both, {{1}, {10}});
        }) == "sample 10: there is no such sample: the dataset has 10");
}

TEST_CASE("concatenate: an error names the composed dataset's sample, and tells the part's",
          "[dataset][host]") {
  auto parts = cut(10, {4, 6});
  parts[1] = test::make_damaged(parts[1], sample_index{2});
  const auto both = concatenate(parts);
  try {
    (void)test::read_samples(*both, {{0}, {5}, {6}});
    FAIL("nothing was thrown");
  } catch (const dataset_error& error) {
    CHECK(error.sample() == 6);
    CHECK(
        std::string{error.what()} ==
        "/data/rows: field 'row', sample 6, byte 4096: checksum mismatch (sample 2 of part 1 of a "
        "concatenation)");
  }
  CHECK(test::read_samples(*both, {{0}, {5}}).size() == 2);  // no more than that sample is lost
}

TEST_CASE("concatenate: an error of a part that names no sample is reported without one",
          "[dataset][host]") {
  auto parts = cut(10, {4, 6});
  parts[0] = std::make_shared<const test::failing_dataset<dataset_error>>(
      parts[0], sample_index{1}, dataset_error{{.path = "a.bin", .field = {}}, "gone"});
  const auto both = concatenate(parts);
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*both, {1}); }) ==
        "a.bin: gone (part 0 of a concatenation)");
}

TEST_CASE("concatenate: an error that is no dataset_error comes through as it is",
          "[dataset][host]") {
  auto parts = cut(10, {4, 6});
  parts[0] = std::make_shared<const test::failing_dataset<std::runtime_error>>(
      parts[0], sample_index{1}, std::runtime_error{"no more"});
  const auto both = concatenate(parts);
  CHECK(test::message_of<std::runtime_error>([&] { (void)test::read_sample(*both, {1}); }) ==
        "no more");
}
