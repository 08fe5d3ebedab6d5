refused: region `O` does not fit target `sm_80`: `S` has `i`, `j`, `u` and `v` in one block, which holds arrays of two axes
