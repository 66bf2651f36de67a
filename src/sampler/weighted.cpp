#include <feedline/error.hpp>
#include <feedline/sampler/weighted.hpp>

#include "sampler/alias_order.hpp"
#include "sampler/field_values.hpp"
#include "sampler/systematic_order.hpp"
#include "sampler/weights.hpp"

#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

template <class Order>
std::pair<sampler, std::size_t> with_bytes(Order order) {
  const std::size_t bytes = order.table_bytes();
  return {sampler{std::move(order)}, bytes};
}

std::pair<sampler, std::size_t> order_of(std::span<const double> weights,
                                         const weighted_options& options) {
  if (weights.size() > UINT32_MAX)
    throw usage_error{"weighted: there are " + std::to_string(weights.size()) +
                      " weights; at most 4294967295 can be drawn from"};
  if (options.replacement)
    return with_bytes(detail::alias_order{detail::integer_weights("weighted", weights),
                                          options.seed, options.epoch_size});
  detail::require_weights("weighted", weights);
  return with_bytes(detail::systematic_order{weights, options.seed, options.epoch_size});
}

}  // namespace

weighted::weighted(std::span<const double> weights, const weighted_options& options)
    : weighted{order_of(weights, options)} {}

weighted::weighted(const dataset_ptr& of, const std::string& field_name,
                   const weighted_options& options)
    : weighted{detail::read_field<double>("weighted", of, field_name).values, options} {}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
