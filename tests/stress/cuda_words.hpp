#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace feedline::test {

/// Most samples of a batch that `compare_words` looks at.
inline constexpr std::size_t max_compared_samples = 64;

/// A batch of `make_identity_rows` data on the GPU, and which samples it must hold.
struct compared_batch {
  std::uint64_t number;  ///< for the report
  std::uint32_t samples;
  std::uint32_t row_words;    ///< words of 8 bytes
  const std::uint64_t* ids;   ///< [samples]
  const std::uint64_t* rows;  ///< [samples × row_words]
  const void* notes;          ///< [samples] of u8, or f32
  bool notes_are_floats;
  std::array<std::uint64_t, max_compared_samples> expected;
};

/// Counts of kernels, in the GPU's memory.
struct word_counts {
  unsigned long long compared = 0;
  unsigned long long different = 0;
  unsigned long long first_batch = ~0ULL;  ///< lowest number of a batch with a difference
};

/// Launches a kernel that waits some cycles, compares each word (ids, rows, notes) with what it
/// must be, and adds to `counts`. The stream's work; no host wait.
void compare_words(const compared_batch& batch, std::uint64_t pause_cycles, word_counts* counts,
                   cudaStream_t stream);

/// Launches a kernel that only takes this many cycles.
void pause_stream(std::uint64_t cycles, cudaStream_t stream);

/// Launches a kernel that changes one bit of a word.
void flip_bit(std::uint64_t* word, unsigned bit, cudaStream_t stream);

}  // namespace feedline::test
