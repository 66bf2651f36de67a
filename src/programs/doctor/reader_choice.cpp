#include "programs/doctor/choices.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace doctor {
namespace {

/// More readers that give no more than this are not worth their cores.
constexpr double worth_more = 1.05;

}  // namespace

double all_bytes(const findings& measured) {
  return static_cast<double>(measured.layout.samples) *
         static_cast<double>(measured.layout.sample_bytes);
}

std::optional<double> wanted_rate(const findings& measured) {
  if (!measured.step) return std::nullopt;
  return static_cast<double>(measured.batch_size) / seconds{*measured.step}.count();
}

std::size_t row_budget(const findings& measured) {
  const auto free = measured.device ? static_cast<double>(measured.device->free_bytes) : 0.0;
  return measured.device_budget.value_or(static_cast<std::size_t>(share_of_free * free));
}

reader_choice::reader_choice(const findings& measured, const std::vector<reader_rate>& rates) {
  for (const reader_rate& each : rates) best_ = std::max(best_, each.rate());
  wanted_ = wanted_rate(measured);
  const double enough =
      wanted_ ? std::min(headroom * *wanted_, best_ / worth_more) : best_ / worth_more;
  for (const reader_rate& each : rates)
    if (each.rate() >= enough && (readers_ == 0 || each.readers < readers_)) {
      readers_ = each.readers;
      rate_ = each.rate();
    }
}

std::string reader_choice::reason() const {
  if (readers_ == 0) return "1 reader: no rate was measured";
  const std::string first = fmt::format("{} reader{} bring{} {:.0f} samples/s", readers_,
                                        readers_ == 1 ? "" : "s", readers_ == 1 ? "s" : "", rate_);
  if (!wanted_) return first + ", and more bring no 5 % more";
  if (rate_ >= headroom * *wanted_)
    return first + fmt::format(", and the step takes {:.0f}", *wanted_);
  return first +
         fmt::format(", of {:.0f} that the step takes, and more bring no 5 % more", *wanted_);
}

}  // namespace doctor
