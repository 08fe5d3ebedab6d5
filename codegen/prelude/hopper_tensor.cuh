// The device primitives of kernels whose warp groups multiply and whose copies have an agent.
#pragma once

#include "pairs.cuh"
#include "panels.cuh"
#include "slices.cuh"
#include "tensor.cuh"
#include "tiles.cuh"
