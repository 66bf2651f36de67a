#include <feedline/sampler/shuffle.hpp>

#include "sampler/bijection.hpp"

namespace feedline {

void shuffle::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                      std::span<sample_index> out) const noexcept {
  detail::bijection{samples, seed, epoch}.evaluate(first, out);
}

}  // namespace feedline
