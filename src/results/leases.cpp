/// The leases that users hold: on a result, and on the memory that it is copied from.

#include <feedline/error.hpp>
#include <feedline/results/result.hpp>
#include <feedline/results/source_lease.hpp>

#include "results/slots.hpp"

#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

result::result(lease_type lease) noexcept : lease_{std::move(lease)} {}
result::result(result&& other) noexcept = default;
result& result::operator=(result&& other) noexcept = default;
result::~result() = default;

void result::throw_not_whole(std::size_t element_bytes) const {
  throw usage_error{"result " + std::to_string(number()) + " has " +
                    std::to_string(lease_->bytes.size()) +
                    " bytes, no whole number of elements of " + std::to_string(element_bytes) +
                    ": ask for the type that was pushed, or for bytes()"};
}

source_lease::source_lease(lease_type lease) noexcept : lease_{std::move(lease)} {}
source_lease::source_lease(source_lease&& other) noexcept = default;
source_lease& source_lease::operator=(source_lease&& other) noexcept = default;
source_lease::~source_lease() = default;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
