#include "cuda/copy_engine.hpp"

#include "cuda/check.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace feedline::detail {
namespace {

/// Copies that are issued together.
class copy_batch {
 public:
  /// Merges rows that are adjacent on both sides into one copy.
  void add(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (!sizes_.empty() && to == end_of_to_ && from == end_of_from_) {
      sizes_.back() += bytes;
    } else {
      to_.push_back(to);
      from_.push_back(from);
      sizes_.push_back(bytes);
    }
    end_of_to_ = to + bytes;
    end_of_from_ = from + bytes;
  }

  /// Returns false if the driver has no such call, or refuses a copy, for example from memory that
  /// was pinned by several calls.
  [[nodiscard]] bool issue(cudaStream_t stream) {
#if CUDART_VERSION >= 13000
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    const cudaError_t status = cudaMemcpyBatchAsync(to_.data(), from_.data(), sizes_.data(),
                                                    sizes_.size(), &attributes, &first, 1, stream);
    if (status == cudaSuccess) return true;
    clear_error(status);  // a persistent error shows up when the kernel is launched
#else
    (void)stream;
#endif
    return false;
  }

 private:
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::size_t> sizes_;
  const std::byte* end_of_to_ = nullptr;
  const std::byte* end_of_from_ = nullptr;
};

}  // namespace

bool gather_by_copy_engine(const assembly& work, const field_assembly& field, cudaStream_t stream) {
  if (work.staged == nullptr || !field.cached_on_host ||
      field.conversion.what != field_conversion::operation::copy ||
      field.row_bytes < least_copied_row_bytes)
    return false;
  copy_batch copies;
  for (std::uint64_t sample = 0; sample < work.samples; ++sample) {
    std::uint32_t source = 0;
    std::memcpy(&source, work.staged + work.sources_at + sample * sizeof source, sizeof source);
    if ((source & assembly::arrived) != 0) return false;
    copies.add(work.slot + sample / work.batch_size * work.batch_bytes + field.to_offset +
                   sample % work.batch_size * field.to_row_bytes,
               field.cached_row(source), field.row_bytes);
  }
  return copies.issue(stream);
}

}  // namespace feedline::detail
