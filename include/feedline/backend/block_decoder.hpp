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

/// One field of one block, in a table at the beginning of the blocks that arrived.
struct block_load {
  std::uint32_t field = 0;
  std::uint32_t place = 0;    ///< index in the store to decode to
  std::uint32_t bytes = 0;    ///< size as stored
  std::uint32_t at = 0;       ///< offset in `copy_destination` in units of 16 bytes
  std::uint32_t skipped = 0;  ///< same as in `encoded_blocks::stored_block`
  std::uint32_t missing = 0;  ///< not 0: the block could not be read, so there is no data
  std::uint16_t height = 0;   ///< same as in `encoded_blocks::stored_block`
  std::uint16_t width = 0;
  source_window window = {};
  /// Same as in `encoded_blocks::stored_block`.
  image_in_row in_row = {};
  image_format format = image_format::jpeg;
  std::uint8_t pixel_bits = 0;
  std::uint8_t orientation = 1;

  /// The block as its `read` described it.
  [[nodiscard]] encoded_blocks::stored_block stored() const noexcept {
    return {.bytes = bytes,
            .skipped = skipped,
            .height = height,
            .width = width,
            .window = window,
            .in_row = in_row,
            .format = format,
            .pixel_bits = pixel_bits,
            .orientation = orientation};
  }
};

/// Memory in which a device keeps decoded blocks, and limits of a `decode` call.
struct block_store {
  struct field {
    std::byte* blocks = nullptr;  ///< device memory; block p's rows are at blocks + p × block_bytes
    std::size_t block_bytes = 0;
    bool varies = false;  ///< rows may be smaller than `block_bytes`; then `rows` is 1
    std::vector<block_step> steps;
    std::size_t max_stored_bytes = 0;  ///< largest size of a stored block
    /// Typical size of a stored block, where rows are smaller; 0: unknown. Working memory may be
    /// planned by it.
    std::size_t usual_stored_bytes = 0;
  };

  std::vector<field> fields;
  /// Device memory: the state of field f of block p is at [p × fields + f]. 0: it was decoded; else
  /// not.
  std::uint32_t* states = nullptr;
  std::uint32_t places = 0;
  std::uint32_t rows = 0;  ///< rows in a block
  /// Maximum number of loads in a call of `decode`.
  std::uint32_t max_loads = 0;
  std::shared_ptr<const encoded_blocks> reference;  ///< decodes on the host
  /// The chunks from which blocks whose step is `block_filter::window` are cut; null: there are no
  /// such blocks. Its fields are the arrays, and its blocks their chunks.
  std::shared_ptr<const block_store> chunks = nullptr;
};

/// Decodes blocks that arrived in device memory into a store, and finds the samples whose blocks
/// are missing. Working memory for one `decode` at a time is allocated at construction, so calls of
/// `decode` are ordered with each other on their streams. `find_bad` needs no such memory; it is
/// issued after the `decode` calls for its samples' blocks. Threads: one.
class block_decoder {
 public:
  /// Input of `decode`, staged and copied.
  struct work {
    const std::byte* copy_destination = nullptr;  ///< device memory
    const std::byte* staged = nullptr;            ///< host memory: the loads, read during the call
    std::size_t loads_at = 0;                     ///< offset of the `block_load`s in both
    std::uint32_t loads = 0;                      ///< at least 1
    /// Loads of `block_store::chunks`, which are decoded before windows are cut from them: offset
    /// in both, and number.
    std::size_t chunk_loads_at = 0;
    std::uint32_t chunk_loads = 0;
  };
  /// Input of `find_bad`.
  struct check {
    const std::uint32_t* sources = nullptr;  ///< device memory: for each sample block × rows + row
    std::uint32_t samples = 0;               ///< at least 1
    std::uint32_t* first_bad = nullptr;      ///< device memory: the result
  };

  block_decoder() = default;
  block_decoder(const block_decoder&) = delete;
  block_decoder& operator=(const block_decoder&) = delete;
  virtual ~block_decoder() = default;

  /// Issues on `stream` the decoding of the chunks that come with windows, and returns; `decode`
  /// follows. Decoders of one store may decode chunks at once, to different memory. By default it
  /// does nothing: there are no windows. @throws device_error.
  virtual void decode_chunks(const work& what, stream_ref stream) {
    (void)what;
    (void)stream;
  }
  /// Issues the decoding of all loads on `stream` and returns. A block that does not decode to
  /// exactly its size gets a state other than 0. If the field varies, the load has the size: its
  /// `in_row`, or the bytes that arrived. Each block is written only to its own memory.
  /// @throws device_error.
  virtual void decode(const work& what, stream_ref stream) = 0;
  /// Issues work on `stream` that finds the first sample with a block whose state is not 0 in any
  /// field. It writes the sample's number, or 0xFFFFFFFF if there is none. @throws device_error.
  virtual void find_bad(const check& what, stream_ref stream) = 0;
};

/// Decoders that a device offers.
class block_decoders {
 public:
  block_decoders() = default;
  block_decoders(const block_decoders&) = delete;
  block_decoders& operator=(const block_decoders&) = delete;
  virtual ~block_decoders() = default;

  /// Returns why the device cannot undo these steps, naming the first unsupported one; empty if it
  /// can undo them all.
  [[nodiscard]] virtual std::string refusal(std::span<const block_step> steps) const = 0;
  /// Device memory that a decoder for the store needs besides the store. Pointers in `store` may be
  /// null.
  [[nodiscard]] virtual std::size_t device_bytes(const block_store& store) const = 0;
  /// @throws out_of_memory, device_error.
  [[nodiscard]] virtual std::unique_ptr<block_decoder> make(const block_store& store) const = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
