#!/usr/bin/env bash
# The GPU tests under compute-sanitizer: memcheck, then racecheck. Needs a GPU, and a build with
# CUDA.
#
#   tests/gpu/sanitize.sh [BUILD_FOLDER]     default: build/release
set -euo pipefail
build=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/release}
tests=$build/tests/feedline_gpu_tests

if ! command -v compute-sanitizer >/dev/null; then
  echo "sanitize: no compute-sanitizer on the PATH: it comes with the CUDA toolkit" >&2
  exit 1
fi
if [[ ! -x $tests ]]; then
  echo "sanitize: no $tests: build with CUDA first (cmake --preset cuda-release, and build it)" >&2
  exit 1
fi
echo "sanitize: memcheck"
# Calls that fail are not reported: a test asks for more memory than there is, and checks the
# refusal.
# Rows behind the bus are read by whole lines. Where a user pinned an array that begins within a
# page, the first and last line reach past it, on its own pages: memcheck, which counts bytes,
# takes that for another's memory. And where a kernel breaks the context, it does what memcheck
# looks for.
compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9 \
  "$tests" "~[whole_lines]~[broken_context]"
echo "sanitize: racecheck"
# It looks at shared memory alone, and these tests run every kernel of ours that uses some.
compute-sanitizer --tool racecheck --error-exitcode 9 \
  "$tests" "assembly:*,block decoder:*,jpeg on the GPU:*"
