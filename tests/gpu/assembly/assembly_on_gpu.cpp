#include "gpu/assembly/assembly_on_gpu.hpp"

#include <feedline/backend/assembly.hpp>
#include <feedline/cuda/device.hpp>

#include "cuda/check.hpp"
#include "cuda/pinned_memory.hpp"
#include "detail/arithmetic.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <new>
#include <random>
#include <string>
#include <utility>

namespace feedline::test {
namespace {

/// Bytes of guard in front of memory: what a kernel writes there is seen.
constexpr std::size_t guard_bytes = 256;

void check_same(const std::vector<std::byte>& seen, const std::vector<std::byte>& expected,
                const std::string& what) {
  REQUIRE(seen.size() == expected.size());
  const auto differs = std::mismatch(seen.begin(), seen.end(), expected.begin());
  const auto at = differs.first - seen.begin();
  INFO(what << " differs from byte " << at << " on");
  CHECK(differs.first == seen.end());
}

/// Copies some of the first and last cached rows to the GPU, and spoils them where they were.
std::unique_ptr<gpu_copy> set_apart(const device_ptr& device, const std::vector<std::byte>& cached,
                                    field_assembly& field, mapped_copy& mapped,
                                    std::mt19937_64& random) {
  const auto rows = static_cast<std::uint32_t>(assembly_case::rows);
  field.in_place.first = static_cast<std::uint32_t>(random() % rows);
  field.in_place.count = static_cast<std::uint32_t>(random() % (rows - field.in_place.first + 1));
  std::vector<std::byte> moved;
  for (std::uint32_t row = 0; row < assembly_case::device_row_cache; ++row) {
    if (row - field.in_place.first < field.in_place.count) continue;
    const auto begin = cached.begin() + static_cast<std::ptrdiff_t>(row * field.row_bytes);
    moved.insert(moved.end(), begin, begin + static_cast<std::ptrdiff_t>(field.row_bytes));
    mapped.spoil(row * field.row_bytes, field.row_bytes);
  }
  return std::make_unique<gpu_copy>(device, moved);
}

void check_on_gpu(assembly_case& each, const case_options& options, kept_in where,
                  std::size_t shift, bool staged, std::mt19937_64* apart) {
  const auto device = make_cuda_device(0);
  const gpu_stream stream;
  const gpu_copy slot{device, std::vector(each.slot_bytes(), assembly_case::untouched)};
  const gpu_copy copy_destination{device, each.copy_destination()};
  std::vector<std::unique_ptr<gpu_copy>> on_device;
  std::vector<std::unique_ptr<mapped_copy>> on_host;
  std::vector<std::unique_ptr<gpu_copy>> passing;
  std::vector<std::unique_ptr<gpu_copy>> parts;
  std::vector<field_assembly> fields;
  for (std::size_t i = 0; i < each.fields().size(); ++i) {
    INFO(i << ": " << describe(each.fields()[i]));
    const auto& cached = each.fields()[i].cached;
    if (where != kept_in::device) {
      on_host.push_back(std::make_unique<mapped_copy>(device, cached, shift));
      fields.push_back(each.field(i, on_host.back()->data(), nullptr));
      fields.back().cached_on_host = true;
      if (apart != nullptr) {
        parts.push_back(set_apart(device, cached, fields.back(), *on_host.back(), *apart));
        fields.back().in_place.apart = parts.back()->data();
      }
      if (where != kept_in::host_passing) continue;
      passing.push_back(std::make_unique<gpu_copy>(
          device, std::vector<std::byte>(options.samples * fields.back().row_bytes)));
      fields.back().passing = passing.back()->data();
    } else {
      on_device.push_back(std::make_unique<gpu_copy>(device, cached, shift));
      std::byte* const at = on_device.back()->data();
      fields.push_back(each.field(i, at, options.keeps ? at : nullptr));
    }
  }
  assembly work = each.work(slot.data(), copy_destination.data(), fields);
  if (staged) work.staged = each.copy_destination().data();
  device->assemble(work, stream.ref());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  const auto expected = each.reference();
  check_same(slot.read_back(), expected[0], "the slot");
  for (const auto& each_passing : passing) (void)each_passing->read_back();  // looks at the guards
  for (std::size_t i = 0; i < on_device.size(); ++i)
    check_same(on_device[i]->read_back(), expected[i + 1],
               "cached rows of field " + std::to_string(i));
}

}  // namespace

gpu_copy::gpu_copy(const device_ptr& device, const std::vector<std::byte>& bytes, std::size_t shift)
    : size_{bytes.size()},
      before_{guard_bytes + shift},
      memory_{device, memory_kind::device, before_ + size_ + guard_bytes} {
  FEEDLINE_CUDA_CHECK(cudaMemset(memory_.data(), 0xC3, memory_.bytes()));
  FEEDLINE_CUDA_CHECK(cudaMemcpy(data(), bytes.data(), size_, cudaMemcpyHostToDevice));
  // From pageable memory it may return before the bytes are there, and no other stream waits for
  // them.
  FEEDLINE_CUDA_CHECK(cudaDeviceSynchronize());
}

std::vector<std::byte> gpu_copy::read_back() const {
  std::vector<std::byte> all(memory_.bytes());
  FEEDLINE_CUDA_CHECK(cudaMemcpy(all.data(), memory_.data(), all.size(), cudaMemcpyDeviceToHost));
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(before_);
  const auto end = begin + static_cast<std::ptrdiff_t>(size_);
  const auto is_guard = [](std::byte each) { return each == std::byte{0xC3}; };
  CHECK(std::all_of(all.begin(), begin, is_guard));
  CHECK(std::all_of(end, all.end(), is_guard));
  return {begin, end};
}

mapped_copy::mapped_copy(device_ptr device, const std::vector<std::byte>& bytes, std::size_t shift)
    : device_{std::move(device)},
      size_{detail::round_up(bytes.size() + shift, detail::page_bytes())},
      memory_{static_cast<std::byte*>(std::aligned_alloc(detail::page_bytes(), size_))},
      shift_{shift} {
  if (memory_ == nullptr) throw std::bad_alloc{};
  std::copy(bytes.begin(), bytes.end(), memory_.get() + shift);
  address_ = device_->map(span());
}

void check_on_gpu(const case_options& options, std::vector<case_field> fields, std::uint64_t seed,
                  kept_in where, std::size_t shift, bool staged, bool apart) {
  std::string text;
  for (const case_field& field : fields) text += "\n  " + describe(field);
  CAPTURE(seed, text, shift, options.batch_size, options.samples, options.run_samples,
          options.keeps, static_cast<int>(options.from), static_cast<int>(where), apart);
  std::mt19937_64 random{seed};
  assembly_case each{options, std::move(fields), random};
  check_on_gpu(each, options, where, shift, staged, apart ? &random : nullptr);
}

}  // namespace feedline::test
