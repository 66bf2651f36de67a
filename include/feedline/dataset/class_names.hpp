#pragma once

#include <feedline/export.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Names of the classes 0, 1, … that a field's labels count; none by default. Copies share the
/// names.
class class_names {
 public:
  class_names() = default;
  explicit class_names(std::vector<std::string> names)
      : names_{std::make_shared<const std::vector<std::string>>(std::move(names))} {}

  [[nodiscard]] const std::vector<std::string>& get() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return get().empty(); }

  friend bool operator==(const class_names& a, const class_names& b) {
    return a.names_ == b.names_ || a.get() == b.get();
  }

 private:
  std::shared_ptr<const std::vector<std::string>> names_;
};

/// "3 classes (cat, dog, owl; 5d1c3a0e9b7f2468)": the number of classes, the first names, and a
/// fingerprint of all names and their order.
[[nodiscard]] std::string to_string(const class_names& names);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
