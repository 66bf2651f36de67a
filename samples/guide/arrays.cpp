// Code of docs/guide/arrays.md; compiled, never run. tests/python/test_guide.py runs the page's
// Python, which does the same.

// [includes]
#include <feedline/feedline.hpp>
#include <feedline/hdf5/arrays.hpp>

#include <string>
#include <vector>
// [/includes]

namespace {

void train_on(const feedline::batch&) {}

// [weather]
// Two times 6 h apart predict the state 6 h later: 3 variables at 2 levels, and 2 on the ground.
void weather(const std::vector<std::string>& years) {
  using feedline::array_ptr;
  const std::vector<std::string> names{"t", "u", "v", "t2m", "msl"};
  std::vector<std::vector<array_ptr>> parts(names.size());
  for (const std::string& file : years) {
    const auto arrays = feedline::open_hdf5_arrays(file, names);  // they share the cache
    for (std::size_t i = 0; i < names.size(); ++i)
      parts[i].push_back(feedline::unpack(arrays[i], {.type = feedline::element_type::f32}));
  }
  std::vector<array_ptr> variables;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto variable = feedline::concatenate_arrays(parts[i], "time");
    if (i < 3) variable = feedline::choose_along(variable, "level", {0, 2});
    variables.push_back(variable);
  }
  const feedline::window_field input{.name = "input",
                                     .arrays = variables,
                                     .windows = {{"time", -6, 2, 6}},
                                     .channels = {"level"},
                                     .channel_axis = 1};
  const feedline::window_field target{.name = "target",
                                      .arrays = variables,
                                      .windows = {{"time", 6}},
                                      .channels = {"level"},
                                      .channel_axis = 1};
  const auto samples = feedline::make_windows({{"time"}}, {input, target});
  feedline::loader loader{samples,
                          feedline::shuffle{.seed = 1, .within = feedline::chunks(64)},
                          feedline::make_host_device(),
                          {.batch_size = 8, .epochs = 1}};
  for (feedline::batch& batch : loader.epoch(0)) train_on(batch);  // input: [8, 2, 8, lat, lon]
}
// [/weather]

// [volumes]
// Patches of 16³ at random positions of each scan, other ones in each epoch, with their masks.
void volumes(const std::string& scans, const std::string& masks) {
  const std::vector<std::string> axes{"scan", "z", "y", "x"};
  const auto scan = feedline::open_npy_array(scans, "scan", axes);
  const auto mask = feedline::open_npy_array(masks, "mask", axes);
  std::vector<feedline::window> windows{{.axis = "scan", .keep_axis = false}};
  for (const char* const axis : {"z", "y", "x"})
    windows.push_back({.axis = axis, .size = 16, .position = feedline::window_position::random});
  const auto patches = feedline::make_windows(windows, {{"scan", {scan}}, {"mask", {mask}}},
                                              {.draws = 4});  // 4 patches of each scan
  feedline::loader loader{
      patches,
      feedline::shuffle{.seed = 1},
      feedline::make_host_device(),
      {.batch_size = 4,
       .epochs = 1,
       .transforms = {{.field = "scan", .to = feedline::element_type::f16, .scale = 1 / 65535.0}}}};
  for (feedline::batch& batch : loader.epoch(0)) train_on(batch);
}
// [/volumes]

// [cells]
// All genes of a cell, as AnnData stores them: sparse in the file, dense in batches.
void cells(const std::string& file) {
  const auto expression = feedline::open_hdf5_csr(file, "X");
  feedline::loader loader{expression,
                          feedline::shuffle{.seed = 1},
                          feedline::make_host_device(),
                          {.batch_size = 128, .epochs = 1}};
  for (feedline::batch& batch : loader.epoch(0)) train_on(batch);  // X: float32[128, genes]
}
// [/cells]

}  // namespace

void docs_arrays() {
  weather({"era5_1979.nc", "era5_1980.nc"});
  volumes("scans.npy", "masks.npy");
  cells("cells.h5ad");
}
