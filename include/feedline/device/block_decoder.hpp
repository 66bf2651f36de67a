#pragma once

#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// One field of one block in a table of loads, in front of blocks that arrived.
struct block_load {
  std::uint32_t field = 0;
  std::uint32_t place = 0;    ///< of the store, to decode it to
  std::uint32_t bytes = 0;    ///< as it is stored
  std::uint32_t at = 0;       ///< where it lies behind `landing_buffer`, in units of 16 bytes
  std::uint32_t skipped = 0;  ///< as `encoded_blocks::stored_block`
  std::uint32_t missing = 0;  ///< not 0: it could not be read, so that nothing lies there
  std::uint16_t height = 0;   ///< as `encoded_blocks::stored_block`
  std::uint16_t width = 0;
};

/// Where a device keeps decoded blocks, and how many are decoded at once.
struct block_store {
  struct field {
    std::byte* blocks = nullptr;  ///< device memory: place p's rows at blocks + p × block_bytes
    std::size_t block_bytes = 0;
    std::vector<block_step> steps;
    std::size_t max_stored_bytes = 0;  ///< of a block
  };

  std::vector<field> fields;
  /// Device memory: of field f in place p at [p × fields + f]; 0: it was decoded, else not.
  std::uint32_t* states = nullptr;
  std::uint32_t places = 0;
  std::uint32_t rows = 0;                           ///< of a block
  std::uint32_t max_loads = 0;                      ///< of a call of `decode`
  std::shared_ptr<const encoded_blocks> reference;  ///< decodes on the host
};

/// Decodes blocks that arrived in device memory into a store, and says which samples miss theirs.
/// Its memory, for one `decode` at a time, is allocated as it is made: these calls are on streams
/// of one order, and `find_bad`, which needs none, behind those of its samples' blocks. One thread.
class block_decoder {
 public:
  /// What was staged and copied.
  struct work {
    const std::byte* landing_buffer = nullptr;  ///< device memory
    const std::byte* staged = nullptr;          ///< host memory: the loads, read during the call
    std::size_t loads_at = 0;                   ///< of the `block_load`s, in both
    std::uint32_t loads = 0;                    ///< at least 1
  };
  /// What is to be checked.
  struct check {
    const std::uint32_t* sources = nullptr;  ///< device memory: for each sample place × rows + row
    std::uint32_t samples = 0;               ///< at least 1
    std::uint32_t* first_bad = nullptr;      ///< device memory: the result
  };

  block_decoder() = default;
  block_decoder(const block_decoder&) = delete;
  block_decoder& operator=(const block_decoder&) = delete;
  virtual ~block_decoder() = default;

  /// Issues the decoding of all loads on `stream`, and returns. A block that does not decode to
  /// exactly its bytes gets a state that is not 0; nothing is written but to its place.
  /// @throws device_error.
  virtual void decode(const work& what, stream_ref stream) = 0;
  /// Issues on `stream` what finds the first sample with a block whose state, in any field, is not
  /// 0, and writes its number; 0xFFFFFFFF if there is none. @throws device_error.
  virtual void find_bad(const check& what, stream_ref stream) = 0;
};

/// What a device can decode.
class block_decoders {
 public:
  block_decoders() = default;
  block_decoders(const block_decoders&) = delete;
  block_decoders& operator=(const block_decoders&) = delete;
  virtual ~block_decoders() = default;

  /// Why it does not undo these steps, naming the first that it does not; empty if it does.
  [[nodiscard]] virtual std::string refusal(std::span<const block_step> steps) const = 0;
  /// Device memory that a decoder for the store takes, besides the store. Its pointers may be null.
  [[nodiscard]] virtual std::size_t device_bytes(const block_store& store) const = 0;
  /// @throws out_of_memory, device_error.
  [[nodiscard]] virtual std::unique_ptr<block_decoder> make(const block_store& store) const = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
