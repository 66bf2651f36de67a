#pragma once

/// Interface to libtorch (PyTorch's C++ API, 2.3 or later), header only. `feedline.hpp` does not
/// include it, and feedline can be built without libtorch. A program links to both:
///
///     find_package(feedline 0.2 REQUIRED)
///     find_package(Torch REQUIRED)
///     target_link_libraries(trainer PRIVATE feedline::feedline ${TORCH_LIBRARIES})
///
/// The namespace is `feedline::libtorch`, not `feedline::torch`. So `torch::` means libtorch's
/// namespace inside `namespace feedline` and after `using namespace feedline`.

#include <feedline/interop/torch_batch_dataset.hpp>
#include <feedline/interop/torch_dataset.hpp>
#include <feedline/interop/torch_sampler.hpp>
#include <feedline/interop/torch_stream.hpp>
#include <feedline/interop/torch_tensor.hpp>
#include <feedline/interop/torch_types.hpp>
