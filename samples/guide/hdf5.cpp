// The code that docs/guide/hdf5.md shows.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/hdf5/ragged.hpp>
#include <feedline/image/decode.hpp>

#include <iostream>
// [/includes]

feedline::dataset_ptr fields() {
  // [fields]
  for (const auto& found : feedline::list_hdf5_fields("digits.h5"))
    std::cout << found.dataset << ": " << found.samples << " of " << to_string(found.spec) << '\n';

  // Two datasets of the file become the fields "image" and "label".
  auto digits =
      feedline::open_hdf5("digits.h5", {{"train/images", "image"}, {"train/labels", "label"}});
  // [/fields]
  return digits;
}

feedline::dataset_ptr jpegs() {
  // [jpegs]
  auto files = feedline::open_hdf5_ragged("train.h5", {"jpeg"});          // one JPEG a sample
  auto images = feedline::decode(files, feedline::make_image_decoder());  // readers or a GPU do it
  auto train = feedline::zip({images, feedline::open_hdf5("train.h5", {{"label"}})});
  // [/jpegs]
  return train;
}
