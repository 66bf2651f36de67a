#pragma once

/// libtorch's side of feedline (PyTorch's C++ API, 2.3 or later): header only. `feedline.hpp` does
/// not include it, and feedline needs no libtorch to be built. A program links to both:
///
///     find_package(feedline 0.1 REQUIRED)
///     find_package(Torch REQUIRED)
///     target_link_libraries(trainer PRIVATE feedline::feedline ${TORCH_LIBRARIES})
///
/// Names are in `feedline::libtorch`, not `feedline::torch`, so that `torch::` means libtorch's
/// namespace in code of `namespace feedline` and behind `using namespace feedline`.

#include <feedline/interop/torch_batch_dataset.hpp>
#include <feedline/interop/torch_dataset.hpp>
#include <feedline/interop/torch_sampler.hpp>
#include <feedline/interop/torch_stream.hpp>
#include <feedline/interop/torch_tensor.hpp>
#include <feedline/interop/torch_types.hpp>
