// The device primitives that generated kernels use.
#pragma once

#include "arithmetic.cuh"
#include "copy.cuh"
#include "scalar.cuh"
#include "target.cuh"
