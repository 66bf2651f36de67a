#include <feedline/loader/placement.hpp>

namespace feedline {

std::string_view to_string(placement placement) noexcept {
  switch (placement) {
    case placement::automatic:
      return "automatic";
    case placement::stream:
      return "stream";
    case placement::gather:
      return "gather";
    case placement::resident:
      return "resident";
    case placement::cached:
      return "cached";
  }
  return "unknown";
}

}  // namespace feedline
