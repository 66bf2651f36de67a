# Included by each folder whose programs need libtorch: looks for Torch, sets Torch_FOUND, and
# defines feedline_link_torch(TARGET). Of PyTorch for Python libtorch is C++'s part:
#
#   cmake … -D Torch_ROOT=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')/Torch
#
# Such a folder holds nothing else, for Torch's package changes variables of the folder that looks
# for it.

set(Torch_FOUND FALSE)
if(NOT FEEDLINE_TORCH STREQUAL "OFF")
  set(feedline_torch_wanted QUIET)
  if(FEEDLINE_TORCH STREQUAL "ON")
    set(feedline_torch_wanted REQUIRED)
  endif()
  # Else it tries a program on the GPU to tell. Nothing of ours is compiled for one by it.
  set(TORCH_CUDA_ARCH_LIST 9.0)
  find_package(Torch ${feedline_torch_wanted})
endif()

# Links a target of ours to libtorch.
function(feedline_link_torch target)
  target_link_libraries(${target} PRIVATE ${TORCH_LIBRARIES})
  # Libtorch finds what it needs itself, where Python's packages have put it; the linker would not.
  target_link_options(${target} PRIVATE -Wl,--allow-shlib-undefined)
endfunction()
