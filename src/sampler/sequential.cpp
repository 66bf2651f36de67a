#include <feedline/sampler/sequential.hpp>

namespace feedline {

void sequential::indices(std::uint64_t /*samples*/, std::uint64_t /*epoch*/, position first,
                         std::span<sample_index> out) const noexcept {
  std::uint64_t next = first.value;
  for (auto& sample : out) sample = sample_index{next++};
}

}  // namespace feedline
