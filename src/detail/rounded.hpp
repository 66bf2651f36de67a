#pragma once

#include "detail/host_device.hpp"

#include <cmath>

namespace feedline::detail {

// Arithmetic in binary32. Each operation is rounded to nearest even by itself, so all devices
// compute the same bits. On the host this requires -ffp-contract=off, with which all files that
// include this one are compiled.

FEEDLINE_HOST_DEVICE inline float product(float a, float b) noexcept {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

FEEDLINE_HOST_DEVICE inline float sum(float a, float b) noexcept {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

FEEDLINE_HOST_DEVICE inline float quotient(float a, float b) noexcept {
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

/// The same bits as a / b, computed from 1 / b: for many quotients with one divisor (P. Markstein,
/// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990).
/// @param a, b 0 or 2^-60 to 2^60, and so is the quotient. @param inverse 1 / b, rounded to
///   nearest.
FEEDLINE_HOST_DEVICE inline float quotient_by(float a, float b, float inverse) noexcept {
  float guess = product(a, inverse);
  guess = fmaf(fmaf(-b, guess, a), inverse, guess);
  return fmaf(fmaf(-b, guess, a), inverse, guess);
}

FEEDLINE_HOST_DEVICE inline float square_root(float a) noexcept {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(a);
#else
  return std::sqrt(a);
#endif
}

/// 2^x with an error of a few ulps. @param x -100 to 100.
FEEDLINE_HOST_DEVICE inline float power_of_two(float x) noexcept {
  const float whole = floorf(x);
  const float rest = sum(x, -whole);
  // Coefficients of the Taylor series of 2^rest: ln(2)^k / k!, from the last term on.
  constexpr float terms[] = {1.5252734e-5F, 1.5403530e-4F, 1.3333558e-3F, 9.6181291e-3F,
                             5.5504109e-2F, 2.4022651e-1F, 6.9314718e-1F, 1.0F};
  float power = 1.3215487e-6F;
  for (const float term : terms) power = sum(product(power, rest), term);
  for (float left = whole; left > 0; left -= 1) power = product(power, 2.0F);
  for (float left = whole; left < 0; left += 1) power = product(power, 0.5F);
  return power;
}

}  // namespace feedline::detail
