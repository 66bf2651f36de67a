/// Rows of sparse matrices that the GPU makes dense, through a whole loader: batches beside
/// those of readers.

#include <feedline/arrays/csr.hpp>
#include <feedline/arrays/memory_array.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/hdf5/arrays.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/decode/decoded_epochs.hpp"
#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/hdf5/writer.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t rows = 700;

/// A sparse matrix whose values and columns have these types.
template <class Value, class Column>
struct drawn_matrix {
  std::vector<Value> data = {};
  std::vector<Column> indices = {};
  std::vector<std::int64_t> indptr{0};
  std::uint64_t columns = 0;
};

/// @param rising Each row's columns rise; else they come in any order, and some twice.
template <class Value, class Column>
drawn_matrix<Value, Column> draw(bool rising, std::uint64_t columns) {
  std::mt19937 random{static_cast<unsigned>(columns) + (rising ? 1U : 0U)};
  drawn_matrix<Value, Column> made;
  made.columns = columns;
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::vector<Column> own;
    for (std::uint64_t n = row % 5 == 0 ? 0 : random() % 600; n > 0; --n)
      own.push_back(static_cast<Column>(random() % columns));
    if (rising) {
      std::ranges::sort(own);
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    for (const Column column : own) {
      made.indices.push_back(column);
      Value value = static_cast<Value>(random() % 1000);
      if constexpr (std::is_floating_point_v<Value>) {
        value = value / Value{7};
        if (random() % 50 == 0) value = -Value{0};
        if (rising && random() % 50 == 0) value = std::numeric_limits<Value>::quiet_NaN();
      }
      made.data.push_back(value);
    }
    made.indptr.push_back(static_cast<std::int64_t>(made.data.size()));
  }
  return made;
}

template <class Value>
array_ptr in_memory(const char* name, element_type type, const std::vector<Value>& values) {
  return make_memory_array({.name = name, .type = type, .shape = {values.size()}},
                           std::vector<Value>{values});
}

/// The field is called "image", as others that this folder's tests compare.
template <class Value, class Column>
dataset_ptr rows_of(const drawn_matrix<Value, Column>& of, element_type values,
                    element_type columns) {
  return make_csr_dataset("image", {.data = in_memory("data", values, of.data),
                                    .indices = in_memory("indices", columns, of.indices),
                                    .indptr = in_memory("indptr", element_type::i64, of.indptr),
                                    .columns = of.columns});
}

dataset_ptr with_labels(const dataset_ptr& of) {
  return zip(
      {of, make_csr_dataset(
               "label",
               {.data = in_memory("data", element_type::u8, std::vector<std::uint8_t>{1, 2}),
                .indices = in_memory("indices", element_type::i32, std::vector<std::int32_t>{3, 0}),
                .indptr = in_memory("indptr", element_type::i64,
                                    [] {
                                      std::vector<std::int64_t> ends(rows + 1, 2);
                                      ends[0] = 0;
                                      return ends;
                                    }()),
                .columns = 4})});
}

/// Values and columns in chunks of different lengths, deflated.
std::filesystem::path write(const std::filesystem::path& path,
                            const drawn_matrix<float, std::int32_t>& of) {
  hdf5_writer file{path};
  const auto deflated = [](hid_t creation) {
    require_hdf5(H5Pset_deflate(creation, 4) >= 0, "set filters");
  };
  const std::vector<hsize_t> count{of.data.size()};
  file.write("data", H5T_IEEE_F32LE, count, H5T_NATIVE_FLOAT, of.data.data(),
             chunked("deflated", {1000}, deflated));
  file.write("indices", H5T_STD_I32LE, count, H5T_NATIVE_INT32, of.indices.data(),
             chunked("deflated", {770}, deflated));
  file.write("indptr", H5T_STD_I64LE, {of.indptr.size()}, H5T_NATIVE_INT64, of.indptr.data(),
             chunked("deflated", {100}, deflated));
  return file.close();
}

dataset_ptr open(const std::filesystem::path& path, std::uint64_t columns) {
  const auto arrays = open_hdf5_arrays(path.string(), {"data", "indices", "indptr"});
  return make_csr_dataset("image", {arrays[0], arrays[1], arrays[2], columns});
}

loader_options options(decode_on who, int readers) {
  return {.batch_size = 48, .readers = readers, .decode_on = who};
}

/// Two epochs of the field "image" alone.
delivered_epochs take(const dataset_ptr& data, const sampler& order, loader_options loading) {
  FEEDLINE_CUDA_CHECK(cudaSetDevice(0));
  const gpu_stream stream;
  loading.epochs = 2;
  loading.placement = placement::stream;
  loader loader{data, order, make_cuda_device(0), loading};
  delivered_epochs all;
  all.decodes = loader.plan().decode_on;
  all.note = loader.plan().decode_note;
  try {
    for (std::uint64_t epoch = 0; epoch < loading.epochs; ++epoch)
      for (const batch& batch : loader.epoch(epoch, stream.ref())) {
        FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
        all.images.push_back(on_host(batch["image"]));
      }
  } catch (const stage_error& failure) {
    all.error = failure.what();
  }
  return all;
}

template <class Value, class Column>
void check_gathered(element_type values, element_type columns) {
  for (const bool rising : {true, false})
    for (const std::uint64_t width : {std::uint64_t{100}, std::uint64_t{119}}) {
      const dataset_ptr data =
          with_labels(rows_of(draw<Value, Column>(rising, width), values, columns));
      CAPTURE(to_string(values), rising, width);
      check_same(take_epochs(data, shuffle{.seed = 4}, options(decode_on::device, 3)),
                 take_epochs(data, shuffle{.seed = 4}, options(decode_on::cpu, 4)));
    }
}

}  // namespace

TEST_CASE("sparse rows on the GPU: those that readers gather are dense as readers make them",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  check_gathered<float, std::int32_t>(element_type::f32, element_type::i32);
  check_gathered<double, std::int64_t>(element_type::f64, element_type::i64);
  check_gathered<std::uint16_t, std::uint16_t>(element_type::u16, element_type::u16);
  check_gathered<std::uint8_t, std::uint8_t>(element_type::u8, element_type::u8);
  check_gathered<std::int32_t, std::uint32_t>(element_type::i32, element_type::u32);
  check_gathered<std::int64_t, std::int16_t>(element_type::i64, element_type::i16);
}

TEST_CASE("sparse rows on the GPU: those cut out of chunks that it decodes are the same",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const temporary_directory root;
  const auto matrix = draw<float, std::int32_t>(GENERATE(true, false), 3000);
  const dataset_ptr data = open(write(root.path() / "cells.h5", matrix), matrix.columns);
  const sampler order = GENERATE(sampler{shuffle{.seed = 8}}, sampler{sequential{}});
  const delivered_epochs seen = take(data, order, options(decode_on::device, 3));
  CHECK(seen.note.empty());
  check_same(seen, take(data, order, options(decode_on::cpu, 4)));
  loader_options converted = options(decode_on::device, 2);
  converted.transforms = {{.field = "image", .to = element_type::f16}};
  const delivered_epochs halves = take(data, order, converted);
  converted.decode_on = decode_on::cpu;
  check_same(halves, take(data, order, converted));
}

TEST_CASE("sparse rows on the GPU: ranks get their own, and a bad column is the reader's error",
          "[cuda][decode][gpu]") {
  FEEDLINE_NEEDS_GPU();
  auto matrix = draw<float, std::int32_t>(true, 500);
  check_ranks(with_labels(rows_of(matrix, element_type::f32, element_type::i32)),
              shuffle{.seed = 3});
  for (const std::int32_t column : {500, -1}) {
    matrix.indices[matrix.indices.size() / 2] = column;
    const temporary_directory root;
    const dataset_ptr data = open(write(root.path() / "cells.h5", matrix), matrix.columns);
    const delivered_epochs expected = take(data, sequential{}, options(decode_on::cpu, 2));
    CHECK_FALSE(expected.error.empty());
    check_same(take(data, sequential{}, options(decode_on::device, 2)), expected);
  }
}
