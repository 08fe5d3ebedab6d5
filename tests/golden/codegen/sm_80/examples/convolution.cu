refused: region `Y` does not fit target `sm_80`: `Y_sum` has `y`, `x` and `c` in one block, which holds arrays of two axes
