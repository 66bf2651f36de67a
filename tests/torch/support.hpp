#pragma once

#include "support/checks/catch.hpp"

// libtorch has a macro of this name too; Catch2's stays.
#pragma push_macro("CHECK")
#undef CHECK
#include <feedline/torch.hpp>

#include <torch/torch.h>
#pragma pop_macro("CHECK")
