/// Slots assembled by the GPU's kernels and its copy engine, against `assemble_on_host`, bit for
/// bit.

#include <feedline/backend/assembly.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/copy_engine.hpp"
#include "gpu/assembly/assembly_case.hpp"
#include "gpu/assembly/assembly_on_gpu.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

TEST_CASE("assembly: rows of any size are copied, kept on the device, in host memory, or arriving",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t row_bytes =
      GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{16},
               std::size_t{784}, std::size_t{3072}, std::size_t{4097}, std::size_t{150'528});
  const auto from = GENERATE(rows_from::cached, rows_from::copy_destination, rows_from::both);
  const auto where = GENERATE(kept_in::device, kept_in::host);
  const bool apart = where == kept_in::host && GENERATE(false, true);
  check_on_gpu({.batch_size = 50, .samples = 123, .run_samples = 17, .from = from},
               {copied(row_bytes), copied(1)}, 1, where, 0, false, apart);
}

TEST_CASE("assembly: long rows in host memory come by the copy engine, short ones by a kernel",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  // Catch2 2 keeps references where the first value is an lvalue: it would dangle.
  const std::size_t row_bytes =
      GENERATE(std::size_t{detail::least_copied_row_bytes},
               std::size_t{detail::least_copied_row_bytes} + 1, std::size_t{150'528});
  const auto from = GENERATE(rows_from::cached, rows_from::both);
  const std::size_t shift = GENERATE(std::size_t{0}, std::size_t{1});
  std::mt19937_64 random{8};
  check_on_gpu({.batch_size = 50, .samples = 123, .run_samples = 17, .from = from},
               {copied(1), copied(row_bytes), copied(784), copied(row_bytes + 3),
                converted(element_type::u8, element_type::f32, random)},
               8, kept_in::host, shift, true, GENERATE(false, true));
}

TEST_CASE("assembly: the copy engine takes long rows of host memory that all are cached",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  constexpr std::uint64_t rows = 5;
  constexpr std::uint64_t batch_size = 3;
  const std::size_t row_bytes = detail::least_copied_row_bytes;
  const auto device = make_cuda_device(0);
  const gpu_stream stream;
  std::vector<std::byte> bytes(rows * row_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i / 251 + i);
  mapped_copy mapped{device, bytes, 0};
  const std::vector<std::uint32_t> sources{3, 4, 0, 2};  // the first two make one copy
  const gpu_copy slot{device, std::vector<std::byte>(2 * batch_size * row_bytes)};
  field_assembly field;
  field.cached = mapped.data();
  field.cached_on_host = true;
  field.row_bytes = field.to_row_bytes = row_bytes;
  assembly work;
  work.slot = slot.data();
  work.batch_size = batch_size;
  work.batch_bytes = batch_size * row_bytes;
  work.samples = sources.size();
  work.staged = reinterpret_cast<const std::byte*>(sources.data());
  const auto taken = [&] { return detail::gather_by_copy_engine(work, field, stream.get()); };

  REQUIRE(taken() == (CUDART_VERSION >= 13000));
  if (taken()) {
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    const auto seen = slot.read_back();
    for (std::size_t i = 0; i < sources.size(); ++i)
      CHECK(std::memcmp(seen.data() + i * row_bytes, bytes.data() + sources[i] * row_bytes,
                        row_bytes) == 0);
  }

  SECTION("also where some rows are apart, on the device") {
    const gpu_copy apart{
        device, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(3 * row_bytes)}};
    mapped.spoil(0, 3 * row_bytes);
    field.in_place = {.first = 3, .count = 2, .apart = apart.data()};
    if (taken()) {
      FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
      const auto seen = slot.read_back();
      for (std::size_t i = 0; i < sources.size(); ++i)
        CHECK(std::memcmp(seen.data() + i * row_bytes, bytes.data() + sources[i] * row_bytes,
                          row_bytes) == 0);
    }
    field.cached_on_host = false;
  }
  SECTION("not rows on the device") {
    field.cached_on_host = false;
  }
  SECTION("not short rows") {
    --field.row_bytes;
  }
  SECTION("not rows that are converted") {
    field.conversion.what = field_conversion::operation::convert;
  }
  SECTION("not where the host does not know the sources") {
    work.staged = nullptr;
  }
  SECTION("not where some row arrives") {
    static const std::uint32_t some[] = {3, assembly::arrived, 0, 2};
    work.staged = reinterpret_cast<const std::byte*>(some);
  }
  CHECK(!taken());
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("assembly: cached rows may begin at any address", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t shift = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8},
                                     std::size_t{16}, std::size_t{48}, std::size_t{112});
  const auto where = GENERATE(kept_in::device, kept_in::host);
  std::mt19937_64 random{shift};
  check_on_gpu({.batch_size = 30, .samples = 70, .run_samples = 8},
               {copied(784), copied(96), converted(element_type::f32, element_type::f16, random),
                converted(element_type::u8, element_type::f32, random),
                one_hot(element_type::i64, element_type::f32, 10)},
               2, where, shift);
}

TEST_CASE("assembly: rows that arrive are kept as they pass, and no others change", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto from = GENERATE(rows_from::copy_destination, rows_from::both);
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{6}));
  std::mt19937_64 random{seed};
  check_on_gpu({.batch_size = 64, .samples = 200, .run_samples = 24, .from = from, .keeps = true},
               {copied(784), copied(7), converted(element_type::u8, element_type::f32, random),
                one_hot(element_type::u8, element_type::bf16, 10)},
               seed, kept_in::device);
}

TEST_CASE("assembly: every element type becomes every target as on the host, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto from = GENERATE(from_range(std::begin(all_types), std::end(all_types)));
  const auto to = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{7}));
  const auto where = seed % 3 == 0 ? kept_in::host : kept_in::device;
  std::mt19937_64 random{seed};
  check_on_gpu({.batch_size = 40, .samples = 90, .run_samples = 16},
               {converted(from, to, random), converted(from, to, random)}, seed, where);
}

TEST_CASE("assembly: rows of host memory that pass through the device's are converted, too",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto from = GENERATE(from_range(std::begin(all_types), std::end(all_types)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{6}));
  const std::size_t shift = seed % 2 == 0 ? 0 : 2 * seed - 1;
  std::mt19937_64 random{seed};
  std::vector<case_field> fields{copied(784), one_hot(element_type::i64, element_type::f32, 10)};
  for (const element_type to : all_targets) fields.push_back(converted(from, to, random));
  fields.push_back(copied(detail::least_copied_row_bytes));
  // The last batch is partial; each sample's draws must come with its own row.
  check_on_gpu({.batch_size = 20, .samples = 50, .run_samples = 8, .from = rows_from::cached},
               fields, seed, kept_in::host_passing, shift, seed % 2 == 0, seed % 3 == 0);
}

TEST_CASE("assembly: bytes that stay in their order are widened as on the host, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto from = GENERATE(element_type::u8, element_type::i8, element_type::boolean);
  const auto to = GENERATE(from_range(std::begin(all_targets), std::end(all_targets)));
  const std::uint32_t channels = GENERATE(1U, 2U, 3U, 5U);
  std::vector<case_field> fields;
  for (const bool channels_last : {false, true})
    for (const bool per_channel : {false, true})
      for (const std::uint32_t extent : {12U, 16U, 20U}) {
        case_field& field = fields.emplace_back();
        field.conversion.what = field_conversion::operation::convert;
        field.conversion.from = from;
        field.conversion.to = to;
        field.conversion.channels = channels;
        field.conversion.channels_last = field.conversion.to_channels_last = channels_last;
        field.conversion.per_channel = per_channel;
        field.conversion.height = field.conversion.to_height = extent;
        field.conversion.width = field.conversion.to_width = extent;
        for (std::uint32_t i = 0; i < channels; ++i) {
          field.conversion.scale[i] = 0.017F + 0.13F * static_cast<float>(i);
          field.conversion.offset[i] = 3.1F - 1.7F * static_cast<float>(i);
        }
        field.row_bytes = std::size_t{channels} * extent * extent;
        field.to_row_bytes = field.row_bytes * size_bytes(to);
      }
  check_on_gpu({.batch_size = 30, .samples = 100, .run_samples = 8}, fields, channels,
               kept_in::device);
}

TEST_CASE(
    "assembly: whole numbers of every type are cast to every other as on the host, bit for bit",
    "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto from = GENERATE(from_range(std::begin(all_whole), std::end(all_whole)));
  const auto to = GENERATE(from_range(std::begin(all_whole), std::end(all_whole)));
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{4}));
  const auto where = seed % 3 == 0 ? kept_in::host : kept_in::device;
  std::mt19937_64 random{seed};
  check_on_gpu({.batch_size = 40, .samples = 90, .run_samples = 16},
               {converted(from, to, random), converted(from, to, random)}, seed, where);
}

TEST_CASE("assembly: an integer becomes one 1 among its classes, or none", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto from =
      GENERATE(element_type::u8, element_type::i8, element_type::u16, element_type::i16,
               element_type::u32, element_type::i32, element_type::u64, element_type::i64);
  const std::uint32_t classes = GENERATE(1U, 10U, 1000U);
  std::vector<case_field> fields;
  for (const auto to : all_targets) fields.push_back(one_hot(from, to, classes));
  check_on_gpu({.batch_size = 100, .samples = 250, .run_samples = 33}, fields, 3, kept_in::device);
}

TEST_CASE("assembly: any programs, sizes and runs give the host's result, bit for bit",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{151}));
  std::mt19937_64 random{seed};
  std::vector<case_field> fields(1 + random() % 4);
  for (auto& field : fields) field = any_field(random);
  case_options options;
  options.batch_size = 1 + random() % 100;
  options.samples = 1 + random() % 300;
  options.run_samples = 1 + random() % options.batch_size;
  options.from = static_cast<rows_from>(random() % 3);
  const auto where = random() % 2 == 0 ? kept_in::host : kept_in::device;
  options.keeps = where == kept_in::device && random() % 2 == 0;
  const std::size_t shift = random() % 2 == 0 ? 0 : random() % 128;
  check_on_gpu(options, fields, seed, where, shift, false,
               where == kept_in::host && random() % 2 == 0);
}

TEST_CASE("assembly: more fields than a launch takes are all assembled", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const bool converts = GENERATE(false, true);
  std::mt19937_64 random{4};
  std::vector<case_field> fields;
  for (std::size_t i = 0; i < 21; ++i) {
    fields.push_back(converts && i % 3 == 0 ? converted(element_type::u8, element_type::f32, random)
                                            : copied(1 + i));
  }
  check_on_gpu({.batch_size = 32, .samples = 70, .run_samples = 32, .keeps = true}, fields, 5,
               kept_in::device);
}

TEST_CASE("assembly: many blocks' worth of rows, with labels of a byte", "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto where = GENERATE(kept_in::device, kept_in::host);
  std::mt19937_64 random{6};
  check_on_gpu({.batch_size = 64, .samples = 64 * 166 - 5, .run_samples = 64},
               {copied(784), copied(1)}, 6, where);
  check_on_gpu({.batch_size = 256, .samples = 2000, .run_samples = 100},
               {converted(element_type::u8, element_type::f32, random), copied(1)}, 7, where);
}

TEST_CASE("assembly: numbers that a kernel cannot count are refused with a message",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const auto device = make_cuda_device(0);
  const gpu_stream stream;
  assembly work;
  work.batch_size = 1;
  work.run_samples = 1;
  work.runs_per_batch = 1;
  work.samples = std::uint64_t{1} << 31;
  const auto message = message_of<usage_error>([&] { device->assemble(work, stream.ref()); });
  CHECK(message.find("2147483648 samples: a slot that is assembled on a GPU has fewer than "
                     "2147483648") != std::string::npos);
}
