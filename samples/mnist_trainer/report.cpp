#include "report.hpp"

#include <algorithm>
#include <cstdio>

namespace mnist {
namespace {

const char* explain(double wait_fraction, bool prefetch) {
  if (!prefetch)
    return "This is what reading costs where nothing is read ahead; leave out --no-prefetch.";
  if (wait_fraction < 0.05)
    return "That is little: the digits are read while the network computes.";
  return "That is much: more --readers or a faster disk would help.";
}

}  // namespace

void report::tell(std::uint64_t epoch, const epoch_report& found) {
  last_ = found;
  digits_ += found.digits;
  took_ += found.took;
  waited_ += found.waited;
  if (found.batches != 0) {
    const seconds step = found.took / static_cast<double>(found.batches);
    step_ = step_ == seconds{} ? step : std::min(step_, step);
  }
  std::printf(
      "epoch %ju/%ju  loss %.4f  accuracy %.4f  %.0f samples/s  waited for data %.1f ms "
      "(%.2f %%)\n",
      std::uintmax_t{epoch + 1}, std::uintmax_t{options_.epochs}, found.loss, found.accuracy,
      found.digits / found.took.count(), 1e3 * found.waited.count(),
      100.0 * (found.waited / found.took));
}

void report::tell_result(int ranks, const std::string& device) const {
  const double fraction = waited_ / took_;
  std::printf("The network waited for its data for %.1f %% of the time. %s\n", 100.0 * fraction,
              explain(fraction, options_.prefetch));
  std::printf(
      "result accuracy=%.4f loss=%.9g samples_per_second=%.0f wait_fraction=%.4f step_us=%.1f "
      "ranks=%d device=%s\n",
      last_.accuracy, last_.loss, digits_ / took_.count(), fraction, 1e6 * step_.count(), ranks,
      device.c_str());
}

}  // namespace mnist
