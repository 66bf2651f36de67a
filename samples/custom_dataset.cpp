// A dataset of your own is one class with three functions. This one computes its samples: points on
// a noisy line, y = 3x + 1, so that a few lines of gradient descent can find the line again.
//
// Build:  cmake --preset release && cmake --build --preset release --target custom_dataset
// Run:    build/release/samples/custom_dataset
// Expect: after 3 epochs: y = 3.00 x + 1.00

#include <feedline/feedline.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

// [dataset]
class noisy_line : public feedline::dataset {
 public:
  explicit noisy_line(std::uint64_t samples) : samples_{samples} {}

  std::uint64_t size() const override { return samples_; }

  // Fields of a sample: two scalars. An image would have a shape, {28, 28}.
  std::vector<feedline::field> fields() const override {
    return {{"x", feedline::element_type::f32}, {"y", feedline::element_type::f32}};
  }

 private:
  // Reader threads call it, several at once. It writes directly to the batch's memory, one row for
  // each requested sample, in the order of the request. A dataset in files would read there.
  void do_read(const feedline::read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      const std::uint64_t sample = request.samples[i].value;
      const float x = static_cast<float>(sample) / static_cast<float>(samples_);
      const float noise = 0.1F * static_cast<float>(sample * 7919 % 1000) / 1000.0F - 0.05F;
      const float y = 3.0F * x + 1.0F + noise;
      std::memcpy(request.out[0].data() + i * sizeof x, &x, sizeof x);
      std::memcpy(request.out[1].data() + i * sizeof y, &y, sizeof y);
    }
  }

  std::uint64_t samples_;
};
// [/dataset]

int main() {
  constexpr std::uint64_t epochs = 3;
  feedline::loader loader{std::make_shared<noisy_line>(100'000),
                          feedline::shuffle{.seed = 1},
                          feedline::make_host_device(),
                          {.batch_size = 50, .epochs = epochs}};
  float slope = 0.0F;
  float offset = 0.0F;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (feedline::batch& batch : loader.epoch(epoch)) {
      const auto x = batch["x"].values<float>();
      const auto y = batch["y"].values<float>();
      const float rate = 0.5F / static_cast<float>(batch.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float error = slope * x[i] + offset - y[i];
        slope -= rate * error * x[i];
        offset -= rate * error;
      }
    }
  std::printf("after %d epochs: y = %.2f x + %.2f\n", static_cast<int>(epochs),
              static_cast<double>(slope), static_cast<double>(offset));
}
