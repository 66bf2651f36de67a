#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/interop/dlpack_dataset.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "interop/dlpack_abi.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using feedline::test::message_of;

namespace abi = feedline::detail::dlpack;

namespace {

/// A tensor as another library makes it, of 16-bit numbers, and how often its deleter was called.
struct foreign {
  std::vector<std::int64_t> shape{10, 2, 3};
  std::optional<std::vector<std::int64_t>> strides = std::nullopt;
  abi::data_type type{abi::signed_int, 16, 1};
  abi::device device{abi::cpu, 0};
  std::uint64_t offset_bytes = 0;
  abi::version version{1, 3};
  std::vector<std::int16_t> values = numbered();
  int deleted = 0;

  static std::vector<std::int16_t> numbered() {
    std::vector<std::int16_t> values(200);
    std::iota(values.begin(), values.end(), std::int16_t{100});
    return values;
  }
  abi::tensor tensor() {
    return {.data = values.data(),
            .device = device,
            .ndim = static_cast<std::int32_t>(shape.size()),
            .dtype = type,
            .shape = shape.data(),
            .strides = strides ? strides->data() : nullptr,
            .byte_offset = offset_bytes};
  }
  dlpack_tensor versioned() {
    auto* const made = new abi::versioned_tensor{version, this,
                                                 [](abi::versioned_tensor* self) {
                                                   ++static_cast<foreign*>(self->manager)->deleted;
                                                   delete self;
                                                 },
                                                 abi::read_only, tensor()};
    return dlpack_tensor{reinterpret_cast<DLManagedTensorVersioned*>(made)};
  }
  unversioned_dlpack_tensor unversioned() {
    auto* const made = new abi::managed_tensor{tensor(), this, [](abi::managed_tensor* self) {
                                                 ++static_cast<foreign*>(self->manager)->deleted;
                                                 delete self;
                                               }};
    return unversioned_dlpack_tensor{reinterpret_cast<DLManagedTensor*>(made)};
  }
};

template <class... Tensors>
dataset_ptr open_tensors(Tensors... tensors) {
  std::vector<dlpack_field> fields;
  const std::array<std::string, 3> names{"x", "y", "z"};
  (fields.push_back({names.at(fields.size()), std::move(tensors)}), ...);
  return make_dlpack_dataset(std::move(fields));
}

/// Reason why a tensor is refused; its deleter is still called.
std::string refusal(foreign from) {
  const std::string why = message_of<usage_error>([&] { (void)open_tensors(from.versioned()); });
  CHECK(from.deleted == 1);
  const std::string begins = "DLPack dataset: the tensor of field 'x' ";
  CHECK(why.starts_with(begins));
  return why.substr(std::min(begins.size(), why.size()));
}

}  // namespace

TEST_CASE("dlpack dataset: it keeps the dataset contract, in place, of dense tensors and of slices",
          "[interop][host]") {
  const bool dense = GENERATE(true, false);
  foreign x;
  if (!dense) x.strides = {{12, 3, 1}};  // every other sample of twenty
  x.offset_bytes = 4;
  foreign label{.shape = {10}, .strides = {{1}}, .type = {abi::unsigned_int, 16, 1}};
  const auto data = open_tensors(x.versioned(), label.unversioned());
  test::check_dataset_contract(
      data, 10, {{"x", element_type::i16, {2, 3}}, {"y", element_type::u16, {}}},
      [&](sample_index sample, std::size_t place) {
        const auto all = std::as_bytes(std::span{place == 0 ? x.values : label.values});
        const auto row = place == 0 ? all.subspan(4 + sample.value * (dense ? 12 : 24), 12)
                                    : all.subspan(sample.value * 2, 2);
        return std::vector(row.begin(), row.end());
      });
  if (dense) {
    CHECK(data->rows().at(0).data() == reinterpret_cast<const std::byte*>(x.values.data()) + 4);
  } else {
    CHECK(data->rows().empty());
  }
}

TEST_CASE("dlpack dataset: it holds its tensors until it goes, and frees each once",
          "[interop][host]") {
  foreign x;
  foreign y;
  {
    loader loader{open_tensors(x.versioned(), y.unversioned()),
                  sequential{},
                  make_host_device(),
                  {.batch_size = 4}};
    auto range = loader.epoch(0);
    std::int16_t next = 100;
    while (const auto batch = range.next()) {
      const tensor_view seen = (*batch)["x"];
      for (const std::int16_t value : seen.values<std::int16_t>()) CHECK(value == next++);
    }
    CHECK(next == 160);
    CHECK(x.deleted == 0);
    CHECK(y.deleted == 0);
  }
  CHECK(x.deleted == 1);
  CHECK(y.deleted == 1);
}

TEST_CASE("dlpack dataset: each type of element that feedline has is taken for itself",
          "[interop][host]") {
  using enum element_type;
  const std::vector<std::pair<abi::data_type, element_type>> types{
      {{abi::signed_int, 8, 1}, i8},     {{abi::signed_int, 16, 1}, i16},
      {{abi::signed_int, 32, 1}, i32},   {{abi::signed_int, 64, 1}, i64},
      {{abi::unsigned_int, 8, 1}, u8},   {{abi::unsigned_int, 16, 1}, u16},
      {{abi::unsigned_int, 32, 1}, u32}, {{abi::unsigned_int, 64, 1}, u64},
      {{abi::floating, 16, 1}, f16},     {{abi::floating, 32, 1}, f32},
      {{abi::floating, 64, 1}, f64},     {{abi::bfloat, 16, 1}, bf16},
      {{abi::boolean, 8, 1}, boolean}};
  for (const auto& [type, expected] : types) {
    foreign x{.shape = {5, 2}, .type = type};
    const auto data = open_tensors(x.versioned());
    CHECK(data->fields() == std::vector<field>{{"x", expected, {2}}});

    // And back out of a batch.
    loader loader{data, sequential{}, make_host_device(), {.batch_size = 5}};
    auto range = loader.epoch(0);
    auto taken = range.next();
    REQUIRE(taken);
    const auto out = to_dlpack(std::make_shared<const batch>(std::move(*taken)), "x");
    const auto& seen = reinterpret_cast<const abi::versioned_tensor*>(out.get())->tensor;
    CHECK(seen.dtype.code == type.code);
    CHECK(seen.dtype.bits == type.bits);
    CHECK(seen.dtype.lanes == 1);
    CHECK(std::memcmp(seen.data, x.values.data(), 10U * type.bits / 8) == 0);
  }
}

TEST_CASE("dlpack dataset: extents of one may have any stride, and no samples are a dataset",
          "[interop][host]") {
  foreign one{.shape = {10, 1, 3}, .strides = {{3, 77, 1}}};
  CHECK(open_tensors(one.versioned())->rows().size() == 1);
  foreign single{.shape = {1, 6}, .strides = {{-5, 1}}};
  CHECK(open_tensors(single.versioned())->size() == 1);
  foreign repeated{.shape = {50, 6}, .strides = {{0, 1}}};  // strides of `expand`
  CHECK(open_tensors(repeated.versioned())->size() == 50);
  foreign empty{.shape = {0, 6}, .values = {}};
  CHECK(open_tensors(empty.versioned())->size() == 0);
}

TEST_CASE("dlpack dataset: pinned memory is host memory", "[interop][host]") {
  foreign x{.device = {abi::cuda_host, 0}};
  CHECK(open_tensors(x.versioned())->size() == 10);
}

TEST_CASE("dlpack dataset: tensors that it cannot read are refused with a remedy",
          "[interop][host]") {
  CHECK(refusal({.device = {abi::cuda, 3}}) ==
        "lies in the memory of cuda:3: copy it to the host first (tensor.cpu()); "
        "placement::resident brings rows to the GPU once");
  CHECK(refusal({.device = {8, 0}}) ==
        "lies on a device of DLPack's type 8, not in host memory: copy it to the host first");
  CHECK(refusal({.strides = {{6, 1, 2}}}) ==
        "has a stride of 2 in dimension 2 where dense rows have 1: make it contiguous first "
        "(tensor.contiguous(), numpy.ascontiguousarray)");
  CHECK(refusal({.strides = {{6, 4, 1}}}).starts_with("has a stride of 4 in dimension 1 where"));
  CHECK(refusal({.strides = {{-6, 3, 1}}}) ==
        "has a stride of -6 from sample to sample: make it contiguous first, or read samples in "
        "another order (explicit_order)");
  CHECK(refusal({.shape = {}}) ==
        "has no dimension: the first one counts the samples, so give a single sample the shape "
        "[1, ...]");
  CHECK(refusal({.shape = {10, -1}}) == "has a negative extent in dimension 1");
  CHECK(refusal({.version = {2, 1}}) ==
        "is of DLPack 2.1, and this feedline knows versions up to 1: ask its library for an older "
        "one (max_version=(1, 0))");
  CHECK(refusal({.shape = {std::numeric_limits<std::int64_t>::max(), 8}}) ==
        "is larger than memory can be");
}

TEST_CASE("dlpack dataset: types of elements that feedline does not have are refused by name",
          "[interop][host]") {
  const auto [type, words] = GENERATE(table<abi::data_type, std::string>(
      {{abi::data_type{5, 64, 1}, "complex, 64 bits"},
       {abi::data_type{abi::floating, 8, 1}, "float, 8 bits"},
       {abi::data_type{abi::signed_int, 4, 1}, "int, 4 bits"},
       {abi::data_type{abi::floating, 32, 4}, "float, 32 bits, 4 lanes"},
       {abi::data_type{9, 8, 1}, "type code 9, 8 bits"}}));
  CHECK(refusal({.type = type}) == "has elements of a type that feedline does not have (" + words +
                                       "): use integers or floats of 8 to 64 bits, bfloat16 or "
                                       "bool");
}

TEST_CASE("dlpack dataset: tensors of different lengths, and none, are refused",
          "[interop][host]") {
  foreign x;
  foreign y{.shape = {9}};
  CHECK(message_of<usage_error>([&] { (void)open_tensors(x.versioned(), y.versioned()); }) ==
        "DLPack dataset: the tensor of field 'y' has 9 samples (its first dimension), but that of "
        "field 'x' has 10: all fields of a dataset have the same number");
  CHECK(x.deleted == 1);
  CHECK(y.deleted == 1);
  CHECK(message_of<usage_error>([&] { (void)open_tensors(dlpack_tensor{}); }) ==
        "DLPack dataset: the tensor of field 'x' is null");
  CHECK_THROWS_AS(make_dlpack_dataset({}), usage_error);
}
