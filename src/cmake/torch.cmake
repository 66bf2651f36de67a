# Included by each folder whose programs need libtorch: looks for Torch, sets Torch_FOUND, and
# defines feedline_link_torch(TARGET). PyTorch for Python contains libtorch:
#
#   cmake … -D Torch_ROOT=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')/Torch
#
# Such a folder contains nothing else, because Torch's package changes variables of the folder that
# looks for it.

set(Torch_FOUND FALSE)
if(NOT FEEDLINE_TORCH STREQUAL "OFF")
  set(feedline_torch_wanted QUIET)
  if(FEEDLINE_TORCH STREQUAL "ON")
    set(feedline_torch_wanted REQUIRED)
  endif()
  # Without this, Torch runs a program on the GPU to find out. It affects no code of feedline's.
  set(TORCH_CUDA_ARCH_LIST 9.0)
  find_package(Torch ${feedline_torch_wanted})
endif()

# Links one of feedline's targets to libtorch.
function(feedline_link_torch target)
  target_link_libraries(${target} PRIVATE ${TORCH_LIBRARIES})
  # Libtorch finds its own dependencies where Python's packages put them; the linker would not.
  target_link_options(${target} PRIVATE -Wl,--allow-shlib-undefined)
endfunction()
