#pragma once

#include <feedline/device/block_decoder.hpp>

#include <memory>

namespace feedline::test {

class scripted_device;

/// What a scripted device decodes: any block, by the reference, in its streams' order; but none
/// whose bits are shuffled.
[[nodiscard]] std::shared_ptr<const block_decoders> make_scripted_decoders(scripted_device& device);

}  // namespace feedline::test
