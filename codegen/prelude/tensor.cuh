// The device primitives of kernels that use the tensor core.
#pragma once

#include "chunks.cuh"
#include "control.cuh"
#include "fragment.cuh"
#include "matrix.cuh"
#include "napkin.cuh"
#include "product.cuh"
#include "publish.cuh"
#include "rows.cuh"
#include "scan.cuh"
#include "skewed_rows.cuh"
