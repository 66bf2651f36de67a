// Whether readers or the GPU decode.

#include "programs/doctor/choices.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace doctor {
namespace {

/// A run has so many epochs, where the first one and the others take different times.
constexpr int usual_epochs = 5;
/// Another way is taken if a run becomes this much shorter.
constexpr double worth_changing = 0.9;

/// How long a run takes a sample, all epochs together, at so many samples a second.
double run_seconds(const findings& measured, double first_epoch, double later_epochs) {
  const auto wanted = wanted_rate(measured);
  const double step = wanted ? 1 / *wanted : 0;
  return std::max(step, 1 / first_epoch) + (usual_epochs - 1) * std::max(step, 1 / later_epochs);
}

/// The rate of epochs after the first one, as far as rows stay somewhere.
double later_rate(const findings& measured, const reader_choice& chosen, const advice& given) {
  using enum feedline::placement;
  constexpr double no_limit = 1e30;
  const double copied =
      measured.device->copy_rate > 0
          ? measured.device->copy_rate / static_cast<double>(measured.layout.sample_bytes)
          : no_limit;
  if (given.placement == resident) return no_limit;
  const bool keeps_chunks = measured.layout.in_chunks() && !measured.layout.forgets_chunks();
  if (given.placement == gather || given.load_into_memory || keeps_chunks) return copied;
  if (given.placement != cached) return chosen.rate();
  const double held = static_cast<double>(given.device_cache_bytes) / all_bytes(measured);
  return chosen.rate() / std::max(1 - held, 0.01);
}

}  // namespace

void choose_decoder(const findings& measured, const reader_choice& chosen, advice& given) {
  if (measured.decoder.readers.empty() || !measured.damages.empty()) return;
  const reader_choice decoder{measured, measured.decoder.readers};
  const double with_readers =
      run_seconds(measured, chosen.rate(), later_rate(measured, chosen, given));
  const double with_gpu = run_seconds(measured, decoder.rate(), decoder.rate());
  const bool one = chosen.readers() == 1;
  const std::string rates = fmt::format(
      "where the GPU decodes, {}: {:.1f} times the {:.0f} samples/s of {} reader{} that decode{}",
      decoder.reason(), decoder.rate() / chosen.rate(), chosen.rate(), chosen.readers(),
      one ? "" : "s", one ? "s" : "");
  if (with_gpu >= worth_changing * with_readers) {
    given.reasons.emplace_back(
        fmt::format("decode_on cpu: {}, which makes {} epochs no shorter", rates, usual_epochs));
    return;
  }
  const bool resident = given.placement == feedline::placement::resident;
  given = {.readers = decoder.readers(),
           .device_cache_bytes = measured.device_budget.value_or(0),
           .decode_on = feedline::decode_on::device,
           .window = measured.decoder.window,
           .batch = seconds{std::max(measured.step ? seconds{*measured.step}.count() : 0.0,
                                     static_cast<double>(measured.batch_size) / decoder.rate())}};
  given.reasons.emplace_back("decode_on device: " + rates);
  if (given.window)
    given.reasons.emplace_back(
        fmt::format("shuffle within {} chunks of {} samples: the GPU decodes window after window",
                    *given.window, measured.layout.chunking.samples));
  if (resident)
    given.hints.emplace_back(
        fmt::format("all rows fit in GPU memory: for many more than {} epochs compare placement "
                    "resident, with which readers decode the first epoch, and nobody the others",
                    usual_epochs));
}

std::optional<std::uint64_t> decoder_window(const findings& measured) {
  const layout_facts& layout = measured.layout;
  if (!layout.in_chunks()) return std::nullopt;
  const std::uint64_t chunk_bytes =
      std::max<std::uint64_t>(layout.chunking.samples * layout.sample_bytes, 1);
  const std::uint64_t fitting = row_budget(measured) / 4 / chunk_bytes;
  return std::max<std::uint64_t>(std::min({max_window, layout.chunks() / 2, fitting}), 1);
}

}  // namespace doctor
