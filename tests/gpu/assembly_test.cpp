/// Slots assembled by the GPU's kernels and its copy engine, against `assemble_on_host`, bit for bit.

#include <feedline/cuda/device.hpp>
#include <feedline/device/assembly.hpp>
#include <feedline/error.hpp>

#include "cuda/check.hpp"
#include "cuda/copy_engine.hpp"
#include "device/owned.hpp"
#include "gpu/assembly_case.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// Where cached rows lie, for the GPU.
enum class kept_in { device, host };

/// Bytes of guard in front of memory: what a kernel writes there is seen.
constexpr std::size_t guard_bytes = 256;

/// A copy of host bytes in memory that the GPU reads and writes, between guards.
class gpu_copy {
 public:
  gpu_copy(const device_ptr& device, const std::vector<std::byte>& bytes, std::size_t shift = 0)
      : size_{bytes.size()},
        before_{guard_bytes + shift},
        memory_{device, memory_kind::device, before_ + size_ + guard_bytes} {
    FEEDLINE_CUDA_CHECK(cudaMemset(memory_.data(), 0xC3, memory_.bytes()));
    FEEDLINE_CUDA_CHECK(cudaMemcpy(data(), bytes.data(), size_, cudaMemcpyHostToDevice));
    // From pageable memory it may return before the bytes are there, and no other stream waits for
    // them.
    FEEDLINE_CUDA_CHECK(cudaDeviceSynchronize());
  }

  [[nodiscard]] std::byte* data() const { return memory_.data() + before_; }

  /// The bytes now; the guards must be whole.
  [[nodiscard]] std::vector<std::byte> read_back() const {
    std::vector<std::byte> all(memory_.bytes());
    FEEDLINE_CUDA_CHECK(cudaMemcpy(all.data(), memory_.data(), all.size(), cudaMemcpyDeviceToHost));
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(before_);
    const auto end = begin + static_cast<std::ptrdiff_t>(size_);
    const auto is_guard = [](std::byte each) { return each == std::byte{0xC3}; };
    CHECK(std::all_of(all.begin(), begin, is_guard));
    CHECK(std::all_of(end, all.end(), is_guard));
    return {begin, end};
  }

 private:
  std::size_t size_;
  std::size_t before_;
  detail::device_memory memory_;
};

/// A copy of host bytes in host memory that the GPU reads.
class mapped_copy {
 public:
  mapped_copy(device_ptr device, const std::vector<std::byte>& bytes, std::size_t shift)
      : device_{std::move(device)},
        size_{bytes.size() + shift},
        // Pages of its own: mapping pins whole ones, and CUDA refuses to copy what is pinned in
        // part.
        memory_{static_cast<std::byte*>(::operator new(whole_pages(size_), page))},
        shift_{shift} {
    std::copy(bytes.begin(), bytes.end(), memory_.get() + shift);
    address_ = device_->map(span());
  }
  mapped_copy(const mapped_copy&) = delete;
  mapped_copy& operator=(const mapped_copy&) = delete;
  ~mapped_copy() { device_->unmap(span()); }

  [[nodiscard]] const std::byte* data() const { return address_ + shift_; }

 private:
  static constexpr std::align_val_t page{4096};
  struct free_pages {
    void operator()(std::byte* memory) const { ::operator delete(memory, page); }
  };
  static std::size_t whole_pages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
  [[nodiscard]] std::span<const std::byte> span() const { return {memory_.get(), size_}; }

  device_ptr device_;
  std::size_t size_;
  std::unique_ptr<std::byte, free_pages> memory_;
  std::size_t shift_;
  const std::byte* address_ = nullptr;
};

void check_same(const std::vector<std::byte>& seen, const std::vector<std::byte>& expected,
                const std::string& what) {
  REQUIRE(seen.size() == expected.size());
  const auto differs = std::mismatch(seen.begin(), seen.end(), expected.begin());
  const auto at = differs.first - seen.begin();
  INFO(what << " differs from byte " << at << " on");
  CHECK(differs.first == seen.end());
}

/// Runs a case on the GPU and compares the slot, and the cached rows where they may be written.
/// @param shift Of the cached rows, from a multiple of 256 bytes.
/// @param staged The landing buffer's bytes are in host memory too.
void check_on_gpu(assembly_case& each, const case_options& options, kept_in where,
                  std::size_t shift = 0, bool staged = false) {
  const auto device = make_cuda_device(0);
  const gpu_stream stream;
  const gpu_copy slot{device, std::vector(each.slot_bytes(), assembly_case::untouched)};
  const gpu_copy landing_buffer{device, each.landing_buffer()};
  std::vector<std::unique_ptr<gpu_copy>> on_device;
  std::vector<std::unique_ptr<mapped_copy>> on_host;
  std::vector<field_assembly> fields;
  for (std::size_t i = 0; i < each.fields().size(); ++i) {
    INFO(i << ": " << describe(each.fields()[i]));
    const auto& cached = each.fields()[i].cached;
    if (where == kept_in::host) {
      on_host.push_back(std::make_unique<mapped_copy>(device, cached, shift));
      fields.push_back(each.field(i, on_host.back()->data(), nullptr));
      fields.back().cached_on_host = true;
    } else {
      on_device.push_back(std::make_unique<gpu_copy>(device, cached, shift));
      std::byte* const at = on_device.back()->data();
      fields.push_back(each.field(i, at, options.keeps ? at : nullptr));
    }
  }
  assembly work = each.work(slot.data(), landing_buffer.data(), fields);
  if (staged) work.staged = each.landing_buffer().data();
  device->assemble(work, stream.ref());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  const auto expected = each.reference();
  check_same(slot.read_back(), expected[0], "the slot");
  for (std::size_t i = 0; i < on_device.size(); ++i)
    check_same(on_device[i]->read_back(), expected[i + 1],
               "cached rows of field " + std::to_string(i));
}

void check_on_gpu(const case_options& options, std::vector<case_field> fields, std::uint64_t seed,
                  kept_in where, std::size_t shift = 0, bool staged = false) {
  std::string text;
  for (const case_field& field : fields) text += "\n  " + describe(field);
  CAPTURE(seed, text, shift, options.batch_size, options.samples, options.run_samples,
          options.keeps, static_cast<int>(options.from), static_cast<int>(where));
  std::mt19937_64 random{seed};
  assembly_case each{options, std::move(fields), random};
  check_on_gpu(each, options, where, shift, staged);
}

constexpr element_type all_types[] = {element_type::u8,     element_type::i8,  element_type::u16,
                                      element_type::i16,    element_type::u32, element_type::i32,
                                      element_type::u64,    element_type::i64, element_type::f16,
                                      element_type::bf16,   element_type::f32, element_type::f64,
                                      element_type::boolean};
constexpr element_type all_whole[] = {element_type::u8,  element_type::i8,  element_type::u16,
                                      element_type::i16, element_type::u32, element_type::i32,
                                      element_type::u64, element_type::i64, element_type::boolean};
constexpr element_type all_targets[] = {element_type::f32, element_type::f16, element_type::bf16};

}  // namespace

TEST_CASE("assembly: rows of any size are copied, kept on the device, in host memory, or arriving",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t row_bytes =
      GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{16},
               std::size_t{784}, std::size_t{3072}, std::size_t{4097}, std::size_t{150'528});
  const auto from = GENERATE(rows_from::cached, rows_from::landing_buffer, rows_from::both);
  const auto where = GENERATE(kept_in::device, kept_in::host);
  check_on_gpu({.batch_size = 50, .samples = 123, .run_samples = 17, .from = from},
               {copied(row_bytes), copied(1)}, 1, where);
}

TEST_CASE("assembly: long rows in host memory come by the copy engine, short ones by a kernel",
          "[cuda][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const std::size_t row_bytes = GENERATE(detail::least_copied_row_bytes,
                                         detail::least_copied_row_bytes + 1, std::size_t{150'528});
  const auto from = GENERATE(rows_from::cached, rows_from::both);
  const std::size_t shift = GENERATE(std::size_t{0}, std::size_t{1});
  std::mt19937_64 random{8};
  check_on_gpu({.batch_size = 50, .samples = 123, .run_samples = 17, .from = from},
               {copied(1), copied(row_bytes), copied(784), copied(row_bytes + 3),
                converted(element_type::u8, element_type::f32, random)},
               8, kept_in::host, shift, true);
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
  const mapped_copy mapped{device, bytes, 0};
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

  SECTION("not what is on the device") {
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
  const auto from = GENERATE(rows_from::landing_buffer, rows_from::both);
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

TEST_CASE("assembly: any programs, sizes and runs give what the host gives, bit for bit",
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
  check_on_gpu(options, fields, seed, where, shift);
}

TEST_CASE("assembly: more fields than a launch takes are all put together", "[cuda][gpu]") {
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

TEST_CASE("assembly: what is more than a kernel counts is refused in words", "[cuda][gpu]") {
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
