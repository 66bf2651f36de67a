#pragma once

#include <feedline/backend/block_decoder.hpp>

#include <memory>

namespace feedline::test {

class scripted_device;

/// Decoders of a scripted device: they decode any block whose bits are not shuffled, with the
/// reference, in the order of the device's streams.
[[nodiscard]] std::shared_ptr<const block_decoders> make_scripted_decoders(scripted_device& device);

}  // namespace feedline::test
