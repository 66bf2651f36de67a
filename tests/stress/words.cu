#include "cuda/check.hpp"
#include "stress/cuda_words.hpp"
#include "support/datasets/identity_word.hpp"

namespace feedline::test {
namespace {

__device__ void pass(std::uint64_t cycles) {
  const long long start = clock64();
  while (clock64() - start < static_cast<long long>(cycles)) {
  }
}

__global__ void take(std::uint64_t cycles) {
  pass(cycles);
}

__global__ void flip(std::uint64_t* word, unsigned bit) {
  *word ^= std::uint64_t{1} << bit;
}

/// One block. Its threads share the words of all samples: id, note, row.
__global__ void compare(compared_batch batch, std::uint64_t pause_cycles, word_counts* counts) {
  pass(pause_cycles);
  const std::uint32_t words = batch.row_words + 2;
  unsigned long long compared = 0;
  unsigned long long different = 0;
  for (std::uint32_t at = threadIdx.x; at < batch.samples * words; at += blockDim.x) {
    const std::uint32_t sample = at / words;
    const std::uint32_t word = at % words;
    const std::uint64_t expected = reinterpret_cast<const std::uint64_t*>(&batch.expected)[sample];
    bool same = false;
    if (word == 0) {
      same = batch.ids[sample] == expected;
    } else if (word == 1) {
      same = batch.notes_are_floats
                 ? static_cast<const float*>(batch.notes)[sample] == float(expected % 256)
                 : static_cast<const std::uint8_t*>(batch.notes)[sample] == expected % 256;
    } else {
      same = batch.rows[sample * batch.row_words + word - 2] == identity_word(expected, word - 2);
    }
    ++compared;
    if (!same) ++different;
  }
  atomicAdd(&counts->compared, compared);
  if (different != 0) {
    atomicAdd(&counts->different, different);
    atomicMin(&counts->first_batch, static_cast<unsigned long long>(batch.number));
  }
}

}  // namespace

void compare_words(const compared_batch& batch, std::uint64_t pause_cycles, word_counts* counts,
                   cudaStream_t stream) {
  compare<<<1, 256, 0, stream>>>(batch, pause_cycles, counts);
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

void pause_stream(std::uint64_t cycles, cudaStream_t stream) {
  take<<<1, 1, 0, stream>>>(cycles);
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

void flip_bit(std::uint64_t* word, unsigned bit, cudaStream_t stream) {
  flip<<<1, 1, 0, stream>>>(word, bit);
  FEEDLINE_CUDA_CHECK(cudaGetLastError());
}

}  // namespace feedline::test
