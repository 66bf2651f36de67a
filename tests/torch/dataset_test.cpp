#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "torch/support.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
namespace data = torch::data;

namespace {

/// Sample i: a matrix of i + 0 … i + 5, and the number i.
class counting : public data::datasets::Dataset<counting> {
 public:
  explicit counting(std::size_t size) : size_{size} {}
  data::Example<> get(std::size_t index) override {
    if (index == torn) throw std::runtime_error{"a page is torn"};
    const auto from = static_cast<double>(index);
    auto matrix = torch::arange(from, from + 6, torch::kFloat32).view({3, 2}).t();
    if (index == odd) matrix = matrix.t();
    return {matrix, torch::tensor(static_cast<std::int64_t>(index))};
  }
  [[nodiscard]] std::optional<std::size_t> size() const override { return size_; }

  std::size_t torn = SIZE_MAX;
  std::size_t odd = SIZE_MAX;

 private:
  std::size_t size_;
};

std::vector<std::byte> bytes_of(const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.contiguous();
  std::vector<std::byte> bytes(dense.nbytes());
  std::memcpy(bytes.data(), dense.const_data_ptr(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("torch: libtorch's loader reads a feedline dataset, batch by batch", "[dataset][host]") {
  constexpr std::size_t row_bytes = 33;
  auto loader = data::make_data_loader(
      libtorch::batch_dataset{make_identity_dataset(100, row_bytes)},
      data::samplers::RandomSampler(100), data::DataLoaderOptions(8).workers(3));
  std::vector<std::uint64_t> times(100, 0);
  for (const std::vector<torch::Tensor>& batch : *loader) {
    REQUIRE(batch.size() == 2);
    REQUIRE(batch[0].scalar_type() == torch::kUInt64);
    REQUIRE(batch[1].sizes() == c10::IntArrayRef({batch[0].size(0), row_bytes}));
    const auto* const rows = static_cast<const std::byte*>(batch[1].const_data_ptr());
    const auto* const ids = batch[0].const_data_ptr<std::uint64_t>();
    for (std::int64_t i = 0; i < batch[0].size(0); ++i) {
      ++times.at(ids[i]);
      CHECK(is_identity(ids[i], std::as_bytes(std::span{ids + i, 1}),
                        {rows + i * static_cast<std::int64_t>(row_bytes), row_bytes}));
    }
  }
  CHECK(times == std::vector<std::uint64_t>(100, 1));
}

TEST_CASE("torch: a dataset of feedline's refuses indices it does not have", "[dataset][host]") {
  libtorch::batch_dataset ten{make_identity_dataset(10, 4)};
  CHECK(ten.size() == 10);
  CHECK(ten.get_batch({}).at(1).sizes() == c10::IntArrayRef({0, 4}));
  const std::vector<std::size_t> wrong{3, 10};
  CHECK(message_of<usage_error>([&] { (void)ten.get_batch(wrong); }) ==
        "there is no sample 10: the dataset has 10");
  CHECK_THROWS_AS(libtorch::batch_dataset{nullptr}, usage_error);
}

TEST_CASE("torch: the rows of tensors are a dataset without a copy", "[dataset][host]") {
  auto images = torch::arange(4 * 3 * 2, torch::kInt32).view({4, 3, 2});
  const void* const memory = images.const_data_ptr();
  const auto of = make_memory_dataset(
      {libtorch::own("image", images), libtorch::own("label", torch::arange(4))});
  const auto expected = [kept = images.clone()](sample_index sample, std::size_t place) {
    const auto row = static_cast<std::int64_t>(sample.value);
    return bytes_of(place == 0 ? kept[row] : torch::tensor(row));
  };
  CHECK(of->rows()[0].data() == memory);
  images.reset();
  check_dataset_contract(
      of, 4, {{"image", element_type::i32, {3, 2}}, {"label", element_type::i64, {}}}, expected);
}

TEST_CASE("torch: a tensor whose rows do not lie dense is copied", "[dataset][host]") {
  const auto wide = torch::arange(12, torch::kFloat32).view({3, 4}).requires_grad_();
  const auto of = make_memory_dataset({libtorch::own("row", wide.t())});
  check_dataset_contract(of, 4, {{"row", element_type::f32, {3}}},
                         [&](sample_index sample, std::size_t /*index*/) {
                           return bytes_of(wide.t()[static_cast<std::int64_t>(sample.value)]);
                         });
  CHECK_THROWS_AS(libtorch::own("scalar", torch::tensor(1.0)), usage_error);
  CHECK_THROWS_AS(libtorch::own("waves", torch::zeros({2, 2}, c10::ScalarType::ComplexFloat)),
                  usage_error);
}

TEST_CASE("torch: a dataset of libtorch's is one of feedline's", "[dataset][host]") {
  const auto concurrency =
      GENERATE(as<read_concurrency>{}, read_concurrency::serialized, read_concurrency::parallel);
  const auto of = libtorch::adopt(counting{50}, {"image", "label"}, concurrency);
  CHECK(of->concurrency() == concurrency);
  check_dataset_contract(
      of, 50, {{"image", element_type::f32, {2, 3}}, {"label", element_type::i64, {}}},
      [reference = counting{50}](sample_index sample, std::size_t place) mutable {
        const data::Example<> one = reference.get(sample.value);
        return bytes_of(place == 0 ? one.data : one.target);
      });
}

TEST_CASE("torch: a dataset of single tensors is one of feedline's", "[dataset][host]") {
  const auto of =
      libtorch::adopt(data::datasets::TensorDataset{torch::arange(20).view({10, 2})}, {"pair"});
  check_dataset_contract(of, 10, {{"pair", element_type::i64, {2}}},
                         [](sample_index sample, std::size_t /*index*/) {
                           const auto first = static_cast<std::int64_t>(2 * sample.value);
                           return bytes_of(torch::tensor({first, first + 1}));
                         });
}

TEST_CASE("torch: a dataset of libtorch's that does not fit is refused, with the sample",
          "[dataset][host]") {
  CHECK_THROWS_AS(libtorch::adopt(counting{0}), usage_error);
  CHECK(message_of<usage_error>([] { (void)libtorch::adopt(counting{3}, {"image"}); }) ==
        "a sample of libtorch's dataset has 2 tensors: name each, not 1");

  counting faulty{10};
  faulty.odd = 7;
  faulty.torn = 8;
  const auto of = libtorch::adopt(faulty);
  CHECK(read_sample(*of, sample_index{6}).size() == 2);
  CHECK(message_of<dataset_error>([&] { (void)read_sample(*of, sample_index{7}); }) ==
        "field 'data', sample 7: the sample has data: float32[3, 2], and sample 0 has data: "
        "float32[2, 3]");
  CHECK(message_of<std::runtime_error>([&] { (void)read_sample(*of, sample_index{8}); }) ==
        "a page is torn");
}
