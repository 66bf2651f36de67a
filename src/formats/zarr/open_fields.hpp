#pragma once

#include <feedline/formats/zarr.hpp>

#include "formats/zarr/array.hpp"
#include "formats/zarr/stores/store.hpp"

#include <optional>
#include <vector>

namespace feedline::detail {

/// A field, and its array if that is loaded already: from another machine that takes a request.
struct zarr_chosen_field {
  zarr_field field;
  std::optional<zarr_array> array = std::nullopt;
};

/// `open_zarr` with a store that is open. @param fields At least one.
[[nodiscard]] dataset_ptr open_zarr_fields(const zarr_store_ptr& store,
                                           std::vector<zarr_chosen_field> fields,
                                           const zarr_options& options);

}  // namespace feedline::detail
