// Uses the API of shared libraries from a program whose own symbols are hidden.

#include <feedline/feedline.hpp>
#include <feedline/formats/open.hpp>

#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

int faults = 0;

void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::cout << "not so: " << what << '\n';
  ++faults;
}

/// The program's own error, thrown on a thread of the library's.
struct own_error : std::runtime_error {
  using runtime_error::runtime_error;
};

class counted : public feedline::dataset {
 public:
  explicit counted(std::uint64_t fails_at) : fails_at_{fails_at} {}
  std::uint64_t size() const override { return 100; }
  std::vector<feedline::field> fields() const override {
    return {{"number", feedline::element_type::u32}};
  }
  void do_read(const feedline::read_request& request) const override {
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      if (request.samples[i].value == fails_at_) throw own_error{"mine"};
      const auto number = static_cast<std::uint32_t>(request.samples[i].value);
      std::memcpy(request.out[0].data() + i * sizeof number, &number, sizeof number);
    }
  }

 private:
  std::uint64_t fails_at_;
};

std::uint64_t sum(const std::shared_ptr<const feedline::dataset>& numbers) {
  feedline::loader loader{
      numbers, feedline::shuffle{.seed = 1}, feedline::make_host_device(), {.batch_size = 8}};
  std::uint64_t sum = 0;
  for (feedline::batch& batch : loader.epoch(0))
    for (const std::uint32_t number : batch["number"].values<std::uint32_t>()) sum += number;
  return sum;
}

template <class Error, class Function>
bool throws(const Function& function) {
  try {
    function();
  } catch (const Error&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

/// Whether an error has an own_error nested in it, at any depth.
bool holds_own_error(const std::exception& error) {
  if (dynamic_cast<const own_error*>(&error) != nullptr) return true;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& nested) {
    return holds_own_error(nested);
  }
  return false;
}

}  // namespace

int main() {
  const auto whole = std::make_shared<const counted>(100);
  expect(sum(whole) == 4950, "a dataset of the program's own is read");
  expect(sum(feedline::subset(whole, feedline::sample_index{0}, 10)) == 45, "it is composed");

  const auto missing = [] { (void)feedline::open("/no/such/file"); };
  expect(throws<feedline::dataset_error>(missing), "another library's error is caught by its type");
  expect(throws<feedline::error>(missing), "by feedline's root");
  expect(throws<std::exception>(missing), "by the standard's root");
  expect(throws<feedline::usage_error>([&] { (void)feedline::concatenate({}); }),
         "the core's error is caught by its type");

  const auto failing = std::make_shared<const counted>(50);
  expect(throws<feedline::stage_error>([&] { (void)sum(failing); }), "a stage's error is caught");
  try {
    (void)sum(failing);
  } catch (const feedline::error& error) {
    const auto* const stage = dynamic_cast<const feedline::stage_error*>(&error);
    expect(stage != nullptr, "an error is cast");
    try {
      if (stage != nullptr) std::rethrow_exception(stage->cause());
    } catch (const std::exception& cause) {
      expect(holds_own_error(cause), "the program's own error lies in it");
    }
  }

  const std::shared_ptr<const feedline::dataset> erased = whole;
  expect(std::dynamic_pointer_cast<const counted>(erased) == whole, "a dataset is cast back");
  return faults == 0 ? 0 : 1;
}
