#include "support/devices/scripted_decoder.hpp"

#include "device/decode_on_host.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

namespace feedline::test {
namespace {

constexpr std::size_t bytes_a_load = 4;

/// A copy to this memory has started and not completed, or was never issued.
bool is_poison(const std::byte* memory) noexcept {
  return std::all_of(memory, memory + sizeof(std::uint32_t),
                     [](std::byte each) { return each == scripted_device::poison; });
}

class scripted_decoder final : public block_decoder {
 public:
  scripted_decoder(scripted_device& device, const block_store& store)
      : device_{device},
        store_{store},
        bytes_{store.max_loads * bytes_a_load},
        memory_{device_.allocate(memory_kind::device, bytes_)} {}
  ~scripted_decoder() override { device_.free(memory_kind::device, memory_, bytes_); }

  void decode_chunks(const work& what, stream_ref stream) override {
    if (!store_.chunks || what.chunk_loads == 0) return;
    device_.decode(
        stream,
        [store = store_, what] {
          if (!is_poison(what.copy_destination + what.chunk_loads_at))
            detail::decode_chunks_on_host(store, what);
        },
        {what.copy_destination, store_.chunks->states, store_.chunks->fields.front().blocks,
         memory_},
        what.chunk_loads);
  }
  void decode(const work& what, stream_ref stream) override {
    if (what.loads > store_.max_loads) throw device_error{"more blocks than there is room for"};
    std::set<std::pair<std::uint32_t, std::uint32_t>> written;
    const auto* load = reinterpret_cast<const block_load*>(what.staged + what.loads_at);
    for (std::uint32_t i = 0; i < what.loads; ++i, ++load)
      if (!written.emplace(load->place, load->field).second)
        throw device_error{"a place is written twice in one call"};
    device_.decode(
        stream,
        [store = store_, what] {
          if (!is_poison(what.copy_destination + what.loads_at))
            detail::decode_on_host(store, what);
        },
        {what.copy_destination, store_.states, store_.fields.front().blocks, memory_}, what.loads);
  }
  void find_bad(const check& what, stream_ref stream) override {
    device_.decode(stream,
                   [store = store_, what] {
                     if (!is_poison(reinterpret_cast<const std::byte*>(what.sources)))
                       detail::find_bad_on_host(store, what);
                   },
                   {what.sources, store_.states, what.first_bad});
  }

 private:
  scripted_device& device_;
  block_store store_;
  std::size_t bytes_;
  void* memory_;
};

class scripted_decoders final : public block_decoders {
 public:
  explicit scripted_decoders(scripted_device& device) : device_{device} {}

  std::string refusal(std::span<const block_step> steps) const override {
    const bool has_bits = std::any_of(steps.begin(), steps.end(), [](const block_step& step) {
      return step.filter == block_filter::bit_shuffle;
    });
    return has_bits ? "scripted does not undo bit shuffle" : "";
  }
  std::size_t device_bytes(const block_store& store) const override {
    return store.max_loads * bytes_a_load;
  }
  std::unique_ptr<block_decoder> make(const block_store& store) const override {
    return std::make_unique<scripted_decoder>(device_, store);
  }

 private:
  scripted_device& device_;
};

}  // namespace

std::shared_ptr<const block_decoders> make_scripted_decoders(scripted_device& device) {
  return std::make_shared<scripted_decoders>(device);
}

}  // namespace feedline::test
