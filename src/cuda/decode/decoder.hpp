#pragma once

#include <feedline/backend/block_decoder.hpp>

#include "cuda/context.hpp"
#include "cuda/decode/plan.hpp"
#include "cuda/decode/program.hpp"

#include <memory>
#include <string>
#include <vector>

namespace feedline::detail {

/// The parts from which a decoder is made.
struct decoder_parts {
  block_store store;
  std::vector<decode_program> programs;  ///< one for each field
  decoder_layout layout;
  std::shared_ptr<cuda_context> context;
  std::string name;  ///< name of the device, for messages
  /// Decodes the chunks that windows are cut from, some after the others; null: there are none.
  std::unique_ptr<decoder_parts> chunks = nullptr;
};

/// @throws out_of_memory, cuda_error.
[[nodiscard]] std::unique_ptr<block_decoder> make_cuda_block_decoder(decoder_parts parts);

}  // namespace feedline::detail
